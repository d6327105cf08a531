// sample_rows: a random part of a graph's rows.
#pragma once

#include <cstdint>
#include <vector>

#include "arena/codes.h"
#include "graph/graph.h"

namespace nearfield {

// One row at random from each of `count` equal parts that has rows which are not removed, copies
// replaced by the first of their code; rising, distinct. REQUIRES: 1 <= count <= rows.
std::vector<uint32_t> sample_rows(const Graph& graph, const Codes& codes, uint64_t seed,
                                  uint32_t count);

}  // namespace nearfield
