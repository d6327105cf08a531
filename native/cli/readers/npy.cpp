// npy: NumPy's array file, versions 1 to 3; two dimensions, C order, of <f4, <f8 or |u1.
#include <cctype>
#include <cstring>
#include <string_view>

#include "failure.h"
#include "files.h"
#include "readers/fixed_rows.h"
#include "text.h"

namespace nearfield::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint32_t kMaxHeader = 1 << 20;  // the dictionary has about a hundred bytes

// What stands after 'key': in the header's dictionary, up to the end of it.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = quote + std::string(key) + quote;
    const size_t at = dictionary.find(quoted);
    if (at == std::string_view::npos) continue;
    const size_t start = dictionary.find_first_not_of(" :", at + quoted.size());
    if (start != std::string_view::npos) return dictionary.substr(start);
  }
  return {};
}

Element parse_element(const std::string& path, std::string_view descr) {
  const std::string_view name = descr.size() < 5 ? descr : descr.substr(1, 3);
  if (name == "<f4") return Element::kF32;
  if (name == "<f8") return Element::kF64;
  if (name == "|u1") return Element::kU8;
  throw bad_input(path + ": holds elements of type " + shown(name) + ", expected <f4, <f8 or |u1");
}

// "(3, 4)" to 3 and 4.
bool parse_shape(std::string_view text, uint64_t& rows, uint64_t& dimensions) {
  uint64_t* const parts[] = {&rows, &dimensions};
  size_t part = 0;
  bool digits = false;
  if (!text.starts_with('(')) return false;
  for (const char c : text.substr(1)) {
    if (c == ')') return part == 1 && digits;
    if (c == ',') {
      if (++part == 2) return false;
      *parts[part] = 0;
      digits = false;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      if (*parts[part] > uint64_t{1} << 56) return false;
      digits = true;
      *parts[part] = *parts[part] * 10 + static_cast<uint64_t>(c - '0');
    } else if (c != ' ') {
      return false;
    }
  }
  return false;
}

}  // namespace

std::unique_ptr<Reader> open_npy(const ReaderOptions& options) {
  const std::string& path = options.path;
  const uint64_t size = input_size(path);
  std::ifstream file = open_input(path);
  char start[8];
  read_exactly(file, start, sizeof start, path);
  if (std::string_view(start, kMagic.size()) != kMagic || start[6] < 1 || start[6] > 3) {
    throw bad_input(path + ": is no npy file of version 1, 2 or 3");
  }
  uint32_t length = 0;
  const size_t length_bytes = start[6] == 1 ? 2 : 4;
  read_exactly(file, &length, length_bytes, path);
  if (length > kMaxHeader) throw bad_input(path + ": is no npy file, its header is too long");
  std::string dictionary(length, '\0');
  read_exactly(file, dictionary.data(), length, path);

  RowLayout layout;
  layout.header = sizeof start + length_bytes + length;
  layout.element = parse_element(path, value_of(dictionary, "descr"));
  if (!value_of(dictionary, "fortran_order").starts_with("False")) {
    throw bad_input(path + ": is in Fortran order, expected C order");
  }
  uint64_t dimensions = 0;
  if (!parse_shape(value_of(dictionary, "shape"), layout.rows, dimensions)) {
    throw bad_input(path + ": expected an array of two dimensions (rows, values)");
  }
  check_dimensions(path, dimensions, options.dimensions);
  layout.dimensions = static_cast<uint32_t>(dimensions);
  const uint64_t row_bytes = dimensions * element_size(layout.element);
  if ((size - layout.header) / row_bytes != layout.rows ||
      (size - layout.header) % row_bytes != 0) {
    throw bad_input(path + ": has " + std::to_string(size - layout.header) +
                    " bytes of data, expected " + std::to_string(layout.rows) + " rows of " +
                    std::to_string(row_bytes) + " bytes");
  }
  return std::make_unique<FixedRows>(path, layout);
}

}  // namespace nearfield::cli
