#include "arena/id_column.h"

#include <bit>

#include "base/checksum.h"
#include "base/random.h"

namespace nearfield {

namespace {

uint64_t key_of(IdView id) {
  if (!id.is_text()) return static_cast<uint64_t>(id.number());
  return checksum64(std::as_bytes(std::span(id.text().data(), id.text().size())));
}

}  // namespace

IdView IdColumn::get(uint32_t slot) const {
  if (const auto text = texts_.get(slot)) return *text;
  return static_cast<int64_t>(*keys_.row(slot));
}

Result<void> IdColumn::reserve(uint32_t rows) {
  if (indexed_) NEARFIELD_TRY(grow(entries_ + (rows - used_)));
  return keys_.resize(rows);
}

void IdColumn::append(IdView id) {
  const uint32_t slot = used_++;
  *keys_.row(slot) = key_of(id);
  texts_.append(id.is_text() ? std::optional(id.text()) : std::nullopt);
  if (indexed_) insert(slot);
}

size_t IdColumn::home(uint64_t key) const { return mix64(key) & (table_.size() - 1); }

Result<void> IdColumn::grow(size_t entries) {
  const size_t wanted = std::bit_ceil(2 * entries + 16);
  if (wanted <= table_.size()) return {};
  std::vector<uint32_t> before = std::move(table_);
  table_.assign(wanted, kEmpty);
  for (const uint32_t slot : before) {
    if (slot == kEmpty) continue;
    size_t at = home(*keys_.row(slot));
    while (table_[at] != kEmpty) at = (at + 1) & (table_.size() - 1);
    table_[at] = slot;
  }
  return {};
}

void IdColumn::insert(uint32_t slot) {
  size_t at = home(*keys_.row(slot));
  while (table_[at] != kEmpty) at = (at + 1) & (table_.size() - 1);
  table_[at] = slot;
  ++entries_;
}

Result<void> IdColumn::ensure_index(const SlotSet& dead) {
  if (indexed_) return {};
  used_ = keys_.rows();
  entries_ = 0;
  table_.clear();
  NEARFIELD_TRY(grow(used_ - dead.count()));
  for (uint32_t slot = 0; slot < used_; ++slot) {
    if (!dead.contains(slot)) insert(slot);
  }
  indexed_ = true;
  return {};
}

std::optional<uint32_t> IdColumn::find(IdView id) const {
  const uint64_t key = key_of(id);
  for (size_t at = home(key); table_[at] != kEmpty; at = (at + 1) & (table_.size() - 1)) {
    const uint32_t slot = table_[at];
    if (*keys_.row(slot) == key && get(slot) == id) return slot;
  }
  return std::nullopt;
}

void IdColumn::forget(uint32_t slot) {
  const size_t mask = table_.size() - 1;
  size_t hole = home(*keys_.row(slot));
  while (table_[hole] != slot) {
    if (table_[hole] == kEmpty) return;
    hole = (hole + 1) & mask;
  }
  // Close the gap: an entry moves into the hole unless that would put it before its home.
  for (size_t at = (hole + 1) & mask; table_[at] != kEmpty; at = (at + 1) & mask) {
    const size_t distance_home = (at - home(*keys_.row(table_[at]))) & mask;
    const size_t distance_hole = (at - hole) & mask;
    if (distance_home >= distance_hole) {
      table_[hole] = table_[at];
      hole = at;
    }
  }
  table_[hole] = kEmpty;
  --entries_;
}

}  // namespace nearfield
