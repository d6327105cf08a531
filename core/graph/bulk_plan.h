// BulkPlan: the sizes of a bulk build, all of which follow from GraphOptions.
//
// ef_construction scales everything that a row's candidates come from, and with it time and memory:
//                                        100    200    400
//   clusters a row joins at the top        5     10     16
//   neighbours it proposes in a leaf       3      6     12
//   candidates it keeps                   48     96    192
// The figures at 200 were chosen so that recall at equal ef is not below that of HNSW with as many
// links and the same ef_construction, on word vectors, images and clustered rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "graph/graph.h"
#include "graph/nearest.h"
#include "graph/reservoirs.h"

namespace nearfield {

struct BulkPlan {
  uint32_t leaf_rows = 1024;    // of which all pairs are computed
  uint32_t max_leaders = 1000;  // of one carving
  uint32_t top_fan_out = 10;    // clusters that a row joins at the first carving
  uint32_t inner_fan_out = 2;   // and at the second; one below
  uint32_t leaf_nearest = 6;    // neighbours that a row proposes in a leaf
  uint32_t reservoir = 96;      // candidates kept a row

  static BulkPlan from(const GraphOptions& options) {
    const uint32_t ef = options.ef_construction;
    BulkPlan plan;
    plan.top_fan_out = std::clamp(ef / 20, 3u, 16u);
    plan.leaf_nearest = std::clamp(ef * 3 / 100, 2u, uint32_t{kMaxNearest});
    plan.reservoir = std::clamp(ef * 12 / 25, options.degree * 3 / 2, kMaxReservoir);
    return plan;
  }
};

}  // namespace nearfield
