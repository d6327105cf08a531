// NumberColumn and BoolColumn: one optional number, or one optional truth value, a row.
//
// In blocks like every other column; a block's payload, in memory and in its segment, is an f64 a
// row, NaN for none, or a u8 a row: 0 none, 1 false, 2 true (anything else, as a damaged file may
// have it, counts as none). A payload of which no row has a value is left out.
// Threads: as BlockArray.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arena/block_array.h"
#include "metadata/bitmap.h"
#include "nearfield/buffer.h"
#include "nearfield/result.h"

namespace nearfield {

// What both have in common: T is what a row holds, kNone what it holds without a value.
template <class T>
class ScalarColumn {
 public:
  // REQUIRES: block_shift >= 6, so that a word of a bitmap lies in one block.
  ScalarColumn(unsigned block_shift, T none) : values_(1, block_shift), none_(none) {}

  uint32_t rows() const { return used_; }
  // Makes room for `rows` rows, which append() then fills; kOutOfMemory changes nothing.
  Result<void> reserve(uint32_t rows);
  void append(T value) { *values_.row(used_++) = value; }  // REQUIRES: reserve()
  // Keeps the first `rows` rows, and drops what was reserved. REQUIRES: rows <= rows().
  void truncate(uint32_t rows);

  // The payload of rows [first, first + count), which lie in one block; empty when none has a
  // value.
  std::vector<std::byte> encode(uint32_t first, uint32_t count) const;
  // Appends `count` rows as encode() wrote them, keeping the buffer in place when they begin a
  // block; kCorrupt when the payload has another length. REQUIRES: they lie in one block.
  Result<void> adopt(Buffer payload, uint32_t count);

  uint64_t memory_bytes() const { return values_.memory_bytes(); }

 protected:
  const BlockArray<T>& values() const { return values_; }
  // Calls visit(values, first slot, count) for the rows of every block.
  template <class Visit>
  void for_each_block(Visit visit) const {
    for (uint32_t first = 0; first < used_; first += values_.block_rows())
      visit(values_.row(first), first, std::min(values_.block_rows(), used_ - first));
  }

 private:
  bool is_none(T value) const;

  BlockArray<T> values_;
  T none_;
  uint32_t used_ = 0;  // rows of values_ that are filled; the others are reserved
};

class NumberColumn : public ScalarColumn<double> {
 public:
  explicit NumberColumn(unsigned block_shift);

  std::optional<double> get(uint32_t slot) const;
  // Each inserts into `out` slots of `within`, bitmaps of rows() rows.
  void select_range(double low, double high, const Bitmap& within, Bitmap& out) const;  // inclusive
  // REQUIRES: `wanted` is sorted.
  void select_any(const std::vector<double>& wanted, const Bitmap& within, Bitmap& out) const;
  void select_present(const Bitmap& within, Bitmap& out) const;
  // What no stored column may hold, a sentence each.
  void check(std::vector<std::string>& problems) const;
};

class BoolColumn : public ScalarColumn<uint8_t> {
 public:
  static constexpr uint8_t kNone = 0;
  static constexpr uint8_t kFalse = 1;
  static constexpr uint8_t kTrue = 2;

  explicit BoolColumn(unsigned block_shift) : ScalarColumn(block_shift, kNone) {}

  std::optional<bool> get(uint32_t slot) const;
  void select(bool wanted, const Bitmap& within, Bitmap& out) const;
  void select_present(const Bitmap& within, Bitmap& out) const;
  void check(std::vector<std::string>& problems) const;
};

}  // namespace nearfield
