// fvecs and bvecs: every row is its dimensions as an int32, then that many floats or bytes.
#include "failure.h"
#include "files.h"
#include "readers/fixed_rows.h"

namespace nearfield::cli {

std::unique_ptr<Reader> open_vecs(const ReaderOptions& options) {
  const uint64_t size = input_size(options.path);
  std::ifstream file = open_input(options.path);
  int32_t dimensions = 0;
  read_exactly(file, &dimensions, sizeof dimensions, options.path);
  if (dimensions < 0) {
    throw bad_input(options.path + ": row 0 claims " + std::to_string(dimensions) +
                    " dimensions; this is no fvecs or bvecs file");
  }
  check_dimensions(options.path, static_cast<uint64_t>(dimensions), options.dimensions);
  RowLayout layout;
  layout.dimensions = static_cast<uint32_t>(dimensions);
  layout.element = options.format == Format::kBvecs ? Element::kU8 : Element::kF32;
  layout.dimension_prefix = true;
  const uint64_t row_bytes = 4 + layout.dimensions * element_size(layout.element);
  if (size % row_bytes != 0) {
    throw bad_input(options.path + ": has " + std::to_string(size) +
                    " bytes, expected a multiple of " + std::to_string(row_bytes) + " (rows of " +
                    std::to_string(dimensions) + " dimensions)");
  }
  layout.rows = size / row_bytes;
  return std::make_unique<FixedRows>(options.path, layout);
}

}  // namespace nearfield::cli
