#include "graph/leaf_neighbours.h"

#include <algorithm>
#include <climits>

#include "graph/nearest.h"

namespace nearfield {

Result<void> LeafNeighbours::compute(const Codes& codes, const Kernels& kernels,
                                     std::span<const uint32_t> rows, size_t count) {
  constexpr size_t kStripe = 64;
  const size_t n = rows.size();
  NEARFIELD_TRY(packed_.assign(codes, rows));
  products_.resize(std::min(kStripe, n) * n);
  own_.clear();
  own_starts_.assign(1, 0);
  starts_.assign(n + 1, 0);
  for (size_t begin = 0; begin < n; begin += kStripe) {
    const size_t stripe = std::min(kStripe, n - begin);
    kernels.dot_block_u7(packed_.code(begin), stripe, packed_.code(0), n, codes.stride(),
                         products_.data(), n);
    for (size_t i = 0; i < stripe; ++i) {
      int32_t* row = products_.data() + i * n;
      packed_.to_distances(begin + i, packed_, row);
      row[begin + i] = INT_MAX;  // itself
      nearest({row, n}, count, nearest_);
      own_.insert(own_.end(), nearest_.begin(), nearest_.end());
      own_starts_.push_back(static_cast<uint32_t>(own_.size()));
      starts_[begin + i + 1] += static_cast<uint32_t>(nearest_.size());
      for (const Candidate& near : nearest_) ++starts_[near.slot + 1];
    }
  }
  distances_ += n * n;

  for (size_t i = 0; i < n; ++i) starts_[i + 1] += starts_[i];
  ends_.assign(starts_.begin(), starts_.end() - 1);
  proposals_.resize(starts_[n]);
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t k = own_starts_[i]; k < own_starts_[i + 1]; ++k) {
      const Candidate near = own_[k];
      proposals_[ends_[i]++] = {near.distance, rows[near.slot]};
      proposals_[ends_[near.slot]++] = {near.distance, rows[i]};
    }
  }
  for (size_t i = 0; i < n; ++i) {
    const auto first = proposals_.begin() + starts_[i];
    const auto last = proposals_.begin() + ends_[i];
    std::sort(first, last);
    ends_[i] = static_cast<uint32_t>(std::unique(first, last) - proposals_.begin());
  }
  return {};
}

}  // namespace nearfield
