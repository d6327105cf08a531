// RowMeter: measures rows against one query and keeps the nearest.
#pragma once

#include <cstdint>

#include "arena/rows.h"
#include "collection/top_k.h"
#include "kernels/kernels.h"

namespace nearfield {

// In fours, which share the loads of the query.
class RowMeter {
 public:
  RowMeter(const Kernels& kernels, const Rows& rows, const Query& query, TopK& best)
      : kernels_(kernels), rows_(rows), query_(query), best_(best) {}

  void add(uint32_t slot) {
    slots_[waiting_++] = slot;
    ++measured_;
    if (waiting_ < 4) return;
    float distances[4];
    rows_.distance4(kernels_, query_, slots_, distances);
    for (uint32_t i = 0; i < 4; ++i) best_.push({slots_[i], distances[i]});
    waiting_ = 0;
  }
  // Measures what still waits; returns how many rows were measured in all.
  uint64_t finish() {
    for (uint32_t i = 0; i < waiting_; ++i)
      best_.push({slots_[i], rows_.distance(kernels_, query_, slots_[i])});
    waiting_ = 0;
    return measured_;
  }
  uint64_t measured() const { return measured_; }

 private:
  const Kernels& kernels_;
  const Rows& rows_;
  const Query& query_;
  TopK& best_;
  uint32_t slots_[4];
  uint32_t waiting_ = 0;
  uint64_t measured_ = 0;
};

}  // namespace nearfield
