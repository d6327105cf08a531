// Leaf neighbours: the second step of a bulk build. All pairs of a leaf's rows are computed with
// the dense kernel, and every row is proposed to its nearest, and they to it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arena/codes.h"
#include "graph/packed_rows.h"
#include "graph/walk.h"
#include "kernels/kernels.h"
#include "nearfield/result.h"

namespace nearfield {

// Reused by one thread.
class LeafNeighbours {
 public:
  // For rows in rising order. REQUIRES: count <= kMaxNearest.
  Result<void> compute(const Codes& codes, const Kernels& kernels, std::span<const uint32_t> rows,
                       size_t count);
  // The nearest of the i-th row and the rows whose nearest it is among: sorted and distinct.
  std::span<const Candidate> of(size_t i) const {
    return {proposals_.data() + starts_[i], ends_[i] - starts_[i]};
  }
  uint64_t distances() const { return distances_; }

 private:
  PackedRows packed_;
  std::vector<int32_t> products_;
  std::vector<Candidate> nearest_;
  std::vector<Candidate> own_;  // of every row its nearest; slots are positions in the leaf
  std::vector<uint32_t> own_starts_;
  std::vector<Candidate> proposals_;  // both ways
  std::vector<uint32_t> starts_;
  std::vector<uint32_t> ends_;
  uint64_t distances_ = 0;
};

}  // namespace nearfield
