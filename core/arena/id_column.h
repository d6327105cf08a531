// IdColumn: the id of every slot, and which live slot an id has.
//
// Every slot has a 64-bit key: an integer id itself, or the hash of a text id, whose characters
// are in a TextColumn. The way back, from id to slot, is a hash table over the keys of live slots;
// it is made when it is first needed, so that opening and searching never pay for it.
// Threads: reading ids as BlockArray; find() may build the table and counts as a change.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arena/block_array.h"
#include "arena/slot_set.h"
#include "arena/text_column.h"
#include "nearfield/types.h"

namespace nearfield {

class IdColumn {
 public:
  explicit IdColumn(unsigned block_shift) : keys_(1, block_shift), texts_(block_shift) {}

  uint32_t rows() const { return keys_.rows(); }
  IdView get(uint32_t slot) const;

  // Makes room for `rows` rows, which append() then fills; kOutOfMemory changes nothing.
  Result<void> reserve(uint32_t rows);
  // Gives slot rows() an id and makes it the live slot of that id.
  void append(IdView id);

  // Builds the table from the slots that are not dead, unless it stands.
  Result<void> ensure_index(const SlotSet& dead);
  std::optional<uint32_t> find(IdView id) const;  // REQUIRES: ensure_index
  void forget(uint32_t slot);                     // the slot's id has no live slot any more

  // Storage.
  BlockArray<uint64_t>& key_blocks() { return keys_; }
  const BlockArray<uint64_t>& key_blocks() const { return keys_; }
  TextColumn& texts() { return texts_; }
  const TextColumn& texts() const { return texts_; }

  uint64_t memory_bytes() const {
    return keys_.memory_bytes() + texts_.memory_bytes() + table_.size() * sizeof(uint32_t);
  }

 private:
  static constexpr uint32_t kEmpty = 0xffffffff;
  size_t home(uint64_t key) const;
  void insert(uint32_t slot);
  Result<void> grow(size_t entries);

  BlockArray<uint64_t> keys_;
  uint32_t used_ = 0;  // rows of keys_ that have an id; the others are reserved
  TextColumn texts_;
  bool indexed_ = false;
  size_t entries_ = 0;
  std::vector<uint32_t>
      table_;  // open addressing, linear probing, a power of two, at most half full
};

}  // namespace nearfield
