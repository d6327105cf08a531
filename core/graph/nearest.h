// nearest: the few smallest of many distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/walk.h"

namespace nearfield {

inline constexpr size_t kMaxNearest = 24;

// Leaves the `count` nearest of distances[0..n) in `out`, sorted, ties by position; `slot` is the
// position. All of them when there are fewer; INT32_MAX stands for "not a candidate".
// REQUIRES: count <= kMaxNearest.
void nearest(std::span<const int32_t> distances, size_t count, std::vector<Candidate>& out);

}  // namespace nearfield
