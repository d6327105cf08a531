#include "arena/quantizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace nearfield {

Quantizer Quantizer::fit(std::span<float> sample, Metric metric) {
  const auto quantile = [&](double part) {
    const auto position = static_cast<ptrdiff_t>(part * static_cast<double>(sample.size() - 1));
    std::nth_element(sample.begin(), sample.begin() + position, sample.end());
    return sample[static_cast<size_t>(position)];
  };
  float low = quantile(0.0005);
  float high = quantile(0.9995);
  if (low == high) {  // nearly all values are one: what differs is what matters
    const auto [least, most] = std::minmax_element(sample.begin(), sample.end());
    low = *least;
    high = *most;
  }
  if (metric == Metric::kDot) {
    low = std::min(low, 0.0F);
    high = std::max(high, 0.0F);
  }
  Quantizer quantizer;
  const float step = high / kMaxCode - low / kMaxCode;  // high - low may overflow
  if (!(step > 0)) {
    quantizer.low = low;
    return quantizer;
  }
  quantizer.step = step;
  if (metric == Metric::kDot) {
    quantizer.zero = static_cast<int32_t>(std::lround(-low / step));
    quantizer.low = -static_cast<float>(quantizer.zero) * step;
  } else {
    quantizer.low = low;
  }
  return quantizer;
}

size_t Quantizer::clipped(const float* row, size_t n, float scale) const {
  const float lowest = low - step;
  const float highest = low + (kMaxCode + 1) * step;
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) {
    const float value = row[i] * scale;
    count += static_cast<size_t>(value < lowest) + static_cast<size_t>(value > highest);
  }
  return count;
}

void Quantizer::encode(const float* row, size_t n, float scale, uint8_t* out, size_t padded) const {
  // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer, ties to even, in every
  // compiler and on every machine, and vectorises without rounding instructions.
  constexpr float kRounder = 12582912.0F;
  for (size_t i = 0; i < n; ++i) {
    const float position = (row[i] * scale - low) / step;
    const float clamped = std::min(std::max(position, 0.0F), static_cast<float>(kMaxCode));
    const float rounded = (clamped + kRounder) - kRounder;
    out[i] = static_cast<uint8_t>(rounded);
  }
  std::memset(out + n, 0, padded - n);
}

}  // namespace nearfield
