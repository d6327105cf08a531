// Rows: the vectors as they were given, or rounded to halves (f16), and what it takes to measure a
// distance to them.
//
// Of an f16 row the rounded values are the row: they are what comes back, what is measured, and
// what everything else is computed from. Rows are padded with zeros to a cache line. Under cosine
// every row has a scale, 1 / its length, or 0 for a vector that counts as zero (shorter than
// kZeroLength), which is then at distance 1 from everything. Values are limited to
// +-largest_value() so that every distance is finite. Threads: as BlockArray.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arena/block_array.h"
#include "base/half.h"
#include "kernels/kernels.h"
#include "nearfield/types.h"

namespace nearfield {

inline constexpr float kLargestValue = 1e15F;
inline constexpr double kZeroLength = 1e-15;

// The largest value that a row of this type takes, of either sign.
constexpr float largest_value(RowType type) {
  return type == RowType::kF16 ? kLargestHalf : kLargestValue;
}
constexpr size_t value_bytes(RowType type) {
  return type == RowType::kF16 ? sizeof(uint16_t) : sizeof(float);
}

// 1 / length, 0 for a vector that counts as zero.
float inverse_length(std::span<const float> vector);

// A query in the shape that kernels take: padded for rows of either type, and aligned.
class Query {
 public:
  // kOutOfMemory.
  static Result<Query> make(std::span<const float> vector, Metric metric);
  const float* values() const { return reinterpret_cast<const float*>(buffer_.data()); }
  float scale() const { return scale_; }
  bool is_zero() const { return scale_ == 0; }  // under cosine: at distance 1 from everything

 private:
  Buffer buffer_;
  float scale_ = 1;
};

class Rows {
 public:
  Rows(uint32_t dimensions, Metric metric, RowType type, unsigned block_shift);

  uint32_t rows() const { return values_.rows(); }
  // The values of a row: where they lie or, of an f16 row, widened into `widened`.
  std::span<const float> get(uint32_t slot, std::vector<float>& widened) const;
  float scale(uint32_t slot) const {
    return metric_ == Metric::kCosine ? *scales_.row(slot) : 1.0F;
  }

  Result<void> resize(uint32_t rows);  // new rows are zero until set
  // REQUIRES: values within ±largest_value().
  void set(uint32_t slot, std::span<const float> vector);
  // Copies a row into another slot, to the bit.
  void move(uint32_t to, uint32_t from) {
    values_.move(to, from);
    if (metric_ == Metric::kCosine) scales_.move(to, from);
  }

  float distance(const Kernels& kernels, const Query& query, uint32_t slot) const;
  void distance4(const Kernels& kernels, const Query& query, const uint32_t slots[4],
                 float out[4]) const;

  // The values as bytes: what a segment holds of a row.
  BlockArray<std::byte>& value_blocks() { return values_; }
  const BlockArray<std::byte>& value_blocks() const { return values_; }
  BlockArray<float>& scale_blocks() { return scales_; }
  const BlockArray<float>& scale_blocks() const { return scales_; }
  uint64_t memory_bytes() const { return values_.memory_bytes() + scales_.memory_bytes(); }

 private:
  template <class T>
  const T* row(uint32_t slot) const {
    return reinterpret_cast<const T*>(values_.row(slot));
  }
  float finish(float sum, const Query& query, uint32_t slot) const;

  uint32_t dimensions_;
  Metric metric_;
  RowType type_;
  size_t padded_;  // values a row, the padding included
  BlockArray<std::byte> values_;
  BlockArray<float> scales_;  // cosine only
};

}  // namespace nearfield
