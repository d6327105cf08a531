// Seeds: where walks begin.
//
// A sample of the rows, in groups around centres of which some are chosen far from each other
// (Gonzalez 1985), so that a walk scores a few dozen rows and then starts near its query. A sample
// can miss an island of the data, and then no walk gets there; so rows are probed: one whose own
// neighbourhood a walk does not find becomes a centre itself.
#pragma once

#include <cstdint>

#include "arena/codes.h"
#include "graph/graph.h"
#include "graph/walk.h"
#include "kernels/kernels.h"
#include "nearfield/thread_pool.h"

namespace nearfield {

// Replaces the seeds. A pure function of links, codes and the seed number. REQUIRES: rows.
void choose_seeds(Graph& graph, const Codes& codes, const Kernels& kernels, uint64_t seed,
                  uint64_t& distances);

// Adds a seed that every walk scores.
void add_centre(Graph& graph, uint32_t slot);

// Walks to a sample of the rows and makes those centres that are not found.
void probe_seeds(Graph& graph, const Codes& codes, const Kernels& kernels, ThreadPool& pool,
                 uint64_t seed, uint64_t& distances);

}  // namespace nearfield
