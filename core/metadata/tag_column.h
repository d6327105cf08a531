// TagColumn: any number of strings a row; the column of tag and keyword fields.
//
// In blocks like every other column, each with a dictionary of its own (tag_block.h), so that
// nothing is read on opening and a comparison is one search of the dictionary and a scan of small
// integers. A block becomes a payload when it is full; the last one grows in another form.
// Threads: as BlockArray.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metadata/bitmap.h"
#include "metadata/tag_block.h"
#include "nearfield/buffer.h"
#include "nearfield/fields.h"
#include "nearfield/result.h"

namespace nearfield {

class TagColumn {
 public:
  // REQUIRES: block_shift >= 6, so that a word of a bitmap lies in one block.
  explicit TagColumn(unsigned block_shift) : shift_(block_shift) {}

  uint32_t rows() const { return rows_; }
  // Appends a row. REQUIRES: the strings of a block stay below 4 GiB.
  void append(std::span<const std::string_view> strings);
  void truncate(uint32_t rows);  // REQUIRES: rows <= rows()

  // Calls visit(string) for the values of a row; the views hold until the next append.
  template <class Visit>
  void for_each(uint32_t slot, Visit visit) const {
    with_block(slot >> shift_, [&](const auto& block) {
      block.for_each(slot & (block_rows() - 1),
                     [&](uint32_t ordinal) { visit(block.string(ordinal)); });
    });
  }

  // Each inserts into `out` slots of `within`, bitmaps of rows() rows: those that have one of the
  // strings, those that have any.
  void select_any(std::span<const std::string> wanted, const Bitmap& within, Bitmap& out) const;
  void select_present(const Bitmap& within, Bitmap& out) const;
  // How many slots of the bitmap have each value: the `top` most frequent, ties by value.
  std::vector<FacetCount> facets(const Bitmap& slots, uint32_t top) const;

  // As of every column: see number_column.h.
  std::vector<std::byte> encode(uint32_t first, uint32_t count) const;
  Result<void> adopt(Buffer payload, uint32_t count);
  void check(std::vector<std::string>& problems) const;
  uint64_t memory_bytes() const;

 private:
  struct Block {
    Buffer payload;       // of a full block, or of one that came from storage; else empty
    GrowingTags growing;  // its rows when there is no payload, unless it has no values at all
    uint32_t rows = 0;
    bool has_values() const { return !payload.empty() || growing.rows() > 0; }
    TagView view() const { return {payload.bytes(), rows}; }
  };
  uint32_t block_rows() const { return 1u << shift_; }
  // Calls visit with the form that block `b` has, unless it has no values.
  template <class Visit>
  void with_block(size_t b, Visit visit) const {
    const Block& block = blocks_[b];
    if (!block.payload.empty()) {
      visit(block.view());
    } else if (block.growing.rows() > 0) {
      visit(block.growing);
    }
  }
  Block& last_block();              // the block of the next row
  static void own(Block& block);    // brings it into the form that grows
  static void close(Block& block);  // brings it into the form that is stored

  unsigned shift_;
  uint32_t rows_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace nearfield
