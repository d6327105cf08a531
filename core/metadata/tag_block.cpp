#include "metadata/tag_block.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/checksum.h"

namespace nearfield {

namespace {

// What a payload begins with.
struct Header {
  uint32_t strings;
  uint32_t values;  // ordinals
  uint8_t width;    // of an ordinal: 1, 2 or 4 bytes
  uint8_t lists;    // 1: rows have any number of ordinals, 0: one each
  uint16_t reserved;
  uint32_t text_bytes;
};
static_assert(sizeof(Header) == kTagHeaderBytes);

template <class T>
void put(std::vector<std::byte>& out, const T* data, size_t count) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + count * sizeof(T));
}

template <class T>
void put_as(std::vector<std::byte>& out, const std::vector<uint32_t>& values) {
  for (const uint32_t value : values) {
    const T narrow = static_cast<T>(value);
    put(out, &narrow, 1);
  }
}

}  // namespace

TagView::TagView(std::span<const std::byte> payload, uint32_t rows) : rows_(rows) {
  if (!parse(payload, rows)) {
    *this = {};
    rows_ = rows;
  }
}

bool TagView::parse(std::span<const std::byte> payload, uint32_t rows) {
  Header header{};
  if (payload.size() < sizeof(header)) return false;
  std::memcpy(&header, payload.data(), sizeof(header));
  if (header.width != 1 && header.width != 2 && header.width != 4) return false;
  if (header.lists > 1 || (header.lists == 0 && header.values != rows)) return false;
  // None of these products and sums can exceed 64 bits.
  const uint64_t string_ends = uint64_t{header.strings} * sizeof(uint32_t);
  const uint64_t row_ends = header.lists != 0 ? uint64_t{rows} * sizeof(uint32_t) : 0;
  const uint64_t ordinals = uint64_t{header.values} * header.width;
  if (sizeof(header) + string_ends + row_ends + ordinals + header.text_bytes != payload.size())
    return false;
  const std::byte* at = payload.data() + sizeof(header);
  strings_ = header.strings;
  values_ = header.values;
  width_ = header.width;
  string_ends_ = reinterpret_cast<const uint32_t*>(at);
  at += string_ends;
  if (header.lists != 0) ends_ = reinterpret_cast<const uint32_t*>(at);
  at += row_ends;
  ordinals_ = at;
  texts_ = {reinterpret_cast<const char*>(at + ordinals), header.text_bytes};
  return true;
}

std::string_view TagView::string(uint32_t ordinal) const {
  if (ordinal == 0 || ordinal > strings_) return {};
  const uint32_t begin = ordinal == 1 ? 0 : string_ends_[ordinal - 2];
  const uint32_t end = string_ends_[ordinal - 1];
  if (begin > end || end > texts_.size()) return {};
  return texts_.substr(begin, end - begin);
}

uint32_t TagView::find(std::string_view text) const {
  uint32_t below = 0;  // strings that are less
  for (uint32_t rest = strings_; rest > 0;) {
    const uint32_t half = rest / 2;
    if (string(below + half + 1) < text) {
      below += half + 1;
      rest -= half + 1;
    } else {
      rest = half;
    }
  }
  return below < strings_ && string(below + 1) == text ? below + 1 : 0;
}

std::pair<uint32_t, uint32_t> TagView::range(uint32_t row) const {
  if (row >= rows_ || width_ == 0) return {0, 0};
  if (ends_ == nullptr) return {row, row + 1};
  const uint32_t begin = row == 0 ? 0 : ends_[row - 1];
  const uint32_t end = ends_[row];
  if (begin > end || end > values_) return {0, 0};
  return {begin, end};
}

void TagView::check(std::span<const std::byte> payload, uint32_t rows,
                    std::vector<std::string>& problems) {
  TagView view;
  if (!view.parse(payload, rows)) {
    problems.emplace_back("the header contradicts the size of " + std::to_string(payload.size()) +
                          " bytes for " + std::to_string(rows) + " rows");
    return;
  }
  uint32_t end = 0;
  for (uint32_t i = 0; i < view.strings_; ++i) {
    if (view.string_ends_[i] < end || view.string_ends_[i] > view.texts_.size()) {
      problems.emplace_back("the ends of its strings do not rise to the end of the texts");
      return;
    }
    end = view.string_ends_[i];
  }
  if (end != view.texts_.size()) problems.emplace_back("there are bytes after its strings");
  for (uint32_t i = 1; i < view.strings_; ++i) {
    if (view.string(i) < view.string(i + 1)) continue;
    problems.emplace_back("its strings do not rise");
    break;
  }
  if (view.ends_ != nullptr) {
    end = 0;
    for (uint32_t row = 0; row < rows; ++row) {
      if (view.ends_[row] < end || view.ends_[row] > view.values_) {
        problems.emplace_back("the values of row " + std::to_string(row) + " lie outside");
        return;
      }
      end = view.ends_[row];
    }
    if (end != view.values_) problems.emplace_back("there are values after those of its rows");
  }
  const uint32_t least = view.ends_ == nullptr ? 0 : 1;  // of a list, where 0 is not needed
  for (uint32_t row = 0; row < rows; ++row) {
    bool sound = true;
    view.with_ordinals([&, range = view.range(row)](const auto* ordinals) {
      for (uint32_t i = range.first; i < range.second; ++i) {
        const uint32_t floor = i == range.first ? least : ordinals[i - 1] + uint32_t{1};
        sound = sound && ordinals[i] >= floor && ordinals[i] <= view.strings_;
      }
    });
    if (sound) continue;
    problems.emplace_back("row " + std::to_string(row) +
                          " has a value that is not among the strings, or out of order");
    break;
  }
}

