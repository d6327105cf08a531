#include "fields.h"

#include <nlohmann/json.hpp>

#include "failure.h"

namespace nearfield::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr FieldType kTypes[] = {FieldType::kTag, FieldType::kNumber, FieldType::kBool,
                                FieldType::kText, FieldType::kKeyword};

FieldType parse_type(const std::string& field, const Json& value) {
  for (const FieldType type : kTypes) {
    if (value.is_string() && value.get_ref<const std::string&>() == field_type_name(type))
      return type;
  }
  throw bad_input("--fields: the type of \"" + field + "\" is " + value.dump() +
                  ", expected tag, number, bool, text or keyword");
}

bool parse_flag(const std::string& field, const std::string& name, const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  throw bad_input("--fields: " + name + " of \"" + field + "\" is " + value.dump() +
                  ", expected true or false");
}

}  // namespace

std::vector<Field> parse_fields(const std::string& json) {
  const auto object = Json::parse(json, nullptr, false);
  if (!object.is_object()) {
    throw bad_input(
        "--fields is no JSON object, expected {\"title\": \"text\", \"price\": \"number\"}");
  }
  std::vector<Field> fields;
  for (const auto& [name, value] : object.items()) {
    Field field{.name = name};
    if (!value.is_object()) {
      field.type = parse_type(name, value);
    } else {
      if (!value.contains("type")) throw bad_input("--fields: \"" + name + "\" has no type");
      for (const auto& [key, option] : value.items()) {
        if (key == "type") {
          field.type = parse_type(name, option);
        } else if (key == "stopWords") {
          field.stop_words = parse_flag(name, key, option);
        } else if (key == "prefix") {
          field.prefix = parse_flag(name, key, option);
        } else {
          throw bad_input("--fields: \"" + name + "\" has " + key +
                          ", expected type, stopWords or prefix");
        }
      }
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

Json fields_to_json(std::span<const Field> fields) {
  Json object = Json::object();
  for (const Field& field : fields) {
    const std::string type(field_type_name(field.type));
    if (field.stop_words && field.prefix) {
      object[field.name] = type;
    } else {
      object[field.name] = {
          {"type", type}, {"stopWords", field.stop_words}, {"prefix", field.prefix}};
    }
  }
  return object;
}

}  // namespace nearfield::cli
