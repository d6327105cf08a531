// Text from files and arguments: checked, and cut down to what an error line can show.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nearfield::cli {

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_utf8(std::string_view text);
// Every byte that is no part of UTF-8 becomes U+FFFD.
std::string to_utf8(std::string_view text);

// Control characters as \n, \t or \u00XX, and UTF-8 throughout.
std::string escape_controls(std::string_view text);
// For an error line: at most about 60 bytes, cut between characters and escaped.
std::string shown(std::string_view text);

// A JSON string, quotes included.
std::string json_string(std::string_view text);

// The fields of a JSON object: names as they stand between their quotes, and the text of values.
using JsonFields = std::vector<std::pair<std::string_view, std::string_view>>;

// The text of one JSON value, checked without recursion and with nothing changed: numbers keep
// their digits, \ud800 may stand alone. Blanks around the value are allowed.
class JsonText {
 public:
  explicit JsonText(std::string_view text);

  bool valid() const { return valid_; }
  size_t fault() const { return at_; }               // where it is not valid, from 0
  std::string_view value() const { return value_; }  // without the blanks around it
  bool is_object() const { return value_.starts_with('{'); }
  bool is_number() const;
  const JsonFields& fields() const { return fields_; }  // of an object, its outermost ones

 private:
  void skip_blanks();
  bool take(char c);
  bool scan();
  bool scan_string();
  bool scan_number();
  bool scan_digits();
  bool scan_scalar();

  std::string_view text_;
  std::string_view value_;
  JsonFields fields_;
  size_t at_ = 0;
  bool valid_ = false;
};

// What stands between the quotes of a JSON string, decoded; as it stands when it cannot be.
std::string decode_name(std::string_view raw);

}  // namespace nearfield::cli
