// Reader: rows out of a file of any format, batch by batch. Every reader checks what it reads (row
// lengths, finite values, ids) and throws a Failure that names the file and the row or line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nearfield/types.h"

namespace nearfield::cli {

struct Rows {
  size_t count = 0;
  std::vector<float> vectors;         // row-major
  std::vector<Id> ids;                // one a row; empty when the file has none
  std::vector<std::string> metadata;  // JSON text, one a row; empty when the file has none

  void clear();
};

class Reader {
 public:
  virtual ~Reader() = default;
  virtual uint32_t dimensions() const = 0;
  // Replaces `rows` with the next rows, at most `limit`; false at the end of the file.
  virtual bool next(Rows& rows, size_t limit) = 0;
  virtual double share_read() const = 0;  // of the file, 0..1
};

enum class Format { kF32, kFvecs, kBvecs, kNpy, kHdf5, kJsonl, kCsv };

inline constexpr const char* kFormatNames = "f32, fvecs, bvecs, npy, hdf5, jsonl or csv";

// By name, or by the file's extension when the name is empty.
Format choose_format(const std::string& name, const std::string& path);

struct ReaderOptions {
  std::string path;
  Format format = Format::kF32;
  uint32_t dimensions = 0;  // what the rows must have; 0: as the file says
  std::string dataset;      // within an HDF5 file
};

std::unique_ptr<Reader> open_reader(const ReaderOptions& options);

// How many rows of these dimensions make a batch of a few MiB.
size_t batch_rows(uint32_t dimensions);

// The readers themselves; open_reader() chooses among them.
std::unique_ptr<Reader> open_f32(const ReaderOptions& options);
std::unique_ptr<Reader> open_vecs(const ReaderOptions& options);  // fvecs and bvecs
std::unique_ptr<Reader> open_npy(const ReaderOptions& options);
std::unique_ptr<Reader> open_hdf5(const ReaderOptions& options);
std::unique_ptr<Reader> open_jsonl(const ReaderOptions& options);
std::unique_ptr<Reader> open_csv(const ReaderOptions& options);

// Throws a Failure unless `found` is what is expected (0: anything possible).
void check_dimensions(const std::string& path, uint64_t found, uint32_t expected);
// Throws a Failure that names the first row with a value that is not finite.
void check_finite(const std::string& path, uint64_t first_row, const Rows& rows,
                  uint32_t dimensions);

}  // namespace nearfield::cli
