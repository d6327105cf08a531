#include "readers/text_rows.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "failure.h"
#include "files.h"
#include "text.h"

namespace nearfield::cli {
namespace {

constexpr size_t kBatchTextBytes = size_t{32} << 20;  // of metadata and ids

}  // namespace

TextRows::TextRows(const ReaderOptions& options)
    : path_(options.path),
      file_(open_input(options.path)),
      dimensions_(options.dimensions),
      size_(input_size(options.path)) {}

void TextRows::begin() {
  waiting_ = advance();
  if (!waiting_) throw bad_input(path_ + ": holds no rows");
  has_ids_ = record_.id.has_value();
}

bool TextRows::advance() {
  record_.vector.clear();
  record_.id.reset();
  record_.metadata.clear();
  try {
    if (!parse(record_)) {
      if (file_.bad()) throw failed(path_ + ": reading failed");
      return false;
    }
    if (dimensions_ == 0) {
      check_dimensions(path_, record_.vector.size(), 0);
      dimensions_ = static_cast<uint32_t>(record_.vector.size());
    }
    if (record_.vector.size() != dimensions_) {
      throw std::invalid_argument("the vector has " + std::to_string(record_.vector.size()) +
                                  " values, expected " + std::to_string(dimensions_));
    }
  } catch (const std::invalid_argument& error) {
    throw bad_input(path_ + ": line " + std::to_string(record_.line) + ": " + error.what());
  }
  return true;
}

bool TextRows::next(Rows& rows, size_t limit) {
  rows.clear();
  size_t text_bytes = 0;
  while (rows.count < limit && text_bytes < kBatchTextBytes) {
    if (!waiting_ && !advance()) break;
    waiting_ = false;
    if (record_.id.has_value() != has_ids_) {
      throw bad_input(path_ + ": line " + std::to_string(record_.line) +
                      (has_ids_ ? ": has no id, but the lines before have one"
                                : ": has an id, but the lines before have none"));
    }
    rows.vectors.insert(rows.vectors.end(), record_.vector.begin(), record_.vector.end());
    if (has_ids_) rows.ids.push_back(std::move(*record_.id));
    text_bytes += record_.metadata.size();
    has_metadata_ |= !record_.metadata.empty();
    rows.metadata.push_back(std::move(record_.metadata));
    ++rows.count;
  }
  if (!has_metadata_) rows.metadata.clear();
  if (file_.good()) read_ = static_cast<uint64_t>(file_.tellg());
  return rows.count > 0;
}

double TextRows::share_read() const {
  return !file_.good() ? 1.0 : static_cast<double>(read_) / static_cast<double>(size_);
}

float to_float(double value) {
  const float narrowed = static_cast<float>(value);
  if (!std::isfinite(narrowed)) {
    throw std::invalid_argument(std::to_string(value) + " is no finite 32-bit float");
  }
  return narrowed;
}

float parse_float(std::string_view text) {
  const std::string_view space = " \t";
  const size_t first = text.find_first_not_of(space);
  std::string_view trimmed = first == std::string_view::npos ? "" : text.substr(first);
  trimmed = trimmed.substr(0, trimmed.find_last_not_of(space) + 1);
  double value = 0;
  const auto parsed = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value);
  if (parsed.ptr != trimmed.data() + trimmed.size() || parsed.ec == std::errc::invalid_argument) {
    throw std::invalid_argument("\"" + shown(text) +
                                "\" is no number; every value of a vector is one");
  }
  // Too small or too large for from_chars, which then leaves the value alone.
  if (parsed.ec != std::errc()) value = std::strtod(std::string(trimmed).c_str(), nullptr);
  return to_float(value);
}

}  // namespace nearfield::cli
