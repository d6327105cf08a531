// csv: comma-separated, quoted as RFC 4180 has it. The first line names the columns, unless every
// field of it is a number.
//   with names     "id" is the id; the vector is the columns v0, v1, ... or one column "vector"
//                  holding a JSON array; every other column becomes metadata (numbers, true and
//                  false as they stand, the rest as strings; an empty field is left out)
//   without names  all columns are the vector; one column more than the dimensions: the first is
//                  the id
#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "failure.h"
#include "ids.h"
#include "readers/text_rows.h"
#include "text.h"

namespace nearfield::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Column {
  enum Role { kId, kVectorValue, kVectorArray, kMetadata };
  Role role;
  std::string name;
  size_t place = 0;  // of a vector's value
};

bool is_number(const std::string& text) {
  try {
    parse_float(text);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

// v0, v1, ... and what looks like one: v00.
bool is_value_name(const std::string& name) {
  return name.size() > 1 && name[0] == 'v' &&
         name.find_first_not_of("0123456789", 1) == std::string::npos;
}

// The place that such a name tells; one beyond all for a name that is not written so.
size_t value_place(const std::string& name) {
  constexpr size_t kMostDigits = 6;
  const std::string digits = name.substr(1);
  if (digits.size() > kMostDigits || (digits.size() > 1 && digits[0] == '0')) return SIZE_MAX;
  return std::stoul(digits);
}

Column name_column(const std::string& name) {
  if (name == "id") return {Column::kId, name};
  if (name == "vector") return {Column::kVectorArray, name};
  if (is_value_name(name)) return {Column::kVectorValue, name, value_place(name)};
  return {Column::kMetadata, name};
}

void read_array(const std::string& text, std::vector<float>& vector) {
  const Json array = Json::parse(text, nullptr, false);
  if (!array.is_array()) throw std::invalid_argument("the field \"vector\" is no JSON array");
  for (const Json& value : array) {
    if (!value.is_number()) throw std::invalid_argument("\"vector\" holds more than numbers");
    vector.push_back(to_float(value.get<double>()));
  }
}

// A number keeps its digits.
std::string metadata_value(const std::string& text) {
  const JsonText json(text);
  const bool word = json.valid() && (json.value() == "true" || json.value() == "false");
  return word || json.is_number() ? std::string(json.value()) : json_string(text);
}

class CsvReader final : public TextRows {
 public:
  explicit CsvReader(const ReaderOptions& options) : TextRows(options) {
    start_line_ = 1;
    if (!read_fields()) throw bad_input(path_ + ": holds no rows");
    if (fields_[0].starts_with(kByteOrderMark)) {
      fields_[0].erase(0, kByteOrderMark.size());
    }
    if (std::all_of(fields_.begin(), fields_.end(), is_number)) {
      number_columns();
      waiting_fields_ = true;
    } else {
      name_columns();
    }
    begin();
  }

 private:
  void number_columns() {
    const size_t count = fields_.size();
    const bool has_id = dimensions_ != 0 && count == dimensions_ + size_t{1};
    if (has_id) columns_.push_back({Column::kId, "id"});
    for (size_t i = 0; columns_.size() < count; ++i) {
      columns_.push_back({Column::kVectorValue, "", i});
    }
  }

  void name_columns() {
    size_t values = 0;
    size_t arrays = 0;
    std::set<std::string> names;
    for (const std::string& field : fields_) {
      if (!is_utf8(field)) throw bad_input(path_ + ": line 1: holds text that is not UTF-8");
      if (!names.insert(field).second) {
        throw bad_input(path_ + ": line 1: two columns have the name \"" + shown(field) + "\"");
      }
      columns_.push_back(name_column(field));
      values += columns_.back().role == Column::kVectorValue ? 1 : 0;
      arrays += columns_.back().role == Column::kVectorArray ? 1 : 0;
    }
    std::vector<bool> seen(values, false);
    for (const Column& column : columns_) {
      if (column.role != Column::kVectorValue) continue;
      if (column.place >= values || seen[column.place]) {
        throw bad_input(path_ + ": line 1: the columns v0 to v" + std::to_string(values - 1) +
                        " are expected, each once, but there is " + shown(column.name));
      }
      seen[column.place] = true;
    }
    if (values > 0 ? arrays > 0 : arrays != 1) {
      throw bad_input(path_ + ": line 1: expected the columns v0, v1, ... or one column vector");
    }
  }

  bool parse(TextRecord& record) override {
    record.line = start_line_ = line_;
    if (!waiting_fields_ && !read_fields()) return false;
    waiting_fields_ = false;
    record.line = start_line_;
    if (fields_.size() != columns_.size()) {
      throw std::invalid_argument("has " + std::to_string(fields_.size()) + " fields, expected " +
                                  std::to_string(columns_.size()));
    }
    std::string metadata;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = columns_[i];
      if (!is_utf8(fields_[i])) throw std::invalid_argument("holds text that is not UTF-8");
      switch (column.role) {
        case Column::kId: record.id = parse_id(fields_[i]); break;
        case Column::kVectorArray: read_array(fields_[i], record.vector); break;
        case Column::kVectorValue:
          record.vector.resize(std::max(record.vector.size(), column.place + 1));
          record.vector[column.place] = parse_float(fields_[i]);
          break;
        case Column::kMetadata:
          if (fields_[i].empty()) break;
          metadata += (metadata.empty() ? "{" : ",") + json_string(column.name) + ":" +
                      metadata_value(fields_[i]);
          break;
      }
    }
    if (!metadata.empty()) record.metadata = metadata + "}";
    return true;
  }

  // The next record's fields, blank lines passed over; false at the end of the file.
  bool read_fields() {
    while (true) {
      start_line_ = line_;
      if (!read_record()) return false;
      if (fields_.size() > 1 || !fields_[0].empty()) return true;
    }
  }

  bool read_record() {
    fields_.assign(1, "");
    bool quoted = false;
    bool any = false;
    for (int c = file_.get(); c != std::ifstream::traits_type::eof(); c = file_.get()) {
      any = true;
      if (c == '\n') ++line_;
      if (quoted) {
        if (c != '"') {
          fields_.back() += static_cast<char>(c);
        } else if (file_.peek() == '"') {
          fields_.back() += static_cast<char>(file_.get());
        } else {
          quoted = false;
        }
      } else if (c == '"' && fields_.back().empty()) {
        quoted = true;
      } else if (c == ',') {
        fields_.emplace_back();
      } else if (c == '\n') {
        if (fields_.back().ends_with('\r')) fields_.back().pop_back();
        return true;
      } else {
        fields_.back() += static_cast<char>(c);
      }
    }
    if (quoted) {
      throw bad_input(path_ + ": line " + std::to_string(start_line_) +
                      ": a quoted field is not closed");
    }
    return any;
  }

  std::vector<Column> columns_;
  std::vector<std::string> fields_;
  uint64_t line_ = 1;        // where the file stands
  uint64_t start_line_ = 1;  // where the record in fields_ begins
  bool waiting_fields_ = false;
};

}  // namespace

std::unique_ptr<Reader> open_csv(const ReaderOptions& options) {
  return std::make_unique<CsvReader>(options);
}

}  // namespace nearfield::cli
