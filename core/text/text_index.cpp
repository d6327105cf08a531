#include "text/text_index.h"

#include <algorithm>
#include <numeric>

namespace nearfield {

namespace {

// The newest rows become a segment at one of these: maps grow slow, and flushes write what is new.
constexpr size_t kGrowingRows = 8192;
constexpr uint64_t kGrowingBytes = 4 << 20;
// Larger segments are not merged: offsets have 32 bits.
constexpr uint64_t kMostMergedBytes = 1 << 30;

}  // namespace

void TextIndex::add(std::span<const std::string_view> texts) {
  tokens_.clear();
  for (const std::string_view text : texts) {
    if (!tokens_.tokens.empty()) tokens_.next_position += kPositionGap;
    analyzer_.analyze(text, tokens_);
  }
  order_.clear();
  for (uint32_t i = 0; i < tokens_.tokens.size(); ++i) {
    if (!tokens_.tokens[i].stop) order_.push_back(i);
  }
  std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    const int order = tokens_.term(tokens_.tokens[a]).compare(tokens_.term(tokens_.tokens[b]));
    return order != 0 ? order < 0 : a < b;
  });
  const auto row = static_cast<uint32_t>(growing_.lengths.size());
  for (size_t begin = 0; begin < order_.size();) {
    const std::string_view term = tokens_.term(tokens_.tokens[order_[begin]]);
    positions_.clear();
    uint32_t before = 0;
    size_t end = begin;
    for (; end < order_.size() && tokens_.term(tokens_.tokens[order_[end]]) == term; ++end) {
      const uint32_t position = tokens_.tokens[order_[end]].position;
      put_varint(position - before, positions_);
      before = position;
    }
    auto found = growing_.terms.find(term);
    if (found == growing_.terms.end()) {
      found = growing_.terms.emplace(std::string(term), GrowingTerm()).first;
      growing_.bytes += term.size() + sizeof(GrowingTerm);
    }
    found->second.postings.add(row, static_cast<uint32_t>(end - begin), positions_);
    ++found->second.rows;
    growing_.bytes += 2 + positions_.size();
    begin = end;
  }
  growing_.lengths.push_back(static_cast<uint32_t>(order_.size()));
  live_rows_ += order_.empty() ? 0 : 1;
  live_tokens_ += order_.size();
  // Without the memory for a segment the rows go on growing.
  if (growing_.lengths.size() >= kGrowingRows || growing_.bytes >= kGrowingBytes) (void)freeze();
}

void TextIndex::remove(uint32_t slot) {
  const uint32_t tokens = length(slot);
  live_rows_ -= tokens == 0 ? 0 : 1;
  live_tokens_ -= tokens;
}

uint32_t TextIndex::length(uint32_t slot) const {
  if (slot >= growing_.first) return growing_.lengths[slot - growing_.first];
  const auto part = std::partition_point(parts_.begin(), parts_.end(), [&](const Part& p) {
    return p.segment.first() + p.segment.rows() <= slot;
  });
  return part->segment.length(slot);
}

TextIndex::Found TextIndex::found_in(const GrowingTerm& term) const {
  return {{term.postings.row_bytes, term.postings.position_bytes, growing_.first,
           static_cast<uint32_t>(growing_.lengths.size())},
          term.rows};
}

std::vector<TextIndex::Found> TextIndex::find(std::string_view term) const {
  std::vector<Found> found;
  for (const auto& [segment, stored] : parts_) {
    const uint32_t index = segment.lower_bound(term);
    if (index == segment.term_count()) continue;
    const SegmentTerm entry = segment.term(index);
    if (entry.text == term) found.push_back({segment.list(entry), entry.rows});
  }
  const auto growing = growing_.terms.find(term);
  if (growing != growing_.terms.end()) found.push_back(found_in(growing->second));
  return found;
}

std::vector<TextIndex::Found> TextIndex::find_prefix(std::string_view prefix) const {
  std::vector<Found> found;
  for (const auto& [segment, stored] : parts_) {
    for (uint32_t i = segment.lower_bound(prefix); i < segment.term_count(); ++i) {
      const SegmentTerm entry = segment.term(i);
      if (!entry.text.starts_with(prefix)) break;
      found.push_back({segment.list(entry), entry.rows});
    }
  }
  for (auto it = growing_.terms.lower_bound(prefix);
       it != growing_.terms.end() && it->first.starts_with(prefix); ++it) {
    found.push_back(found_in(it->second));
  }
  return found;
}

