#include "metadata/column.h"

#include <limits>

namespace nearfield {

namespace {

std::variant<NumberColumn, BoolColumn, TagColumn> make_column(FieldType type,
                                                              unsigned block_shift) {
  switch (type) {
    case FieldType::kNumber: return NumberColumn(block_shift);
    case FieldType::kBool:
    case FieldType::kText: return BoolColumn(block_shift);
    case FieldType::kTag:
    case FieldType::kKeyword: break;
  }
  return TagColumn(block_shift);
}

}  // namespace

Column::Column(FieldType type, unsigned block_shift) : column_(make_column(type, block_shift)) {}

uint32_t Column::rows() const {
  return std::visit([](const auto& column) { return column.rows(); }, column_);
}

Result<void> Column::reserve(uint32_t rows) {
  if (auto* numbers = std::get_if<NumberColumn>(&column_)) return numbers->reserve(rows);
  if (auto* bools = std::get_if<BoolColumn>(&column_)) return bools->reserve(rows);
  return {};
}

void Column::append(std::span<const MetadataValue> values) {
  if (auto* numbers = std::get_if<NumberColumn>(&column_)) {
    numbers->append(values.empty() ? std::numeric_limits<double>::quiet_NaN() : values[0].number);
  } else if (auto* bools = std::get_if<BoolColumn>(&column_)) {
    const bool value =
        !values.empty() && (values[0].kind == MetadataValue::Kind::kString || values[0].flag);
    bools->append(values.empty() ? BoolColumn::kNone
                  : value        ? BoolColumn::kTrue
                                 : BoolColumn::kFalse);
  } else {
    strings_.clear();
    for (const MetadataValue& value : values) strings_.push_back(value.text);
    std::get_if<TagColumn>(&column_)->append(strings_);
  }
}

void Column::truncate(uint32_t rows) {
  std::visit([rows](auto& column) { column.truncate(rows); }, column_);
}

std::vector<std::byte> Column::encode(uint32_t first, uint32_t count) const {
  return std::visit([=](const auto& column) { return column.encode(first, count); }, column_);
}

Result<void> Column::adopt(Buffer payload, uint32_t count) {
  return std::visit([&](auto& column) { return column.adopt(std::move(payload), count); }, column_);
}

void Column::check(std::vector<std::string>& problems) const {
  std::visit([&](const auto& column) { column.check(problems); }, column_);
}

void Column::select_present(const Bitmap& within, Bitmap& out) const {
  std::visit([&](const auto& column) { column.select_present(within, out); }, column_);
}

uint64_t Column::memory_bytes() const {
  return std::visit([](const auto& column) { return column.memory_bytes(); }, column_);
}

}  // namespace nearfield
