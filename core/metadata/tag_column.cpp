#include "metadata/tag_column.h"

#include <algorithm>
#include <cstring>

#include "metadata/select.h"

namespace nearfield {

namespace {

// Calls visit(row) for the rows of a block, slots [first, first + rows), whose slot is in `slots`.
template <class Visit>
void for_each_row(const Bitmap& slots, uint32_t first, uint32_t rows, Visit visit) {
  for (uint32_t row = 0; row < rows; row += 64) {
    for (uint64_t word = slots.words()[(first + row) / 64]; word != 0; word &= word - 1) {
      const uint32_t found = row + static_cast<uint32_t>(std::countr_zero(word));
      if (found < rows) visit(found);
    }
  }
}

// Inserts the rows of a block of which a value is `wanted` (by ordinal: an entry for none, one a
// string, and a last one, 0, for what only damage can hold).
template <class Block>
void select_ordinals(const Block& block, const std::vector<uint8_t>& wanted, uint32_t first,
                     const Bitmap& within, Bitmap& out) {
  const auto is_wanted = [table = wanted.data(), last = wanted.size() - 1](auto ordinal) {
    return table[std::min<size_t>(ordinal, last)];
  };
  block.with_ordinals([&](const auto* ordinals) {
    if (!block.has_lists()) {
      select_rows(ordinals, first, block.rows(), within, out, is_wanted);
      return;
    }
    for_each_row(within, first, block.rows(), [&](uint32_t row) {
      const auto [begin, end] = block.range(row);
      if (std::any_of(ordinals + begin, ordinals + end, is_wanted)) out.insert(first + row);
    });
  });
}

}  // namespace

TagColumn::Block& TagColumn::last_block() {
  if (rows_ % block_rows() == 0) blocks_.emplace_back();
  return blocks_.back();
}

void TagColumn::own(Block& block) {
  if (block.growing.rows() == block.rows && block.payload.empty()) return;
  GrowingTags rows;
  const TagView view = block.view();
  std::vector<std::string_view> strings;
  for (uint32_t row = 0; row < block.rows; ++row) {
    strings.clear();
    size_t room = view.text_bytes() - std::min(view.text_bytes(), rows.text_bytes());
    view.for_each(row, [&](uint32_t ordinal) {
      const std::string_view text = view.string(ordinal);
      if (rows.find(text) == 0) {
        if (text.size() > room) return;  // only damage makes strings longer than their texts
        room -= text.size();
      }
      strings.push_back(text);
    });
    rows.push(strings);
  }
  block.growing = std::move(rows);
  block.payload = {};
}

void TagColumn::close(Block& block) {
  const std::vector<std::byte> bytes = encode_tags(block.growing, 0, block.rows);
  if (!bytes.empty()) {
    auto payload = Buffer::allocate(bytes.size());
    if (!payload) return;  // it can stay in the form that it has
    std::memcpy(payload->data(), bytes.data(), bytes.size());
    block.payload = std::move(*payload);
  }
  block.growing = {};
}

void TagColumn::append(std::span<const std::string_view> strings) {
  Block& block = last_block();
  if (block.has_values() || !strings.empty()) {
    own(block);
    block.growing.push(strings);
  }
  ++block.rows;
  ++rows_;
  if (block.rows == block_rows() && block.growing.rows() > 0) close(block);
}

void TagColumn::truncate(uint32_t rows) {
  rows_ = rows;
  blocks_.resize((size_t{rows} + block_rows() - 1) >> shift_);
  if (blocks_.empty()) return;
  Block& block = blocks_.back();
  const uint32_t kept = rows - ((rows - 1) >> shift_ << shift_);
  if (kept == block.rows) return;
  if (block.has_values()) {
    own(block);
    block.growing.truncate(kept);
  }
  block.rows = kept;
}

void TagColumn::select_any(std::span<const std::string> wanted, const Bitmap& within,
                           Bitmap& out) const {
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const auto first = static_cast<uint32_t>(b << shift_);
    with_block(b, [&](const auto& block) {
      std::vector<uint32_t> found;
      for (const std::string& text : wanted) {
        if (const uint32_t ordinal = block.find(text); ordinal != 0) found.push_back(ordinal);
      }
      if (found.empty()) return;
      if (found.size() == 1 && !block.has_lists()) {
        block.with_ordinals([&](const auto* ordinals) {
          const auto target = static_cast<std::decay_t<decltype(*ordinals)>>(found[0]);
          select_rows(ordinals, first, block.rows(), within, out,
                      [target](auto ordinal) { return ordinal == target; });
        });
        return;
      }
      std::vector<uint8_t> table(size_t{block.strings()} + 2);
      for (const uint32_t ordinal : found) table[ordinal] = 1;
      select_ordinals(block, table, first, within, out);
    });
  }
}

