// Size arithmetic that cannot wrap: sizes that come from a file or a caller are added here.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace nearfield {

inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// The smallest multiple of `step` that is at least `value`. REQUIRES: no overflow, step > 0.
template <std::unsigned_integral T>
constexpr T round_up(T value, std::type_identity_t<T> step) {
  return (value + step - 1) / step * step;
}

}  // namespace nearfield
