// Size arithmetic that cannot wrap: sizes that come from a file or a caller are added here.
#pragma once

#include <cstdint>
#include <optional>

namespace nearfield {

inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// The smallest multiple of `step` that is at least `value`. REQUIRES: no overflow, step > 0.
constexpr uint64_t round_up(uint64_t value, uint64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace nearfield
