#include "collection/field_set.h"

#include <algorithm>
#include <string>

namespace nearfield {

Result<void> validate(std::span<const Field> fields) {
  if (fields.size() > kMaxFields) {
    return Error{ErrorCode::kInvalidArgument, std::to_string(fields.size()) +
                                                  " fields are declared; expected at most " +
                                                  std::to_string(kMaxFields)};
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string& name = fields[i].name;
    if (name.empty() || name.size() > kMaxFieldNameBytes) {
      return Error{ErrorCode::kInvalidArgument,
                   "a field's name has " + std::to_string(name.size()) + " bytes; expected 1 to " +
                       std::to_string(kMaxFieldNameBytes)};
    }
    if (name.front() == '$') {
      return Error{ErrorCode::kInvalidArgument,
                   "field \"" + name + "\": names that begin with $ are operators of filters"};
    }
    if (std::any_of(fields.begin(), fields.begin() + static_cast<ptrdiff_t>(i),
                    [&](const Field& field) { return field.name == name; })) {
      return Error{ErrorCode::kInvalidArgument, "field \"" + name + "\" is declared twice"};
    }
  }
  return {};
}

FieldSet::FieldSet(std::vector<Field> fields, unsigned block_shift)
    : fields_(std::move(fields)), stored_(fields_.size()), extractor_(fields_) {
  for (const Field& field : fields_) {
    columns_.emplace_back(field.type, block_shift);
    const bool searched = field.type == FieldType::kText || field.type == FieldType::kKeyword;
    texts_.push_back(searched ? std::make_unique<TextIndex>(field) : nullptr);
  }
}

std::optional<size_t> FieldSet::find(std::string_view name) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].name == name) return i;
  }
  return std::nullopt;
}

Result<void> FieldSet::append(uint32_t rows, const Metadata& metadata) {
  if (empty()) return {};
  const uint32_t before = columns_.front().rows();
  const auto append_rows = [&]() -> Result<void> {
    for (Column& column : columns_) NEARFIELD_TRY(column.reserve(before + rows));
    for (uint32_t row = 0; row < rows; ++row) {
      if (auto read = extractor_.read(metadata(row)); !read) {
        Error error = std::move(read).error();
        error.detail = "row " + std::to_string(row) + ": " + error.detail;
        return error;
      }
      for (size_t i = 0; i < fields_.size(); ++i) columns_[i].append(extractor_.values(i));
    }
    return {};
  };
  auto appended = append_rows();
  if (!appended) {
    for (Column& column : columns_) column.truncate(before);
  }
  return appended;
}

void FieldSet::take_back(uint32_t rows) {
  for (Column& column : columns_) column.truncate(column.rows() - rows);
}

void FieldSet::index_words(uint32_t rows, const Metadata& metadata) {
  const auto is_searched = [](const auto& text) { return text != nullptr; };
  if (std::none_of(texts_.begin(), texts_.end(), is_searched)) return;
  std::vector<std::string_view> strings;
  for (uint32_t row = 0; row < rows; ++row) {
    (void)extractor_.read(metadata(row));  // as append() did
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (!texts_[i]) continue;
      strings.clear();
      for (const MetadataValue& value : extractor_.values(i)) strings.push_back(value.text);
      texts_[i]->add(strings);
    }
  }
}

void FieldSet::take(size_t to, FieldSet& other, size_t from) {
  columns_[to] = std::move(other.columns_[from]);
  stored_[to] = other.stored_[from];
  texts_[to] = std::move(other.texts_[from]);
}

std::unique_ptr<FieldSet> FieldSet::emptied(unsigned block_shift) const {
  auto copy = std::make_unique<FieldSet>(fields_, block_shift);
  for (size_t i = 0; i < fields_.size(); ++i) copy->stored_[i].number = stored_[i].number;
  return copy;
}

void FieldSet::remove(uint32_t slot) {
  for (const auto& text : texts_) {
    if (text) text->remove(slot);
  }
}

bool FieldSet::has_number(uint16_t number) const {
  return std::any_of(stored_.begin(), stored_.end(),
                     [&](const Stored& stored) { return stored.number == number; });
}

uint16_t FieldSet::free_number() const {
  uint16_t number = 1;
  while (has_number(number)) ++number;
  return number;
}

void FieldSet::saved() {
  for (Stored& stored : stored_) stored.whole = true;
  for (const auto& text : texts_) {
    if (text) text->stored();
  }
}

uint64_t FieldSet::memory_bytes() const {
  uint64_t bytes = 0;
  for (const Column& column : columns_) bytes += column.memory_bytes();
  for (const auto& text : texts_) bytes += text ? text->memory_bytes() : 0;
  return bytes;
}

}  // namespace nearfield
