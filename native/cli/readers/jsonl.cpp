// jsonl: one JSON object a line: "vector" (an array of numbers), "id" (an integer or a string),
// "metadata" (an object). Every other field becomes metadata too.
#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "ids.h"
#include "readers/text_rows.h"

namespace nearfield::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 100;  // of brackets in brackets; writing JSON recurses that deep

int depth(const std::string& line) {
  int open = 0;
  int deepest = 0;
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      quoted = !quoted;
    } else if (quoted) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++open);
    } else if (c == ']' || c == '}') {
      --open;
    }
  }
  return deepest;
}

Json parse_line(const std::string& line) {
  if (depth(line) > kMaxDepth) {
    throw std::invalid_argument("nested more than " + std::to_string(kMaxDepth) + " deep");
  }
  try {
    return Json::parse(line);
  } catch (const Json::parse_error& error) {
    throw std::invalid_argument("no valid JSON, the fault is at character " +
                                std::to_string(error.byte));
  } catch (const Json::exception&) {
    throw std::invalid_argument("a number is too large");
  }
}

void read_vector(const Json& value, std::vector<float>& vector) {
  if (!value.is_array()) throw std::invalid_argument("\"vector\" is no array of numbers");
  vector.reserve(value.size());
  for (const Json& element : value) {
    if (!element.is_number()) {
      throw std::invalid_argument("\"vector\" holds " + element.dump().substr(0, 40) +
                                  ", expected numbers only");
    }
    vector.push_back(to_float(element.get<double>()));
  }
}

void add_metadata(Json& metadata, const std::string& name, const Json& value) {
  if (metadata.contains(name)) {
    throw std::invalid_argument("\"" + name + "\" stands both in and beside \"metadata\"");
  }
  metadata[name] = value;
}

class JsonlReader final : public TextRows {
 public:
  explicit JsonlReader(const ReaderOptions& options) : TextRows(options) { begin(); }

 private:
  bool parse(TextRecord& record) override {
    do {
      if (!std::getline(file_, line_)) return false;
      record.line = ++number_;
    } while (line_.find_first_not_of(" \t\r") == std::string::npos);

    const Json object = parse_line(line_);
    if (!object.is_object()) throw std::invalid_argument("no JSON object");
    if (!object.contains("vector")) throw std::invalid_argument("the field \"vector\" is missing");
    Json metadata = Json::object();
    if (const auto found = object.find("metadata"); found != object.end() && !found->is_null()) {
      if (!found->is_object()) throw std::invalid_argument("\"metadata\" is no object");
      metadata = *found;
    }
    for (const auto& [name, value] : object.items()) {
      if (name == "vector") {
        read_vector(value, record.vector);
      } else if (name == "id") {
        record.id = id_from_json(value);
      } else if (name != "metadata") {
        add_metadata(metadata, name, value);
      }
    }
    if (!metadata.empty()) record.metadata = metadata.dump();
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
