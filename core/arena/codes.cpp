#include "arena/codes.h"

#include <cmath>

#include "base/checked.h"

namespace nearfield {

Codes::Codes(uint32_t dimensions, Metric metric, unsigned block_shift)
    : dimensions_(dimensions),
      metric_(metric),
      codes_(round_up(dimensions, kCodePad), block_shift),
      walk_terms_(1, block_shift),
      lifted_(2, block_shift) {}

Result<void> Codes::resize(uint32_t rows) {
  const uint32_t before = codes_.rows();
  auto grow = [&](uint32_t to) -> Result<void> {
    NEARFIELD_TRY(codes_.resize(to));
    NEARFIELD_TRY(walk_terms_.resize(to));
    if (metric_ == Metric::kDot) NEARFIELD_TRY(lifted_.resize(to));
    return {};
  };
  auto grown = grow(rows);
  if (!grown) (void)grow(before);  // shrinking back needs no memory
  return grown;
}

int64_t Codes::squared_length(const uint8_t* code) const {
  int64_t sum = 0;
  for (uint32_t i = 0; i < dimensions_; ++i) {
    const int32_t value = code[i] - quantizer_.zero;
    sum += value * value;
  }
  return sum;
}

void Codes::encode(uint32_t slot, const float* row, float scale) {
  uint8_t* code = codes_.row(slot);
  quantizer_.encode(row, dimensions_, scale, code, codes_.stride());
  int32_t sum = 0;
  int32_t squares = 0;
  for (uint32_t i = 0; i < dimensions_; ++i) {
    sum += code[i];
    squares += code[i] * code[i];
  }
  if (metric_ != Metric::kDot) {
    *walk_terms_.row(slot) = squares;
    return;
  }
  // (q - z).(x - z) = q.x - z sum(x) + a constant of the query, and twice that is what is maximised.
  *walk_terms_.row(slot) = 2 * quantizer_.zero * sum;
  const int64_t missing = longest_ - squared_length(code);
  int32_t* lifted = lifted_.row(slot);
  lifted[0] = squares;
  lifted[1] = missing > 0 ? static_cast<int32_t>(std::lround(std::sqrt(static_cast<double>(missing)))) : 0;
}

void Codes::encode_query(const float* query, float scale, uint8_t* out) const {
  quantizer_.encode(query, dimensions_, scale, out, codes_.stride());
}

}  // namespace nearfield
