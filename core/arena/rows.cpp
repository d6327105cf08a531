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
                   Buffer::allocate(round_up(vector.size(), kFloatPad) * sizeof(float)));
  std::memcpy(query.buffer_.data(), vector.data(), vector.size_bytes());
  if (metric == Metric::kCosine) query.scale_ = inverse_length(vector);
  return query;
}

Rows::Rows(uint32_t dimensions, Metric metric, unsigned block_shift)
    : dimensions_(dimensions),
      metric_(metric),
      values_(round_up(dimensions, kFloatPad), block_shift),
      scales_(1, block_shift) {}

Result<void> Rows::resize(uint32_t rows) {
  const uint32_t before = values_.rows();
  NEARFIELD_TRY(values_.resize(rows));
  if (metric_ != Metric::kCosine) return {};
  auto resized = scales_.resize(rows);
  if (!resized) (void)values_.resize(before);  // shrinking needs no memory
  return resized;
}

void Rows::set(uint32_t slot, std::span<const float> vector) {
  std::memcpy(values_.row(slot), vector.data(), vector.size_bytes());
  if (metric_ == Metric::kCosine) *scales_.row(slot) = inverse_length(vector);
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
  const auto kernel = metric_ == Metric::kL2 ? kernels.l2_f32 : kernels.dot_f32;
  return finish(kernel(query.values(), values_.row(slot), values_.stride()), query, slot);
}

void Rows::distance4(const Kernels& kernels, const Query& query, const uint32_t slots[4],
                     float out[4]) const {
  const auto kernel = metric_ == Metric::kL2 ? kernels.l24_f32 : kernels.dot4_f32;
  const float* rows[4];
  for (int r = 0; r < 4; ++r) rows[r] = values_.row(slots[r]);
  kernel(query.values(), rows, values_.stride(), out);
  for (int r = 0; r < 4; ++r) out[r] = finish(out[r], query, slots[r]);
}

}  // namespace nearfield
