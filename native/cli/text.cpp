#include "text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include <nlohmann/json.hpp>

namespace nearfield::cli {
namespace {

constexpr size_t kShownBytes = 60;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The bytes of the character that begins here; 0 when it is not UTF-8.
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) >= 0xa0;
  const bool beyond = first == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : size;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = character_bytes(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t size = character_bytes(text);
    result += size == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return result;
}

std::string escape_controls(std::string_view text) {
  std::string result;
  for (const char c : to_utf8(text)) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      result += code;
    } else {
      result += c;
    }
  }
  return result;
}

std::string shown(std::string_view text) {
  size_t end = 0;
  while (end < text.size()) {
    const size_t size = character_bytes(text.substr(end));
    const size_t next = end + (size == 0 ? 1 : size);
    if (next > kShownBytes) break;
    end = next;
  }
  return escape_controls(text.substr(0, end)) + (end < text.size() ? "…" : "");
}

std::string json_string(std::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string decode_name(std::string_view raw) {
  const auto value = nlohmann::json::parse('"' + std::string(raw) + '"', nullptr, false);
  return value.is_string() ? value.get<std::string>() : std::string(raw);
}

JsonText::JsonText(std::string_view text) : text_(text) {
  skip_blanks();
  const size_t begin = at_;
  if (!scan()) return;
  value_ = text_.substr(begin, at_ - begin);
  skip_blanks();
  valid_ = at_ == text_.size();
}

bool JsonText::is_number() const {
  return valid_ && (value_.front() == '-' || is_digit(value_.front()));
}

void JsonText::skip_blanks() {
  at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
}

bool JsonText::take(char c) {
  if (at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool JsonText::scan() {
  std::string open;  // the brackets that the place stands in
  std::string_view name;
  size_t begin = 0;  // of the value of an outermost field
  while (true) {
    // A value, which an object's name goes before.
    skip_blanks();
    bool closing = false;
    if (!open.empty() && (text_.substr(at_, 1) == "}" || text_.substr(at_, 1) == "]")) {
      // Only right after its opening bracket; after a comma it is a fault.
      size_t before = text_.find_last_not_of(" \t\r\n", at_ - 1);
      closing = text_[before] == open.back() && text_[before] != ',';
      if (!closing) return false;
    }
    if (!closing && !open.empty() && open.back() == '{') {
      const size_t start = at_ + 1;
      if (!scan_string()) return false;
      if (open.size() == 1) name = text_.substr(start, at_ - 1 - start);
      skip_blanks();
      if (!take(':')) return false;
      skip_blanks();
      if (open.size() == 1) begin = at_;
    }
    if (!closing) {
      const char c = at_ < text_.size() ? text_[at_] : '\0';
      if (c == '{' || c == '[') {
        open += c;
        ++at_;
        continue;
      }
      if (!scan_scalar()) return false;
    }
    // What follows a value: brackets that close, then a comma.
    while (true) {
      if (open.empty()) return true;
      if (!closing) {
        if (open == "{") fields_.emplace_back(name, text_.substr(begin, at_ - begin));
        skip_blanks();
        if (take(',')) break;
      }
      closing = false;
      if (!take(open.back() == '{' ? '}' : ']')) return false;
      open.pop_back();
    }
  }
}

bool JsonText::scan_scalar() {
  for (const std::string_view word : {"true", "false", "null"}) {
    if (text_.substr(at_, word.size()) == word) {
      at_ += word.size();
      return true;
    }
  }
  return text_.substr(at_, 1) == "\"" ? scan_string() : scan_number();
}

bool JsonText::scan_string() {
  if (!take('"')) return false;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return true;
    }
    if (static_cast<uint8_t>(c) < 0x20) return false;
    if (c != '\\') {
      const size_t size = character_bytes(text_.substr(at_));
      if (size == 0) return false;
      at_ += size;
      continue;
    }
    ++at_;
    if (take('u')) {
      for (int i = 0; i < 4; ++i, ++at_) {
        if (at_ == text_.size() || !is_hex(text_[at_])) return false;
      }
    } else if (at_ == text_.size() ||
               std::string_view("\"\\/bfnrt").find(text_[at_]) == std::string_view::npos) {
      return false;
    } else {
      ++at_;
    }
  }
  return false;
}

bool JsonText::scan_digits() {
  const size_t start = at_;
  while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  return at_ > start;
}

bool JsonText::scan_number() {
  take('-');
  if (!take('0') && !scan_digits()) return false;
  if (take('.') && !scan_digits()) return false;
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    return scan_digits();
  }
  return true;
}

}  // namespace nearfield::cli
