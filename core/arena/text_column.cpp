#include "arena/text_column.h"

#include <algorithm>
#include <cstring>

namespace nearfield {

const uint32_t* TextColumn::Block::ends() const {
  if (!mapped.empty()) return reinterpret_cast<const uint32_t*>(mapped.data());
  return own_ends.empty() ? nullptr : own_ends.data();
}

std::string_view TextColumn::Block::texts() const {
  if (mapped.empty()) return {own_texts.data(), own_texts.size()};
  const size_t skip = size_t{rows} * sizeof(uint32_t);
  return {reinterpret_cast<const char*>(mapped.data()) + skip, mapped.size() - skip};
}

std::optional<std::string_view> TextColumn::Block::text(uint32_t row) const {
  const uint32_t* const all = ends();
  if (all == nullptr) return std::nullopt;
  const uint32_t begin = row == 0 ? 0 : all[row - 1];
  const uint32_t end = all[row];
  if (begin >= end || end > texts().size()) return std::nullopt;
  return texts().substr(begin, end - begin - 1);
}

// Text by text: ends that contradict the block must not become those of rows that follow.
void TextColumn::Block::own() {
  if (!own_ends.empty()) return;
  Block copy;
  copy.own_ends.reserve(rows);
  for (uint32_t row = 0; row < rows; ++row) copy.push(text(row));
  *this = std::move(copy);
}

void TextColumn::Block::push(std::optional<std::string_view> text) {
  if (text) {
    own_texts.insert(own_texts.end(), text->begin(), text->end());
    own_texts.push_back('\0');
  }
  own_ends.push_back(static_cast<uint32_t>(own_texts.size()));
  ++rows;
}

// The block of the next row.
TextColumn::Block& TextColumn::last_block() {
  const uint32_t block_rows = 1u << shift_;
  if (blocks_.size() * block_rows == rows_) blocks_.emplace_back();
  return blocks_.back();
}

void TextColumn::append(std::optional<std::string_view> text) {
  Block& block = last_block();
  if (!text && block.ends() == nullptr) {
    ++block.rows;
  } else {
    block.own();
    block.push(text);
  }
  ++rows_;
}

std::optional<std::string_view> TextColumn::get(uint32_t slot) const {
  const size_t b = slot >> shift_;
  const uint32_t row = slot & ((1u << shift_) - 1);
  if (b >= blocks_.size() || row >= blocks_[b].rows) return std::nullopt;
  return blocks_[b].text(row);
}

std::vector<std::byte> TextColumn::encode(uint32_t first, uint32_t count) const {
  std::vector<uint32_t> ends;
  std::vector<char> texts;
  for (uint32_t slot = first; slot < first + count; ++slot) {
    if (const auto text = get(slot)) {
      texts.insert(texts.end(), text->begin(), text->end());
      texts.push_back('\0');
    }
    ends.push_back(static_cast<uint32_t>(texts.size()));
  }
  if (texts.empty()) return {};
  std::vector<std::byte> payload(ends.size() * sizeof(uint32_t) + texts.size());
  std::memcpy(payload.data(), ends.data(), ends.size() * sizeof(uint32_t));
  std::memcpy(payload.data() + ends.size() * sizeof(uint32_t), texts.data(), texts.size());
  return payload;
}

bool TextColumn::adopt(Buffer payload, uint32_t count) {
  if (!payload.empty() && payload.size() < size_t{count} * sizeof(uint32_t)) return false;
  Block piece;
  piece.mapped = std::move(payload);
  piece.rows = count;
  Block& block = last_block();
  if (block.rows == 0) {
    block = std::move(piece);
    rows_ += count;
  } else if (piece.mapped.empty() && block.ends() == nullptr) {
    block.rows += count;
    rows_ += count;
  } else {
    for (uint32_t row = 0; row < count; ++row) append(piece.text(row));
  }
  return true;
}

uint64_t TextColumn::memory_bytes() const {
  uint64_t bytes = 0;
  for (const Block& block : blocks_) {
    bytes += block.mapped.size() + block.own_ends.capacity() * sizeof(uint32_t) +
             block.own_texts.capacity();
  }
  return bytes;
}

}  // namespace nearfield
