#include "ids.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "failure.h"
#include "files.h"
#include "nearfield/options.h"
#include "text.h"

namespace nearfield::cli {
namespace {

bool looks_like_integer(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return false;
  }
  return digits.front() != '0' || text == "0";
}

Id text_id(std::string text) {
  if (text.empty()) throw std::invalid_argument("the id is empty");
  if (text.size() > kMaxIdBytes) {
    throw std::invalid_argument("the id has " + std::to_string(text.size()) + " bytes, at most " +
                                std::to_string(kMaxIdBytes) + " are possible");
  }
  return text;
}

std::invalid_argument beyond_64_bits(std::string_view text) {
  return std::invalid_argument("the id " + shown(text) +
                               " is beyond 64-bit integers; in quotes it would be a string");
}

// Metadata as JSON on one line. The library keeps any text; what is no JSON becomes a string.
std::string metadata_json(std::string_view metadata) {
  std::string text = to_utf8(metadata);
  if (!JsonText(text).valid()) return json_string(text);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

}  // namespace

Id parse_id(std::string_view text) {
  if (looks_like_integer(text)) {
    int64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc()) throw beyond_64_bits(text);
    return number;
  }
  if (!text.starts_with('"')) return text_id(std::string(text));
  const auto value = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!value.is_string()) {
    throw std::invalid_argument("the id " + shown(text) +
                                " begins with a quote but is no JSON string");
  }
  return text_id(value.get<std::string>());
}

Id id_from_json(const nlohmann::ordered_json& value) {
  if (value.is_string()) return text_id(value.get<std::string>());
  if (value.is_number_unsigned()) {
    if (value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
      throw beyond_64_bits(value.dump());
    }
    return value.get<int64_t>();
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  const std::string found = value.is_structured() ? value.type_name() : shown(value.dump());
  throw std::invalid_argument("the id is " + found + ", expected an integer or a string");
}

std::string record_json(IdView id, std::span<const float> vector, std::string_view metadata) {
  const std::string id_text = id.is_text() ? json_string(id.text()) : std::to_string(id.number());
  std::string line = "{\"id\":" + id_text + ",\"vector\":[";
  char number[32];
  for (size_t i = 0; i < vector.size(); ++i) {
    if (i > 0) line += ',';
    // The shortest text that reads back as the same float.
    const auto written = std::to_chars(number, number + sizeof number, vector[i]);
    line.append(number, written.ptr);
  }
  line += ']';
  if (!metadata.empty()) line += ",\"metadata\":" + metadata_json(metadata);
  return line + "}";
}

std::vector<Id> read_ids(const std::string& path) {
  std::ifstream file = open_input(path);
  std::vector<Id> ids;
  std::string line;
  for (uint64_t number = 1; std::getline(file, line); ++number) {
    if (number == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    try {
      ids.push_back(parse_id(line));
    } catch (const std::invalid_argument& error) {
      throw bad_input(path + ": line " + std::to_string(number) + ": " + error.what());
    }
  }
  if (file.bad()) throw failed(path + ": reading failed");
  return ids;
}

int32_t id_to_int32(IdView id) {
  if (id.is_text()) {
    throw bad_input("the id " + describe_id(id) + " is a string; --ids writes integer ids only");
  }
  if (id.number() < 0 || id.number() > std::numeric_limits<int32_t>::max()) {
    throw bad_input("the id " + describe_id(id) + " does not fit; --ids writes ids from 0 to " +
                    std::to_string(std::numeric_limits<int32_t>::max()));
  }
  return static_cast<int32_t>(id.number());
}

}  // namespace nearfield::cli
