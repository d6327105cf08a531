// jsonl: one JSON object a line: "vector" (an array of numbers), "id" (an integer or a string),
// "metadata" (any JSON value, kept as it stands). Every other field becomes metadata too.
#include <set>
#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

#include "ids.h"
#include "readers/text_rows.h"
#include "text.h"

namespace nearfield::cli {
namespace {

using Json = nlohmann::ordered_json;

Json parse_value(std::string_view text, const char* field) {
  try {
    return Json::parse(text);
  } catch (const Json::out_of_range&) {
    throw std::invalid_argument("a number is too large");
  } catch (const Json::exception&) {
    throw std::invalid_argument(std::string("\"") + field + "\" is no valid JSON");
  }
}

void read_vector(const Json& value, std::vector<float>& vector) {
  if (!value.is_array()) throw std::invalid_argument("\"vector\" is no array of numbers");
  vector.reserve(value.size());
  for (const Json& element : value) {
    if (!element.is_number()) {
      const std::string found =
          element.is_structured() ? element.type_name() : shown(element.dump());
      throw std::invalid_argument("\"vector\" holds " + found + ", expected numbers only");
    }
    vector.push_back(to_float(element.get<double>()));
  }
}

// The text of "metadata" with the other fields added; without others, as it stands.
std::string join_metadata(std::string_view metadata, const JsonFields& others) {
  if (others.empty()) return std::string(metadata);
  const JsonText inner(metadata.empty() || metadata == "null" ? "{}" : metadata);
  if (!inner.is_object()) {
    throw std::invalid_argument("\"metadata\" is no object, so \"" + shown(others[0].first) +
                                "\" cannot be added to it");
  }
  std::set<std::string> names;
  for (const auto& [name, value] : inner.fields()) names.insert(decode_name(name));
  std::string text(inner.value().substr(0, inner.value().size() - 1));
  bool first = inner.fields().empty();
  for (const auto& [name, value] : others) {
    if (!names.insert(decode_name(name)).second) {
      throw std::invalid_argument("\"" + shown(name) +
                                  "\" stands both in and beside \"metadata\", or twice");
    }
    text.append(first ? "\"" : ",\"").append(name).append("\":").append(value);
    first = false;
  }
  return text + "}";
}

class JsonlReader final : public TextRows {
 public:
  explicit JsonlReader(const ReaderOptions& options) : TextRows(options) { begin(); }

 private:
  bool parse(TextRecord& record) override {
    do {
      if (!std::getline(file_, line_)) return false;
      record.line = ++number_;
      if (number_ == 1 && line_.starts_with(kByteOrderMark)) line_.erase(0, kByteOrderMark.size());
    } while (line_.find_first_not_of(" \t\r") == std::string::npos);

    const JsonText object(line_);
    if (!object.valid()) {
      throw std::invalid_argument("no valid JSON, the fault is at character " +
                                  std::to_string(object.fault() + 1));
    }
    if (!object.is_object()) throw std::invalid_argument("no JSON object");
    std::string_view vector;
    std::string_view id;
    std::string_view metadata;
    JsonFields others;
    for (const auto& [raw_name, value] : object.fields()) {
      const std::string name = decode_name(raw_name);
      std::string_view* const field = name == "vector"     ? &vector
                                      : name == "id"       ? &id
                                      : name == "metadata" ? &metadata
                                                           : nullptr;
      if (field == nullptr) {
        others.emplace_back(raw_name, value);
      } else if (field->empty()) {
        *field = value;
      } else {
        throw std::invalid_argument("the field \"" + name + "\" stands twice");
      }
    }
    if (vector.empty()) throw std::invalid_argument("the field \"vector\" is missing");
    read_vector(parse_value(vector, "vector"), record.vector);
    if (!id.empty()) record.id = id_from_json(parse_value(id, "id"));
    record.metadata = join_metadata(metadata, others);
    return true;
  }

  std::string line_;
  uint64_t number_ = 0;
};

}  // namespace

std::unique_ptr<Reader> open_jsonl(const ReaderOptions& options) {
  return std::make_unique<JsonlReader>(options);
}

}  // namespace nearfield::cli
