#include "arena/codes.h"

#include <algorithm>
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

int32_t Codes::zero_row_lift() const {
  const double unit = 1 / static_cast<double>(quantizer_.step);
  const double largest = static_cast<double>(kMaxCode) * kMaxCode * dimensions_;
  return static_cast<int32_t>(std::lround(std::min(unit * unit, largest)));
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
    *walk_terms_.row(slot) = squares + (scale == 0 ? zero_row_lift() : 0);
    return;
  }
  // (q - z).(x - z) = q.x - z sum(x) + a constant of the query, and twice that is what is
  // maximised.
  *walk_terms_.row(slot) = 2 * quantizer_.zero * sum;
  const int64_t missing = longest_ - squared_length(code);
  int32_t* lifted = lifted_.row(slot);
  lifted[0] = squares;
  lifted[1] =
      missing > 0 ? static_cast<int32_t>(std::lround(std::sqrt(static_cast<double>(missing)))) : 0;
}

// A code is off by r, uniform in ±1/2, so that a difference of two codes is off by e = r1 - r2, of
// variance 1/6, and e^2 has the variance 1/15 - 1/36. A squared distance D = sum of (x + e)^2 is
// then off by sum of (2 x e + e^2). A product of codes around zero is off by sum of (q r1 + x r2),
// and the walk counts it twice.
double Codes::rounding_error(const QueryTerms& query, int32_t distance) const {
  if (metric_ == Metric::kDot) {
    return 2 * std::sqrt(static_cast<double>(query.squared_length + longest_) / 12);
  }
  const auto squared_distance = static_cast<double>(std::max<int64_t>(0, query.offset + distance));
  return std::sqrt(squared_distance * 4 / 6 + dimensions_ * (1.0 / 15 - 1.0 / 36));
}

// Under dot |q - z|^2 + longest - 2 (q - z).(x - z), of which the walk distance is 2 z sum(x) - 2
// q.x.
Codes::QueryTerms Codes::query_terms(const uint8_t* query) const {
  int64_t squares = 0;
  for (uint32_t i = 0; i < dimensions_; ++i) squares += query[i] * query[i];
  if (metric_ != Metric::kDot) return {squares, squares};
  const int64_t zeros = int64_t{quantizer_.zero} * quantizer_.zero * dimensions_;
  return {squared_length(query), squares - zeros + longest_};
}

void Codes::encode_query(const float* query, float scale, uint8_t* out) const {
  quantizer_.encode(query, dimensions_, scale, out, codes_.stride());
}

}  // namespace nearfield
