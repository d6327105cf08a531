// Postings: which rows hold a term, how often and where, as bytes.
//
//   rows        for every row a varint 2 * gap + one; gap: rows since the row before, less one, or,
//               for the first, since the first row of the segment; one: the term is there once;
//               where it is not, a varint follows: how often, less two
//   positions   for every row as many varints: the first position, then differences
//
// Readers check every byte before use and end early where bytes contradict themselves.
// Threads: cursors belong to one thread, lists may be read by any.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace nearfield {

void put_varint(uint32_t value, std::vector<uint8_t>& bytes);

// Reads varints one after the other. After a failure every further read yields 0.
class VarintReader {
 public:
  VarintReader() = default;
  explicit VarintReader(std::span<const uint8_t> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  uint32_t next() {
    if (at_ != end_ && *at_ < 0x80) return *at_++;
    return next_long();
  }
  // The next `size` bytes, or none where there are fewer.
  std::span<const uint8_t> take(size_t size) {
    if (size > remaining()) {
      fail();
      return {};
    }
    at_ += size;
    return {at_ - size, size};
  }
  // The bytes of the next `count` varints.
  std::span<const uint8_t> take_varints(uint32_t count);
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }
  bool ok() const { return ok_; }
  void fail() {
    ok_ = false;
    at_ = end_;
  }

 private:
  uint32_t next_long();
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  bool ok_ = true;
};

// The rows of one term in one segment, [first, first + rows).
struct PostingList {
  std::span<const uint8_t> row_bytes;
  std::span<const uint8_t> position_bytes;
  uint32_t first = 0;
  uint32_t rows = 0;
};

class PostingCursor {
 public:
  explicit PostingCursor(const PostingList& list)
      : rows_(list.row_bytes),
        positions_(list.position_bytes),
        next_(list.first),
        end_(uint64_t{list.first} + list.rows) {}

  // Moves to the next row; false behind the last one.
  bool next() {
    if (rows_.remaining() == 0) return false;
    const uint32_t head = rows_.next();
    next_ += head >> 1;
    if (next_ >= end_) {
      rows_.fail();
      return false;
    }
    skip_ += frequency_;
    frequency_ = 1;
    if ((head & 1) == 0) frequency_ = uint64_t{rows_.next()} + 2;
    slot_ = static_cast<uint32_t>(next_++);
    return rows_.ok();
  }
  uint32_t slot() const { return slot_; }
  uint32_t frequency() const { return static_cast<uint32_t>(frequency_); }
  // The positions of this row, as stored. Only once a row.
  std::span<const uint8_t> positions();
  // Whether what was read was whole.
  bool ok() const { return rows_.ok() && positions_.ok(); }

  // How many bytes of positions no row was given.
  size_t positions_left() const { return positions_.remaining(); }

 private:
  VarintReader rows_;
  VarintReader positions_;
  uint64_t next_;  // the least slot that may follow
  uint64_t end_;
  uint64_t frequency_ = 0;  // of this row, until positions() gave them
  uint64_t skip_ = 0;       // positions of rows that nobody asked for
  uint32_t slot_ = 0;
};

// Writes the postings of one term, row by row.
struct PostingWriter {
  std::vector<uint8_t> row_bytes;
  std::vector<uint8_t> position_bytes;
  uint32_t next = 0;  // the least row that may follow, counted from the segment's first

  void clear() {
    row_bytes.clear();
    position_bytes.clear();
    next = 0;
  }
  // REQUIRES: row >= next, frequency > 0; `positions` are that many varints.
  void add(uint32_t row, uint32_t frequency, std::span<const uint8_t> positions);
};

}  // namespace nearfield
