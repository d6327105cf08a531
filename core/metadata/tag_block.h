// The two forms of a block of a tag column: TagView reads the payload that a segment stores, and
// GrowingTags is the block that rows are appended to.
//
// Both number the distinct strings of the block; ordinal 0 stands for no value, ordinal i for
// string i - 1. The payload's strings are sorted, so that a string is found by binary search, and a
// row's ordinals rise strictly. FORMAT.md has the payload byte by byte.
// Threads: as BlockArray.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nearfield {

inline constexpr size_t kTagHeaderBytes = 16;  // the least that a payload has

// Reads a payload where it lies. Everything is checked when it is used, so that damaged bytes give
// wrong answers at most; a payload whose header contradicts its size has no values.
class TagView {
 public:
  TagView() = default;
  // REQUIRES: the bytes lie at a multiple of 4, and outlive the view.
  TagView(std::span<const std::byte> payload, uint32_t rows);

  uint32_t rows() const { return rows_; }
  uint32_t strings() const { return strings_; }
  size_t text_bytes() const { return texts_.size(); }  // of all strings together
  std::string_view string(uint32_t ordinal) const;     // empty for 0 and for what is not there
  uint32_t find(std::string_view text) const;          // its ordinal, or 0

  // Calls visit with a pointer to the ordinals, as u8, u16 or u32.
  template <class Visit>
  void with_ordinals(Visit visit) const {
    if (width_ == 1) visit(reinterpret_cast<const uint8_t*>(ordinals_));
    if (width_ == 2) visit(reinterpret_cast<const uint16_t*>(ordinals_));
    if (width_ == 4) visit(reinterpret_cast<const uint32_t*>(ordinals_));
  }
  bool has_lists() const { return ends_ != nullptr; }
  // Where the ordinals of a row begin and end.
  std::pair<uint32_t, uint32_t> range(uint32_t row) const;
  // Calls visit(ordinal) for the values of a row, in order.
  template <class Visit>
  void for_each(uint32_t row, Visit visit) const {
    const auto [begin, end] = range(row);
    with_ordinals([&, first = begin, last = end](const auto* ordinals) {
      for (uint32_t i = first; i < last; ++i) {
        if (ordinals[i] != 0 && ordinals[i] <= strings_) visit(uint32_t{ordinals[i]});
      }
    });
  }

  // What contradicts the rules above, a sentence each; at most one of a kind.
  static void check(std::span<const std::byte> payload, uint32_t rows,
                    std::vector<std::string>& problems);

 private:
  bool parse(std::span<const std::byte> payload, uint32_t rows);

  uint32_t rows_ = 0;
  uint32_t strings_ = 0;
  uint32_t values_ = 0;
  unsigned width_ = 0;
  const uint32_t* string_ends_ = nullptr;
  const uint32_t* ends_ = nullptr;  // null: every row has one ordinal
  const std::byte* ordinals_ = nullptr;
  std::string_view texts_;
};

class GrowingTags {
 public:
  uint32_t rows() const { return static_cast<uint32_t>(ends_.size()); }
  // Appends a row with these strings, of which repeated ones count once.
  template <class Strings>
  void push(const Strings& strings) {
    const size_t begin = ordinals_.size();
    for (const std::string_view text : strings) ordinals_.push_back(number(text));
    const auto row = ordinals_.begin() + static_cast<ptrdiff_t>(begin);
    std::sort(row, ordinals_.end());
    ordinals_.erase(std::unique(row, ordinals_.end()), ordinals_.end());
    ends_.push_back(static_cast<uint32_t>(ordinals_.size()));
  }
  void truncate(uint32_t rows);

  uint32_t strings() const { return static_cast<uint32_t>(string_ends_.size()); }
  size_t text_bytes() const { return texts_.size(); }
  std::string_view string(uint32_t ordinal) const;
  uint32_t find(std::string_view text) const;
  std::pair<uint32_t, uint32_t> range(uint32_t row) const {
    return {row == 0 ? 0 : ends_[row - 1], ends_[row]};
  }
  bool has_lists() const { return true; }
  template <class Visit>
  void with_ordinals(Visit visit) const {
    visit(ordinals_.data());
  }
  template <class Visit>
  void for_each(uint32_t row, Visit visit) const {
    const auto [begin, end] = range(row);
    for (uint32_t i = begin; i < end; ++i) visit(ordinals_[i]);
  }

  uint64_t memory_bytes() const {
    return (ends_.capacity() + ordinals_.capacity() + string_ends_.capacity() + table_.capacity()) *
               sizeof(uint32_t) +
           texts_.capacity();
  }

 private:
  uint32_t number(std::string_view text);     // its ordinal, which it gets when it has none
  size_t place(std::string_view text) const;  // in table_: where it is, or may go
  void grow_table();

  std::vector<uint32_t> ends_;
  std::vector<uint32_t> ordinals_;
  std::vector<uint32_t> string_ends_;  // in the order in which the strings came
  std::vector<char> texts_;
  std::vector<uint32_t> table_;  // ordinals by hash: linear probing, at most half full
};

// The payload of rows [first, first + count) of a block in either form; empty when none has a
// value.
template <class Block>
std::vector<std::byte> encode_tags(const Block& block, uint32_t first, uint32_t count);

}  // namespace nearfield
