// TopK: the k nearest hits of those pushed, ties by slot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "nearfield/query.h"

namespace nearfield {

inline bool nearer(const Hit& a, const Hit& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.slot < b.slot;
}

class TopK {
 public:
  explicit TopK(size_t k) : k_(k) {}

  void push(Hit hit) {
    if (hits_.size() < k_) {
      hits_.push_back(hit);
      std::push_heap(hits_.begin(), hits_.end(), nearer);
    } else if (nearer(hit, hits_.front())) {
      std::pop_heap(hits_.begin(), hits_.end(), nearer);
      hits_.back() = hit;
      std::push_heap(hits_.begin(), hits_.end(), nearer);
    }
  }
  size_t size() const { return hits_.size(); }
  std::vector<Hit> take_sorted() {
    std::sort_heap(hits_.begin(), hits_.end(), nearer);
    return std::move(hits_);
  }

 private:
  size_t k_;
  std::vector<Hit> hits_;  // a heap, farthest first
};

}  // namespace nearfield
