#include "arena/text_column.h"

#include <algorithm>
#include <cstring>

namespace nearfield {

const uint32_t* TextColumn::Block::ends() const {
  return mapped.empty() ? own_ends.data() : reinterpret_cast<const uint32_t*>(mapped.data());
}

std::string_view TextColumn::Block::texts() const {
  if (mapped.empty()) return {own_texts.data(), own_texts.size()};
  const size_t skip = size_t{rows} * sizeof(uint32_t);
  return {reinterpret_cast<const char*>(mapped.data()) + skip, mapped.size() - skip};
}

void TextColumn::Block::own() {
  if (mapped.empty()) return;
  const std::string_view text = texts();
  own_ends.assign(ends(), ends() + rows);
  own_texts.assign(text.begin(), text.end());
  mapped = Buffer();
}

TextColumn::Block& TextColumn::block_for_append() {
  // Blocks come into being with the first text; the rows before it have none.
  const uint32_t block_rows = 1u << shift_;
  while (blocks_.size() * block_rows <= rows_) {
    Block block;
    const uint32_t before = static_cast<uint32_t>(blocks_.size()) * block_rows;
    block.rows = std::min(block_rows, rows_ - before);
    block.own_ends.assign(block.rows, 0);
    blocks_.push_back(std::move(block));
  }
  Block& block = blocks_.back();
  block.own();
  return block;
}

void TextColumn::append(std::optional<std::string_view> text) {
  if (!text && blocks_.empty()) {
    ++rows_;
    return;
  }
  Block& block = block_for_append();
  if (text) {
    block.own_texts.insert(block.own_texts.end(), text->begin(), text->end());
    block.own_texts.push_back('\0');
  }
  block.own_ends.push_back(static_cast<uint32_t>(block.own_texts.size()));
  ++block.rows;
  ++rows_;
}

std::optional<std::string_view> TextColumn::text_in(const Block& block, uint32_t row) const {
  const uint32_t* ends = block.ends();
  const uint32_t begin = row == 0 ? 0 : ends[row - 1];
  const uint32_t end = ends[row];
  const std::string_view texts = block.texts();
  if (begin >= end || end > texts.size()) return std::nullopt;
  return texts.substr(begin, end - begin - 1);
}

std::optional<std::string_view> TextColumn::get(uint32_t slot) const {
  const size_t b = slot >> shift_;
  const uint32_t row = slot & ((1u << shift_) - 1);
  if (b >= blocks_.size() || row >= blocks_[b].rows) return std::nullopt;
  return text_in(blocks_[b], row);
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
  const uint32_t block_rows = 1u << shift_;
  const bool begins_block = (rows_ & (block_rows - 1)) == 0;
  if (payload.empty() && blocks_.empty()) {  // at once: opening must not cost a step a row
    rows_ += count;
    return true;
  }
  if (payload.empty()) {
    for (uint32_t i = 0; i < count; ++i) append(std::nullopt);
    return true;
  }
  if (begins_block && blocks_.size() * block_rows == rows_) {
    Block block;
    block.mapped = std::move(payload);
    block.rows = count;
    blocks_.push_back(std::move(block));
    rows_ += count;
    return true;
  }
  Block piece;
  piece.mapped = std::move(payload);
  piece.rows = count;
  for (uint32_t i = 0; i < count; ++i) append(text_in(piece, i));
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
