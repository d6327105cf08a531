// Quantizer: the map between values and 7-bit codes, one affine range for a whole collection.
//
// code = round((value - low) / step), clamped to 0..127. The range is fitted once, when a graph is
// built in bulk, and then frozen, so that codes made at different times compare. Under cosine the
// values are those of the normalised row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nearfield/types.h"

namespace nearfield {

inline constexpr int32_t kMaxCode = 127;

struct Quantizer {
  float low = 0;
  float step = 1;
  // The code of the value 0, or where it would lie: under dot the range is widened to hold 0, so
  // that low = -zero * step and inner products of values are integers times step^2.
  int32_t zero = 0;

  // Fits the range to a sample of values: between the 0.05 % and 99.95 % quantiles, so that a few
  // outliers do not cost everybody resolution; between the extremes where those two coincide. The
  // sample is reordered. A constant sample gives
  // step 1. REQUIRES: finite values, at least one.
  static Quantizer fit(std::span<float> sample, Metric metric);

  // How many of the values scale * row[0..n) lie more than a step outside the range.
  size_t clipped(const float* row, size_t n, float scale) const;

  // Encodes scale * row[0..n) into out[0..n) and zeros the rest up to `padded`.
  void encode(const float* row, size_t n, float scale, uint8_t* out, size_t padded) const;
};

}  // namespace nearfield
