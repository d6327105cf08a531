// calibrate: measures on a graph how much slack a walk needs for a recall.
//
// Rows of the graph play the queries, each passed over as if it were not there, so that they are as
// unknown to the graph as real queries are. Queries from elsewhere (a sentence that searches
// images) may find less than the table promises.
#pragma once

#include <cstdint>

#include "arena/codes.h"
#include "graph/graph.h"
#include "graph/slack_table.h"
#include "kernels/kernels.h"
#include "nearfield/thread_pool.h"

namespace nearfield {

// Candidates that a walk with a slack keeps at most, if the caller does not want more rows.
inline constexpr uint32_t kMostCandidates = 2000;

// A pure function of links, seeds, codes and the seed number. REQUIRES: rows.
SlackTable calibrate(const Graph& graph, const Codes& codes, const Kernels& kernels,
                     ThreadPool& pool, uint64_t seed, uint64_t& distances);

}  // namespace nearfield