std::string_view GrowingTags::string(uint32_t ordinal) const {
  const uint32_t begin = ordinal == 1 ? 0 : string_ends_[ordinal - 2];
  return {texts_.data() + begin, string_ends_[ordinal - 1] - begin};
}

size_t GrowingTags::place(std::string_view text) const {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  size_t at = checksum64(bytes) & (table_.size() - 1);
  while (table_[at] != 0 && string(table_[at]) != text) at = (at + 1) & (table_.size() - 1);
  return at;
}

uint32_t GrowingTags::find(std::string_view text) const {
  return table_.empty() ? 0 : table_[place(text)];
}

void GrowingTags::grow_table() {
  constexpr size_t kLeast = 16;
  table_.assign(std::max(kLeast, table_.size() * 2), 0);
  for (uint32_t ordinal = 1; ordinal <= strings(); ++ordinal)
    table_[place(string(ordinal))] = ordinal;
}

uint32_t GrowingTags::number(std::string_view text) {
  if (strings() * size_t{2} >= table_.size()) grow_table();
  uint32_t& entry = table_[place(text)];
  if (entry == 0) {
    texts_.insert(texts_.end(), text.begin(), text.end());
    string_ends_.push_back(static_cast<uint32_t>(texts_.size()));
    entry = strings();
  }
  return entry;
}

// The strings stay: rows that come again find them.
void GrowingTags::truncate(uint32_t rows) {
  ends_.resize(rows);
  ordinals_.resize(rows == 0 ? 0 : ends_.back());
}

template <class Block>
std::vector<std::byte> encode_tags(const Block& block, uint32_t first, uint32_t count) {
  // The strings that these rows use, in order, and the new ordinals of the old ones.
  std::vector<uint32_t> renumbered(size_t{block.strings()} + 1);
  bool lists = false;
  for (uint32_t row = first; row < first + count; ++row) {
    uint32_t values = 0;
    block.for_each(row, [&](uint32_t ordinal) {
      renumbered[ordinal] = 1;
      ++values;
    });
    lists = lists || values > 1;
  }
  std::vector<uint32_t> used;
  for (uint32_t ordinal = 1; ordinal <= block.strings(); ++ordinal) {
    if (renumbered[ordinal] != 0) used.push_back(ordinal);
  }
  if (used.empty()) return {};
  std::sort(used.begin(), used.end(),
            [&](uint32_t a, uint32_t b) { return block.string(a) < block.string(b); });
  std::vector<uint32_t> string_ends;
  std::string texts;
  std::string_view last;
  for (const uint32_t ordinal : used) {
    const std::string_view text = block.string(ordinal);
    if (string_ends.empty() || text != last) {
      // Only damage can make strings longer than their texts are together.
      if (texts.size() + text.size() > block.text_bytes()) {
        renumbered[ordinal] = 0;
        continue;
      }
      texts += text;
      string_ends.push_back(static_cast<uint32_t>(texts.size()));
      last = text;
    }
    renumbered[ordinal] = static_cast<uint32_t>(string_ends.size());
  }
  std::vector<uint32_t> row_ends;
  std::vector<uint32_t> ordinals;
  for (uint32_t row = first; row < first + count; ++row) {
    const auto begin = static_cast<ptrdiff_t>(ordinals.size());
    block.for_each(row, [&](uint32_t ordinal) {
      if (renumbered[ordinal] != 0) ordinals.push_back(renumbered[ordinal]);
    });
    if (lists) {
      std::sort(ordinals.begin() + begin, ordinals.end());
      ordinals.erase(std::unique(ordinals.begin() + begin, ordinals.end()), ordinals.end());
      row_ends.push_back(static_cast<uint32_t>(ordinals.size()));
    } else if (ordinals.size() == static_cast<size_t>(begin)) {
      ordinals.push_back(0);
    }
  }
  const size_t strings = string_ends.size();
  const auto width = static_cast<uint8_t>(strings <= 0xff ? 1 : strings <= 0xffff ? 2 : 4);
  const Header header{static_cast<uint32_t>(strings),
                      static_cast<uint32_t>(ordinals.size()),
                      width,
                      static_cast<uint8_t>(lists ? 1 : 0),
                      0,
                      static_cast<uint32_t>(texts.size())};
  std::vector<std::byte> payload;
  put(payload, &header, 1);
  put(payload, string_ends.data(), strings);
  put(payload, row_ends.data(), row_ends.size());
  if (width == 1) put_as<uint8_t>(payload, ordinals);
  if (width == 2) put_as<uint16_t>(payload, ordinals);
  if (width == 4) put_as<uint32_t>(payload, ordinals);
  put(payload, texts.data(), texts.size());
  return payload;
}

template std::vector<std::byte> encode_tags(const TagView&, uint32_t, uint32_t);
template std::vector<std::byte> encode_tags(const GrowingTags&, uint32_t, uint32_t);

}  // namespace nearfield
