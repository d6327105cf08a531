// IEEE 754 binary16 ("half"): the one place that rounds floats to halves, and the definition of the
// way back, which every half is a float of exactly. Plain arithmetic on bits, so that all machines
// agree.
#pragma once

#include <bit>
#include <cstdint>

namespace nearfield {

inline constexpr float kLargestHalf = 65504;

// The nearest half, ties to even; infinity from 65520 on, where the next one would lie.
constexpr uint16_t to_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half = 0;
  if (magnitude > 0x7f800000u) {  // NaN
    half = 0x7e00u;
  } else if (magnitude >= std::bit_cast<uint32_t>(65520.0F)) {
    half = 0x7c00u;
  } else if (magnitude < std::bit_cast<uint32_t>(0x1p-14F)) {
    // Below the normal halves, which are 2^-24 apart there, as floats are from 0.5 on.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    half = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5F);
  } else {
    const uint32_t odd = magnitude >> 13 & 1u;
    half = (magnitude + 0xfffu + odd - (112u << 23)) >> 13;
  }
  return static_cast<uint16_t>(sign | half);
}

// Exact. The bits of a half in the places of a float's are a float 2^112 times too small, because
// exponents of floats begin 112 lower.
constexpr float from_half(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t magnitude = (half & 0x7fffu) << 13;
  const float value = std::bit_cast<float>(magnitude) * 0x1p112F;
  const uint32_t infinite = magnitude >= (0x7c00u << 13) ? 0x7f800000u : 0;  // or NaN
  return std::bit_cast<float>(sign | infinite | std::bit_cast<uint32_t>(value));
}

}  // namespace nearfield
