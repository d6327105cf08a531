#include "readers/fixed_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "failure.h"
#include "files.h"

namespace nearfield::cli {

static_assert(std::endian::native == std::endian::little, "the formats are little-endian");

size_t element_size(Element element) {
  switch (element) {
    case Element::kU8: return 1;
    case Element::kF32: return 4;
    case Element::kF64: return 8;
  }
  return 0;
}

FixedRows::FixedRows(std::string path, const RowLayout& layout)
    : path_(std::move(path)),
      layout_(layout),
      row_bytes_(layout.dimensions * element_size(layout.element) +
                 (layout.dimension_prefix ? sizeof(int32_t) : 0)),
      file_(open_input(path_)) {
  file_.seekg(static_cast<std::streamoff>(layout_.header));
}

bool FixedRows::next(Rows& rows, size_t limit) {
  rows.clear();
  const size_t count = std::min<uint64_t>(limit, layout_.rows - done_);
  if (count == 0) return false;
  rows.count = count;
  rows.vectors.resize(count * layout_.dimensions);
  if (layout_.element == Element::kF32 && !layout_.dimension_prefix) {
    read_exactly(file_, rows.vectors.data(), count * row_bytes_, path_);
  } else {
    bytes_.resize(count * row_bytes_);
    read_exactly(file_, bytes_.data(), bytes_.size(), path_);
    for (size_t i = 0; i < count; ++i) {
      unpack(&bytes_[i * row_bytes_], &rows.vectors[i * layout_.dimensions], done_ + i);
    }
  }
  check_finite(path_, done_, rows, layout_.dimensions);
  done_ += count;
  return true;
}

double FixedRows::share_read() const {
  return layout_.rows == 0 ? 1.0 : static_cast<double>(done_) / static_cast<double>(layout_.rows);
}

void FixedRows::unpack(const std::byte* bytes, float* row, uint64_t number) const {
  if (layout_.dimension_prefix) {
    int32_t dimensions;
    std::memcpy(&dimensions, bytes, sizeof dimensions);
    if (static_cast<uint32_t>(dimensions) != layout_.dimensions) {
      throw bad_input(path_ + ": row " + std::to_string(number) + " has " +
                      std::to_string(dimensions) + " dimensions, expected " +
                      std::to_string(layout_.dimensions));
    }
    bytes += sizeof dimensions;
  }
  for (uint32_t i = 0; i < layout_.dimensions; ++i) {
    switch (layout_.element) {
      case Element::kU8: row[i] = static_cast<float>(std::to_integer<uint8_t>(bytes[i])); break;
      case Element::kF32: std::memcpy(&row[i], bytes + 4 * i, 4); break;
      case Element::kF64: {
        double value;
        std::memcpy(&value, bytes + 8 * i, 8);
        row[i] = static_cast<float>(value);
        break;
      }
    }
  }
}

}  // namespace nearfield::cli
