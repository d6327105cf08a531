// Rows: the vectors as they were given, and what it takes to measure a distance to them.
//
// Rows are padded with zeros to a cache line. Under cosine every row has a scale, 1 / its length,
// or 0 for a vector that counts as zero (shorter than kZeroLength), which is then at distance 1
// from everything. Values are limited to +-kLargestValue so that every distance is finite.
// Threads: as BlockArray.
#pragma once

#include <cstdint>
#include <span>

#include "arena/block_array.h"
#include "kernels/kernels.h"
#include "nearfield/types.h"

namespace nearfield {

inline constexpr float kLargestValue = 1e15F;
inline constexpr double kZeroLength = 1e-15;

// 1 / length, 0 for a vector that counts as zero.
float inverse_length(std::span<const float> vector);

// A query in the shape that kernels take: padded and aligned.
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
  Rows(uint32_t dimensions, Metric metric, unsigned block_shift);

  uint32_t rows() const { return values_.rows(); }
  std::span<const float> get(uint32_t slot) const { return {values_.row(slot), dimensions_}; }
  float scale(uint32_t slot) const {
    return metric_ == Metric::kCosine ? *scales_.row(slot) : 1.0F;
  }

  Result<void> resize(uint32_t rows);  // new rows are zero until set
  void set(uint32_t slot, std::span<const float> vector);

  float distance(const Kernels& kernels, const Query& query, uint32_t slot) const;
  void distance4(const Kernels& kernels, const Query& query, const uint32_t slots[4],
                 float out[4]) const;

  BlockArray<float>& value_blocks() { return values_; }
  const BlockArray<float>& value_blocks() const { return values_; }
  BlockArray<float>& scale_blocks() { return scales_; }
  const BlockArray<float>& scale_blocks() const { return scales_; }
  uint64_t memory_bytes() const { return values_.memory_bytes() + scales_.memory_bytes(); }

 private:
  float finish(float sum, const Query& query, uint32_t slot) const;

  uint32_t dimensions_;
  Metric metric_;
  BlockArray<float> values_;
  BlockArray<float> scales_;  // cosine only
};

}  // namespace nearfield