void TagColumn::select_present(const Bitmap& within, Bitmap& out) const {
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const auto first = static_cast<uint32_t>(b << shift_);
    with_block(b, [&](const auto& block) {
      std::vector<uint8_t> table(size_t{block.strings()} + 2, 1);
      table.front() = table.back() = 0;
      select_ordinals(block, table, first, within, out);
    });
  }
}

std::vector<FacetCount> TagColumn::facets(const Bitmap& slots, uint32_t top) const {
  struct Part {
    std::string_view value;
    uint32_t count;
  };
  std::vector<Part> parts;  // of every block
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const auto first = static_cast<uint32_t>(b << shift_);
    with_block(b, [&](const auto& block) {
      std::vector<uint32_t> counts(size_t{block.strings()} + 1);
      for_each_row(slots, first, block.rows(), [&](uint32_t row) {
        block.for_each(row, [&](uint32_t ordinal) { ++counts[ordinal]; });
      });
      for (uint32_t ordinal = 1; ordinal < counts.size(); ++ordinal) {
        if (counts[ordinal] > 0) parts.push_back({block.string(ordinal), counts[ordinal]});
      }
    });
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.value < b.value; });
  size_t values = 0;
  for (const Part& part : parts) {
    if (values > 0 && parts[values - 1].value == part.value) {
      parts[values - 1].count += part.count;
    } else {
      parts[values++] = part;
    }
  }
  parts.resize(values);
  const size_t wanted = std::min<size_t>(top, values);
  std::partial_sort(parts.begin(), parts.begin() + static_cast<ptrdiff_t>(wanted), parts.end(),
                    [](const Part& a, const Part& b) {
                      return a.count != b.count ? a.count > b.count : a.value < b.value;
                    });
  std::vector<FacetCount> facets;
  for (size_t i = 0; i < wanted; ++i)
    facets.push_back({std::string(parts[i].value), parts[i].count});
  return facets;
}

std::vector<std::byte> TagColumn::encode(uint32_t first, uint32_t count) const {
  std::vector<std::byte> bytes;
  if (count == 0) return bytes;
  const Block& block = blocks_[first >> shift_];
  const uint32_t row = first & (block_rows() - 1);
  if (!block.payload.empty() && row == 0 && count == block.rows) {
    const auto payload = block.payload.bytes();
    bytes.assign(payload.begin(), payload.end());
  } else {
    with_block(first >> shift_, [&](const auto& form) { bytes = encode_tags(form, row, count); });
  }
  return bytes;
}

Result<void> TagColumn::adopt(Buffer payload, uint32_t count) {
  if (count == 0) return {};
  if (!payload.empty() && payload.size() < kTagHeaderBytes) {
    return Error{ErrorCode::kCorrupt, "a dictionary of " + std::to_string(payload.size()) +
                                          " bytes; expected " + std::to_string(kTagHeaderBytes) +
                                          " or more"};
  }
  Block& block = last_block();
  Block piece;
  piece.payload = std::move(payload);
  piece.rows = count;
  if (block.rows == 0) {
    block = std::move(piece);
    rows_ += count;
    return {};
  }
  own(piece);
  std::vector<std::string_view> strings;
  for (uint32_t row = 0; row < count; ++row) {
    strings.clear();
    piece.growing.for_each(
        row, [&](uint32_t ordinal) { strings.push_back(piece.growing.string(ordinal)); });
    append(strings);
  }
  return {};
}

void TagColumn::check(std::vector<std::string>& problems) const {
  for (size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].payload.empty()) continue;
    std::vector<std::string> found;
    TagView::check(blocks_[b].payload.bytes(), blocks_[b].rows, found);
    for (const std::string& problem : found)
      problems.push_back("the values from row " + std::to_string(b << shift_) + ": " + problem);
  }
}

uint64_t TagColumn::memory_bytes() const {
  uint64_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.payload.size() + block.growing.memory_bytes();
  return bytes;
}

}  // namespace nearfield
