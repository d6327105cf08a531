#include "metadata/extractor.h"

#include <string>

namespace nearfield {

namespace {

std::vector<std::string> names_of(std::span<const Field> fields) {
  std::vector<std::string> names;
  names.reserve(fields.size());
  for (const Field& field : fields) names.push_back(field.name);
  return names;
}

const char* name_of(MetadataValue::Kind kind) {
  switch (kind) {
    case MetadataValue::Kind::kNull: return "null";
    case MetadataValue::Kind::kBool: return "a boolean";
    case MetadataValue::Kind::kNumber: return "a number";
    case MetadataValue::Kind::kString: return "a string";
    case MetadataValue::Kind::kList: return "a list";
    case MetadataValue::Kind::kObject: return "an object";
  }
  return "";
}

struct Wanted {
  MetadataValue::Kind kind;
  bool may_be_list;
  const char* words;
};

Wanted wanted_by(FieldType type) {
  switch (type) {
    case FieldType::kNumber: return {MetadataValue::Kind::kNumber, false, "a number"};
    case FieldType::kBool: return {MetadataValue::Kind::kBool, false, "true or false"};
    case FieldType::kTag:
    case FieldType::kText:
    case FieldType::kKeyword: break;
  }
  return {MetadataValue::Kind::kString, true, "a string or a list of strings"};
}

}  // namespace

Extractor::Extractor(std::span<const Field> fields)
    : fields_(fields.begin(), fields.end()), reader_(names_of(fields)) {}

Result<void> Extractor::read(std::string_view metadata) {
  NEARFIELD_TRY(reader_.read(metadata));
  for (size_t field = 0; field < fields_.size(); ++field) NEARFIELD_TRY(check(field));
  return {};
}

Result<void> Extractor::check(size_t field) const {
  const std::span<const MetadataValue> values = reader_.values(field);
  if (values.empty()) return {};
  const Wanted wanted = wanted_by(fields_[field].type);
  const auto error = [&](const std::string& found) {
    return Error{ErrorCode::kInvalidArgument,
                 "field \"" + fields_[field].name + "\" " + found + "; expected " + wanted.words};
  };
  const bool list = reader_.is_list(field);
  if (list && !wanted.may_be_list) return error("is a list");
  for (const MetadataValue& value : values) {
    if (value.kind == wanted.kind) continue;
    const std::string found = name_of(value.kind);
    return error(list ? "is a list with " + found : "is " + found);
  }
  return {};
}

}  // namespace nearfield
