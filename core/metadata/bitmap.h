// Bitmap: a set of slots in [0, rows), one bit each, in words of 64 slots; what a filter selects.
//
// Invariant: bits past rows() are zero. Threads: any number may read; one may write while nobody
// else uses it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "arena/slot_set.h"

namespace nearfield {

class Bitmap {
 public:
  // No slot of `rows`.
  explicit Bitmap(uint32_t rows = 0) : rows_(rows), words_((size_t{rows} + 63) / 64) {}
  // All slots of `rows` but the dead ones.
  static Bitmap live(uint32_t rows, const SlotSet& dead) {
    Bitmap all(rows);
    all.insert_range(0, rows);
    const std::span<const std::byte> bytes = dead.bytes();
    for (size_t w = 0; w < std::min(all.words_.size(), bytes.size() / sizeof(uint64_t)); ++w) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + w * sizeof(uint64_t), sizeof(word));
      all.words_[w] &= ~word;
    }
    return all;
  }

  uint32_t rows() const { return rows_; }
  bool contains(uint32_t slot) const {
    return slot < rows_ && ((words_[slot / 64] >> (slot % 64)) & 1) != 0;
  }
  // REQUIRES: slot < rows().
  void insert(uint32_t slot) { words_[slot / 64] |= uint64_t{1} << (slot % 64); }
  void erase(uint32_t slot) { words_[slot / 64] &= ~(uint64_t{1} << (slot % 64)); }
  // Inserts [first, last). REQUIRES: first <= last <= rows().
  void insert_range(uint32_t first, uint32_t last) {
    for (uint32_t slot = first; slot < last;) {
      const uint32_t end = std::min(last, (slot / 64 + 1) * 64);
      const uint64_t ones = ~uint64_t{0} >> (64 - (end - slot));
      words_[slot / 64] |= ones << (slot % 64);
      slot = end;
    }
  }

  // With a bitmap of as many rows.
  Bitmap& operator&=(const Bitmap& other) {
    for (size_t w = 0; w < words_.size(); ++w) words_[w] &= other.words_[w];
    return *this;
  }
  Bitmap& operator|=(const Bitmap& other) {
    for (size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    return *this;
  }
  Bitmap& subtract(const Bitmap& other) {
    for (size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
    return *this;
  }
  Bitmap& invert() {
    for (uint64_t& word : words_) word = ~word;
    if (rows_ % 64 != 0) words_.back() &= ~uint64_t{0} >> (64 - rows_ % 64);
    return *this;
  }

  uint32_t count() const {
    uint32_t sum = 0;
    for (const uint64_t word : words_) sum += static_cast<uint32_t>(std::popcount(word));
    return sum;
  }
  bool empty() const {
    for (const uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }
  // Calls `visit(slot)` for every slot of the set, in order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (size_t w = 0; w < words_.size(); ++w) {
      for (uint64_t word = words_[w]; word != 0; word &= word - 1)
        visit(static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(word))));
    }
  }

  std::span<const uint64_t> words() const { return words_; }
  std::span<uint64_t> words() { return words_; }  // keep the invariant

  friend bool operator==(const Bitmap&, const Bitmap&) = default;

 private:
  uint32_t rows_;
  std::vector<uint64_t> words_;
};

}  // namespace nearfield
