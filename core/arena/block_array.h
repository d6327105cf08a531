// BlockArray<T>: rows of a fixed stride in blocks of a power of two of rows.
//
// Owns the blocks. A full block never moves, so growing copies at most the last one; a block may
// lie in a file mapping (adopt), in which case nothing is read until it is touched. All arrays of
// a collection cut rows into blocks alike, and a block is also the unit that a segment stores.
// Invariant: every block but the last is full; bytes past rows() are zero.
// Threads: any number may read; one may write rows, or resize, while nobody else uses the array,
// except that different rows may be written at the same time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "nearfield/buffer.h"

namespace nearfield {

template <class T>
class BlockArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // `stride`: elements a row; `block_shift`: a block holds 2^block_shift rows.
  BlockArray(size_t stride, unsigned block_shift) : stride_(stride), shift_(block_shift) {}

  size_t stride() const { return stride_; }
  uint32_t rows() const { return rows_; }
  uint32_t block_rows() const { return 1u << shift_; }
  uint32_t block_count() const { return (rows_ + block_rows() - 1) >> shift_; }

  T* row(uint32_t slot) {
    return pointers_[slot >> shift_] + (slot & (block_rows() - 1)) * stride_;
  }
  const T* row(uint32_t slot) const {
    return pointers_[slot >> shift_] + (slot & (block_rows() - 1)) * stride_;
  }

  // Rows in use of block `b`, as bytes.
  uint32_t rows_in_block(uint32_t b) const { return std::min(block_rows(), rows_ - (b << shift_)); }
  std::span<const std::byte> block_bytes(uint32_t b) const {
    return {reinterpret_cast<const std::byte*>(pointers_[b]),
            rows_in_block(b) * stride_ * sizeof(T)};
  }

  // Grows with zeroed rows or shrinks; on kOutOfMemory nothing changed.
  Result<void> resize(uint32_t rows) {
    const uint32_t blocks = (rows + block_rows() - 1) >> shift_;
    std::vector<Block> grown;
    for (uint32_t b = 0; b < blocks; ++b) {
      const uint32_t needed = std::min(block_rows(), rows - (b << shift_));
      const uint32_t have = b < blocks_.size() ? blocks_[b].capacity : 0;
      if (needed <= have) continue;
      uint32_t capacity = std::max(needed, std::min(block_rows(), std::max(2 * have, kFirstRows)));
      NEARFIELD_ASSIGN(Buffer buffer, Buffer::allocate(capacity * stride_ * sizeof(T)));
      grown.push_back({std::move(buffer), capacity, b});
    }
    // Nothing fails from here on.
    if (rows < rows_) {
      for (uint32_t b = rows >> shift_; b < blocks && b < blocks_.size(); ++b) {
        const uint32_t keep = rows - std::min(rows, b << shift_);
        if (keep < rows_in_block(b)) {
          std::memset(pointers_[b] + keep * stride_, 0,
                      (rows_in_block(b) - keep) * stride_ * sizeof(T));
        }
      }
    }
    blocks_.resize(blocks);
    pointers_.resize(blocks);
    for (Block& block : grown) {
      const uint32_t b = block.index;
      if (blocks_[b].capacity > 0) {
        std::memcpy(block.buffer.data(), blocks_[b].buffer.data(), block_bytes(b).size());
      }
      pointers_[b] = reinterpret_cast<T*>(block.buffer.data());
      blocks_[b] = std::move(block);
    }
    rows_ = rows;
    return {};
  }

  void move(uint32_t to, uint32_t from) {
    if (to != from) std::memcpy(row(to), row(from), stride_ * sizeof(T));
  }

  // Takes a block as storage gave it; blocks are adopted in order, all but the last one full.
  // REQUIRES: buffer.size() == rows_in_it * stride * sizeof(T).
  void adopt(Buffer buffer, uint32_t rows_in_it) {
    pointers_.push_back(reinterpret_cast<T*>(buffer.data()));
    blocks_.push_back({std::move(buffer), rows_in_it, static_cast<uint32_t>(blocks_.size())});
    rows_ += rows_in_it;
  }

  uint64_t memory_bytes() const {
    uint64_t bytes = 0;
    for (const Block& block : blocks_) bytes += block.buffer.size();
    return bytes;
  }

 private:
  static constexpr uint32_t kFirstRows = 16;  // a collection of ten rows should not take megabytes
  struct Block {
    Buffer buffer;
    uint32_t capacity = 0;  // rows
    uint32_t index = 0;
  };

  size_t stride_;
  unsigned shift_;
  uint32_t rows_ = 0;
  std::vector<Block> blocks_;
  std::vector<T*> pointers_;  // of the blocks, alone in a few cache lines: what row() reads
};

}  // namespace nearfield
