#include "arena/rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/checked.h"

namespace nearfield {

float inverse_length(std::span<const float> vector) {
  double sum = 0;
  for (const float value : vector) sum += static_cast<double>(value) * static_cast<double>(value);
  const double length = std::sqrt(sum);
  return length < kZeroLength ? 0.0F : static_cast<float>(1 / length);
}

Result<Query> Query::make(std::span<const float> vector, Metric metric) {
  Query query;
  NEARFIELD_ASSIGN(query.buffer_,
                   Buffer::allocate(round_up(vector.size(), kHalfPad) * sizeof(float)));
  std::memcpy(query.buffer_.data(), vector.data(), vector.size_bytes());
  if (metric == Metric::kCosine) query.scale_ = inverse_length(vector);
  return query;
}

Rows::Rows(uint32_t dimensions, Metric metric, RowType type, unsigned block_shift)
    : dimensions_(dimensions),
      metric_(metric),
      type_(type),
      padded_(round_up(size_t{dimensions}, type == RowType::kF16 ? kHalfPad : kFloatPad)),
      values_(padded_ * value_bytes(type), block_shift),
      scales_(1, block_shift) {}

Result<void> Rows::resize(uint32_t rows) {
  const uint32_t before = values_.rows();
  NEARFIELD_TRY(values_.resize(rows));
  if (metric_ != Metric::kCosine) return {};
  auto resized = scales_.resize(rows);
  if (!resized) (void)values_.resize(before);  // shrinking needs no memory
  return resized;
}

std::span<const float> Rows::get(uint32_t slot, std::vector<float>& widened) const {
  if (type_ == RowType::kF32) return {row<float>(slot), dimensions_};
  const auto* halves = row<uint16_t>(slot);
  widened.resize(dimensions_);
  std::transform(halves, halves + dimensions_, widened.begin(), from_half);
  return widened;
}

void Rows::set(uint32_t slot, std::span<const float> vector) {
  if (type_ == RowType::kF32) {
    std::memcpy(values_.row(slot), vector.data(), vector.size_bytes());
  } else {
    std::transform(vector.begin(), vector.end(), reinterpret_cast<uint16_t*>(values_.row(slot)),
                   to_half);
  }
  if (metric_ != Metric::kCosine) return;
  std::vector<float> widened;
  *scales_.row(slot) = inverse_length(get(slot, widened));
}

float Rows::finish(float sum, const Query& query, uint32_t slot) const {
  switch (metric_) {
    case Metric::kCosine:
      return std::clamp(1.0F - sum * *scales_.row(slot) * query.scale(), 0.0F, 2.0F);
    case Metric::kL2: return sum;
    case Metric::kDot: return -sum;
  }
  return sum;
}

float Rows::distance(const Kernels& kernels, const Query& query, uint32_t slot) const {
  const bool l2 = metric_ == Metric::kL2;
  const float* q = query.values();
  const float sum = type_ == RowType::kF32
                        ? (l2 ? kernels.l2_f32 : kernels.dot_f32)(q, row<float>(slot), padded_)
                        : (l2 ? kernels.l2_f16 : kernels.dot_f16)(q, row<uint16_t>(slot), padded_);
  return finish(sum, query, slot);
}

void Rows::distance4(const Kernels& kernels, const Query& query, const uint32_t slots[4],
                     float out[4]) const {
  const bool l2 = metric_ == Metric::kL2;
  if (type_ == RowType::kF32) {
    const float* const rows[4] = {row<float>(slots[0]), row<float>(slots[1]), row<float>(slots[2]),
                                  row<float>(slots[3])};
    (l2 ? kernels.l24_f32 : kernels.dot4_f32)(query.values(), rows, padded_, out);
  } else {
    const uint16_t* const rows[4] = {row<uint16_t>(slots[0]), row<uint16_t>(slots[1]),
                                     row<uint16_t>(slots[2]), row<uint16_t>(slots[3])};
    (l2 ? kernels.l24_f16 : kernels.dot4_f16)(query.values(), rows, padded_, out);
  }
  for (int r = 0; r < 4; ++r) out[r] = finish(out[r], query, slots[r]);
}

}  // namespace nearfield
