// The reader of every format whose rows all take the same number of bytes: f32, fvecs, bvecs, npy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "readers/reader.h"

namespace nearfield::cli {

enum class Element { kU8, kF32, kF64 };

size_t element_size(Element element);

struct RowLayout {
  uint64_t header = 0;  // bytes before the first row
  uint64_t rows = 0;
  uint32_t dimensions = 0;
  Element element = Element::kF32;
  bool dimension_prefix = false;  // every row begins with its dimensions as an int32
};

class FixedRows final : public Reader {
 public:
  FixedRows(std::string path, const RowLayout& layout);

  uint32_t dimensions() const override { return layout_.dimensions; }
  bool next(Rows& rows, size_t limit) override;
  double share_read() const override;

 private:
  void unpack(const std::byte* bytes, float* row, uint64_t number) const;

  std::string path_;
  RowLayout layout_;
  size_t row_bytes_;
  std::ifstream file_;
  uint64_t done_ = 0;  // rows
  std::vector<std::byte> bytes_;
};

}  // namespace nearfield::cli
