// BulkPlan: the sizes of a bulk build, all of which follow from GraphOptions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "graph/graph.h"

namespace nearfield {

struct BulkPlan {
  uint32_t leaf_rows = 1024;    // of which all pairs are computed
  uint32_t max_leaders = 1000;  // of one carving
  uint32_t top_fan_out = 10;    // clusters that a row joins at the first carving
  uint32_t inner_fan_out = 2;   // and at the second; one below
  uint32_t leaf_nearest = 6;    // neighbours that a row proposes in a leaf
  uint32_t reservoir = 96;      // candidates kept a row, eight bytes each

  static BulkPlan from(const GraphOptions& options) {
    (void)options;
    return {};
  }
};

}  // namespace nearfield