Result<void> TextIndex::freeze() {
  if (!growing_.lengths.empty()) {
    SegmentWriter writer(growing_.lengths);
    for (const auto& [text, term] : growing_.terms) {
      writer.add({text, term.rows, term.postings.row_bytes, term.postings.position_bytes});
    }
    NEARFIELD_ASSIGN(Buffer bytes, writer.finish());
    NEARFIELD_ASSIGN(Segment segment,
                     Segment::open(growing_.first, static_cast<uint32_t>(growing_.lengths.size()),
                                   std::move(bytes)));
    parts_.push_back({std::move(segment), false});
    const uint32_t first = rows();
    growing_ = Growing();
    growing_.first = first;
  }
  while (parts_.size() >= 2) {
    const Segment& a = parts_[parts_.size() - 2].segment;
    const Segment& b = parts_.back().segment;
    const uint64_t together = uint64_t{a.bytes().size()} + b.bytes().size();
    if (b.bytes().size() * 2 < a.bytes().size() || together > kMostMergedBytes) break;
    // Without the memory for it the two stay apart.
    auto merged = merge(a, b);
    if (!merged) break;
    parts_.pop_back();
    parts_.back() = {std::move(*merged), false};
  }
  return {};
}

// Rows of the second follow on those of the first, so a term's rows are those of the one and then
// those of the other, of which only the first gap changes.
Result<Segment> TextIndex::merge(const Segment& a, const Segment& b) {
  std::vector<uint32_t> lengths(a.rows() + b.rows());
  for (uint32_t row = 0; row < lengths.size(); ++row) {
    const uint32_t slot = a.first() + row;
    lengths[row] = row < a.rows() ? a.length(slot) : b.length(slot);
  }
  SegmentWriter writer(lengths);
  PostingWriter postings;
  const auto copy = [&](const Segment& from, const SegmentTerm& term) {
    uint32_t rows = 0;
    for (PostingCursor cursor(from.list(term)); cursor.next(); ++rows) {
      postings.add(cursor.slot() - a.first(), cursor.frequency(), cursor.positions());
    }
    return rows;
  };
  for (uint32_t i = 0, j = 0; i < a.term_count() || j < b.term_count();) {
    postings.clear();
    const SegmentTerm x = i < a.term_count() ? a.term(i) : SegmentTerm{};
    const SegmentTerm y = j < b.term_count() ? b.term(j) : SegmentTerm{};
    const bool from_a = j == b.term_count() || (i < a.term_count() && x.text <= y.text);
    const bool from_b = i == a.term_count() || (j < b.term_count() && y.text <= x.text);
    uint32_t rows = 0;
    if (from_a) rows += copy(a, x);
    if (from_b) rows += copy(b, y);
    writer.add({from_a ? x.text : y.text, rows, postings.row_bytes, postings.position_bytes});
    i += from_a ? 1 : 0;
    j += from_b ? 1 : 0;
  }
  NEARFIELD_ASSIGN(Buffer bytes, writer.finish());
  return Segment::open(a.first(), static_cast<uint32_t>(lengths.size()), std::move(bytes));
}

void TextIndex::stored() {
  for (Part& part : parts_) part.stored = true;
}

Result<void> TextIndex::adopt(uint32_t rows, Buffer bytes) {
  NEARFIELD_ASSIGN(Segment segment, Segment::open(growing_.first, rows, std::move(bytes)));
  parts_.push_back({std::move(segment), true});
  growing_.first += rows;
  return {};
}

void TextIndex::check(std::vector<std::string>& problems) const {
  for (const Part& part : parts_) part.segment.check(problems);
}

uint64_t TextIndex::memory_bytes() const {
  uint64_t bytes = growing_.bytes + growing_.lengths.size() * sizeof(uint32_t);
  for (const Part& part : parts_) bytes += part.segment.bytes().size();
  return bytes;
}

}  // namespace nearfield
