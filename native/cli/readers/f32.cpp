// f32: row-major little-endian floats, nothing else. The file does not tell the dimensions.
#include "failure.h"
#include "files.h"
#include "readers/fixed_rows.h"

namespace nearfield::cli {

std::unique_ptr<Reader> open_f32(const ReaderOptions& options) {
  const uint64_t size = input_size(options.path);
  if (options.dimensions == 0) {
    throw bad_input(options.path + ": an f32 file does not tell its dimensions; give --dimensions");
  }
  const uint64_t row_bytes = uint64_t{4} * options.dimensions;
  if (size % row_bytes != 0) {
    throw bad_input(options.path + ": has " + std::to_string(size) +
                    " bytes, expected a multiple of " + std::to_string(row_bytes) + " (4 bytes x " +
                    std::to_string(options.dimensions) + " dimensions)");
  }
  RowLayout layout;
  layout.rows = size / row_bytes;
  layout.dimensions = options.dimensions;
  return std::make_unique<FixedRows>(options.path, layout);
}

}  // namespace nearfield::cli
