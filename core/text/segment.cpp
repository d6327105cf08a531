#include "text/segment.h"

#include <algorithm>
#include <cstring>

namespace nearfield {

namespace {

constexpr size_t kHeaderBytes = 32;
constexpr size_t kEntryBytes = 16;

}  // namespace

void SegmentWriter::add(const SegmentTerm& term) {
  texts_.insert(texts_.end(), term.text.begin(), term.text.end());
  row_bytes_.insert(row_bytes_.end(), term.row_bytes.begin(), term.row_bytes.end());
  position_bytes_.insert(position_bytes_.end(), term.position_bytes.begin(),
                         term.position_bytes.end());
  entries_.push_back({static_cast<uint32_t>(texts_.size()),
                      static_cast<uint32_t>(row_bytes_.size()),
                      static_cast<uint32_t>(position_bytes_.size()), term.rows});
}

Result<Buffer> SegmentWriter::finish() const {
  const uint32_t header[kHeaderBytes / sizeof(uint32_t)] = {
      static_cast<uint32_t>(lengths_.size()), static_cast<uint32_t>(entries_.size()),
      static_cast<uint32_t>(texts_.size()), static_cast<uint32_t>(row_bytes_.size()),
      static_cast<uint32_t>(position_bytes_.size())};
  const std::span<const std::byte> parts[] = {
      std::as_bytes(std::span(header)),     std::as_bytes(lengths_),
      std::as_bytes(std::span(entries_)),   std::as_bytes(std::span(texts_)),
      std::as_bytes(std::span(row_bytes_)), std::as_bytes(std::span(position_bytes_))};
  size_t size = 0;
  for (const auto part : parts) size += part.size();
  NEARFIELD_ASSIGN(Buffer buffer, Buffer::allocate(size));
  std::byte* to = buffer.data();
  for (const auto part : parts) {
    if (!part.empty()) std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  return buffer;
}

Result<Segment> Segment::open(uint32_t first, uint32_t rows, Buffer bytes) {
  Segment segment;
  segment.first_ = first;
  segment.rows_ = rows;
  segment.bytes_ = std::move(bytes);
  const uint64_t size = segment.bytes_.size();
  if (size >= kHeaderBytes) {
    segment.terms_ = segment.number(4);
    const uint64_t entries_at = kHeaderBytes + uint64_t{rows} * sizeof(uint32_t);
    const uint64_t texts_at = entries_at + uint64_t{segment.terms_} * kEntryBytes;
    const uint64_t row_bytes_at = texts_at + segment.number(8);
    const uint64_t positions_at = row_bytes_at + segment.number(12);
    if (segment.number(0) == rows && positions_at + segment.number(16) == size) {
      segment.entries_at_ = static_cast<size_t>(entries_at);
      segment.texts_at_ = static_cast<size_t>(texts_at);
      segment.row_bytes_at_ = static_cast<size_t>(row_bytes_at);
      segment.positions_at_ = static_cast<size_t>(positions_at);
      return segment;
    }
  }
  return Error{ErrorCode::kCorrupt, "postings of the rows from " + std::to_string(first) +
                                        " have sizes that do not add up"};
}

uint32_t Segment::number(size_t offset) const {
  uint32_t value = 0;
  std::memcpy(&value, bytes_.data() + offset, sizeof(value));
  return value;
}

uint32_t Segment::length(uint32_t slot) const {
  return number(kHeaderBytes + size_t{slot - first_} * sizeof(uint32_t));
}

SegmentTerm Segment::term(uint32_t index) const {
  const size_t entry = entries_at_ + size_t{index} * kEntryBytes;
  // The part of a section between the end of the term before and the term's own; empty where the
  // ends contradict the section.
  const auto part = [&](size_t which, size_t begin, size_t end) -> std::span<const uint8_t> {
    const size_t from = index == 0 ? 0 : number(entry - kEntryBytes + which * sizeof(uint32_t));
    const size_t to = number(entry + which * sizeof(uint32_t));
    if (from > to || to > end - begin) return {};
    return {reinterpret_cast<const uint8_t*>(bytes_.data()) + begin + from, to - from};
  };
  const auto text = part(0, texts_at_, row_bytes_at_);
  return {{reinterpret_cast<const char*>(text.data()), text.size()},
          number(entry + 3 * sizeof(uint32_t)),
          part(1, row_bytes_at_, positions_at_),
          part(2, positions_at_, bytes_.size())};
}

uint32_t Segment::lower_bound(std::string_view text) const {
  uint32_t low = 0;
  for (uint32_t count = terms_; count > 0;) {
    const uint32_t half = count / 2;
    if (term(low + half).text < text) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

void Segment::check(std::vector<std::string>& problems) const {
  const auto report = [&](const std::string& what) {
    problems.push_back("postings of the rows from " + std::to_string(first_) + ": " + what);
  };
  std::vector<uint64_t> lengths(rows_);
  std::string_view before;
  for (uint32_t i = 0; i < terms_; ++i) {
    const SegmentTerm now = term(i);
    if (now.text.empty() || (i > 0 && now.text <= before))
      return report("term " + std::to_string(i) + " is out of order");
    before = now.text;
    PostingCursor cursor(list(now));
    uint32_t rows = 0;
    while (cursor.next()) {
      ++rows;
      lengths[cursor.slot() - first_] += cursor.frequency();
      (void)cursor.positions();
    }
    if (!cursor.ok() || cursor.positions_left() != 0 || rows != now.rows || rows == 0)
      return report("the rows of term " + std::to_string(i) + " do not add up");
  }
  for (uint32_t row = 0; row < rows_; ++row) {
    if (lengths[row] != length(first_ + row))
      return report("row " + std::to_string(first_ + row) + " has a length that is not its own");
  }
}

}  // namespace nearfield
