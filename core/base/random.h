// Counter-based random numbers: a pure function of (seed, counter), so that any thread can draw any
// number and the order of drawing does not matter.
#pragma once

#include <cstdint>

namespace nearfield {

// The finaliser of MurmurHash3 over a Weyl sequence (as in SplitMix64, Steele et al. 2014).
constexpr uint64_t mix64(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

constexpr uint64_t random_at(uint64_t seed, uint64_t counter) {
  return mix64(mix64(seed + 0x9e3779b97f4a7c15ULL) + (counter + 1) * 0x9e3779b97f4a7c15ULL);
}

// A number in [0, bound). REQUIRES: bound > 0.
constexpr uint32_t random_below(uint64_t seed, uint64_t counter, uint32_t bound) {
  return static_cast<uint32_t>((random_at(seed, counter) >> 32) * bound >> 32);
}

}  // namespace nearfield
