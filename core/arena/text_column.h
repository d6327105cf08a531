// TextColumn: one optional text a row (metadata, text ids), in blocks like every other column.
//
// A block's payload, in memory and in its segment: `rows` 32-bit ends, then the texts one after
// the other, each followed by one zero byte. A row's text lies between the end before it and its
// own; nothing in between means that the row has none (an empty text still has its zero byte).
// Blocks of which no row has a text hold nothing. Threads: as BlockArray.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "nearfield/buffer.h"

namespace nearfield {

class TextColumn {
 public:
  explicit TextColumn(unsigned block_shift) : shift_(block_shift) {}

  uint32_t rows() const { return rows_; }
  // Appends a row; nullopt: without a text. REQUIRES: the texts of a block stay below 4 GiB.
  void append(std::optional<std::string_view> text);
  // A view until the next append. Offsets that contradict the block, as a damaged file may have
  // them, read as no text.
  std::optional<std::string_view> get(uint32_t slot) const;

  // The payload of rows [first, first + count), which lie in one block; empty when none has a text.
  std::vector<std::byte> encode(uint32_t first, uint32_t count) const;
  // Appends `count` rows as encode() wrote them (empty: without texts), keeping the buffer in place
  // when they begin a block. False when the payload is too short for its ends.
  bool adopt(Buffer payload, uint32_t count);

  uint64_t memory_bytes() const;

 private:
  struct Block {
    Buffer mapped;                   // as storage gave it, or empty when the block is owned
    std::vector<uint32_t> own_ends;  // empty as well: none of its rows has a text
    std::vector<char> own_texts;
    uint32_t rows = 0;

    const uint32_t* ends() const;  // null: none of its rows has a text
    std::string_view texts() const;
    std::optional<std::string_view> text(uint32_t row) const;
    void own();                                       // copies the block so that it can grow
    void push(std::optional<std::string_view> text);  // REQUIRES: own() was called
  };
  Block& last_block();

  unsigned shift_;
  uint32_t rows_ = 0;
  std::vector<Block> blocks_;  // one for every block_rows rows
};

}  // namespace nearfield
