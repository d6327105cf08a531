// Segment: the words of one field in a range of rows, as bytes that are searched where they lie.
// core/store/FORMAT.md has them byte by byte (kind 11).
//
// Opening reads the 32 bytes of the header and nothing else, so that a mapped segment stays
// untouched until a search needs it. What is read later is checked when it is read: damaged bytes
// give fewer matches, never a read outside. Threads: any number may read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/buffer.h"
#include "nearfield/result.h"
#include "text/postings.h"

namespace nearfield {

// One term, as it goes into a segment.
struct SegmentTerm {
  std::string_view text;
  uint32_t rows;  // that have it
  std::span<const uint8_t> row_bytes;
  std::span<const uint8_t> position_bytes;
};

// Writes a segment. `lengths` has the number of tokens of every row; terms come in rising order.
class SegmentWriter {
 public:
  explicit SegmentWriter(std::span<const uint32_t> lengths) : lengths_(lengths) {}
  void add(const SegmentTerm& term);
  Result<Buffer> finish() const;  // kOutOfMemory

 private:
  struct Entry {
    uint32_t text_end, row_end, position_end, rows;
  };
  std::span<const uint32_t> lengths_;
  std::vector<Entry> entries_;
  std::vector<char> texts_;
  std::vector<uint8_t> row_bytes_;
  std::vector<uint8_t> position_bytes_;
};

class Segment {
 public:
  // kCorrupt when the sizes that the header tells do not add up to the bytes there are.
  static Result<Segment> open(uint32_t first, uint32_t rows, Buffer bytes);

  uint32_t first() const { return first_; }
  uint32_t rows() const { return rows_; }
  std::span<const std::byte> bytes() const { return bytes_.bytes(); }

  uint32_t length(uint32_t slot) const;  // tokens. REQUIRES: the slot lies in the segment.
  uint32_t term_count() const { return terms_; }
  SegmentTerm term(uint32_t index) const;
  PostingList list(const SegmentTerm& term) const {
    return {term.row_bytes, term.position_bytes, first_, rows_};
  }
  // The first term that is not before `text`.
  uint32_t lower_bound(std::string_view text) const;

  // What contradicts the rules of the format, a sentence each. Reads everything.
  void check(std::vector<std::string>& problems) const;

 private:
  uint32_t number(size_t offset) const;
  uint32_t first_ = 0;
  uint32_t rows_ = 0;
  uint32_t terms_ = 0;
  size_t entries_at_ = 0, texts_at_ = 0, row_bytes_at_ = 0, positions_at_ = 0;
  Buffer bytes_;
};

}  // namespace nearfield
