// select_rows: the loop behind every filter on a column. A block's rows are tested 64 at a time, in
// a form that compilers turn into vector code, and become words of a bitmap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "metadata/bitmap.h"

namespace nearfield {

// Bit i: whether hits[i] is 1. REQUIRES: all are 0 or 1.
inline uint64_t word_of(const uint8_t (&hits)[64]) {
  uint64_t word = 0;
  for (unsigned byte = 0; byte < 8; ++byte) {
    uint64_t eight = 0;
    std::memcpy(&eight, hits + size_t{byte} * 8, sizeof(eight));
    // Brings bit 0 of byte i to bit 56 + i; no two partial products meet.
    word |= ((eight * 0x0102040810204080ULL) >> 56) << (byte * 8);
  }
  return word;
}

// Inserts into `out` the slots of `within` whose value passes `test` (value -> bool). `values` are
// those of slots [first, first + count). REQUIRES: first % 64 == 0, first + count <= out.rows().
template <class T, class Test>
void select_rows(const T* values, uint32_t first, uint32_t count, const Bitmap& within, Bitmap& out,
                 Test test) {
  for (uint32_t row = 0; row < count; row += 64) {
    const size_t w = (size_t{first} + row) / 64;
    if (within.words()[w] == 0) continue;
    uint8_t hits[64];
    if (count - row >= 64) {
      for (uint32_t i = 0; i < 64; ++i) hits[i] = static_cast<uint8_t>(test(values[row + i]));
    } else {
      std::fill(std::begin(hits), std::end(hits), uint8_t{0});
      for (uint32_t i = 0; i < count - row; ++i) {
        hits[i] = static_cast<uint8_t>(test(values[row + i]));
      }
    }
    out.words()[w] |= word_of(hits) & within.words()[w];
  }
}

}  // namespace nearfield
