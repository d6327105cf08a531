// SlotSet: a set of slots as bits; the tombstones of a collection.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace nearfield {

class SlotSet {
 public:
  uint32_t count() const { return count_; }
  bool contains(uint32_t slot) const {
    const size_t word = slot / 64;
    return word < words_.size() && ((words_[word] >> (slot % 64)) & 1) != 0;
  }
  uint32_t count_below(uint32_t slot) const {
    uint32_t count = 0;
    for (size_t w = 0; w < words_.size() && w * 64 < slot; ++w) {
      const uint64_t rest = slot - w * 64 < 64 ? ~(~uint64_t{0} << (slot % 64)) : ~uint64_t{0};
      count += static_cast<uint32_t>(std::popcount(words_[w] & rest));
    }
    return count;
  }
  // The first slot of the set at or after `slot`, UINT32_MAX when there is none.
  uint32_t next(uint32_t slot) const {
    for (size_t w = slot / 64; w < words_.size(); ++w) {
      const uint64_t word = w == slot / 64 ? words_[w] & (~uint64_t{0} << (slot % 64)) : words_[w];
      if (word != 0)
        return static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(word)));
    }
    return UINT32_MAX;
  }
  // A no-op when the slot already is in the set.
  void insert(uint32_t slot) {
    if (contains(slot)) return;
    if (slot / 64 >= words_.size()) words_.resize(slot / 64 + 1);
    words_[slot / 64] |= uint64_t{1} << (slot % 64);
    ++count_;
  }
  void clear() {
    words_.clear();
    count_ = 0;
  }

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }
  // Takes what bytes() gave; false when the size is odd or a slot is not below `rows`.
  bool assign(std::span<const std::byte> bytes, uint32_t rows) {
    if (bytes.size() % sizeof(uint64_t) != 0) return false;
    words_.resize(bytes.size() / sizeof(uint64_t));
    if (!words_.empty()) std::memcpy(words_.data(), bytes.data(), bytes.size());
    count_ = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      count_ += static_cast<uint32_t>(std::popcount(words_[i]));
      if (words_[i] != 0 && i * 64 + 63 - static_cast<size_t>(std::countl_zero(words_[i])) >= rows)
        return false;
    }
    return true;
  }
  uint64_t memory_bytes() const { return words_.capacity() * sizeof(uint64_t); }

 private:
  std::vector<uint64_t> words_;
  uint32_t count_ = 0;
};

}  // namespace nearfield
