#include "readers/reader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>

#include "failure.h"
#include "nearfield/options.h"

namespace nearfield::cli {
namespace {

struct FormatName {
  const char* name;
  Format format;
};

constexpr FormatName kNames[] = {
    {"f32", Format::kF32},     {"fvecs", Format::kFvecs},  {"bvecs", Format::kBvecs},
    {"npy", Format::kNpy},     {"hdf5", Format::kHdf5},    {"h5", Format::kHdf5},
    {"jsonl", Format::kJsonl}, {"ndjson", Format::kJsonl}, {"csv", Format::kCsv},
};

std::optional<Format> find_format(const std::string& name) {
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const FormatName& entry) { return entry.name == name; });
  if (found == std::end(kNames)) return std::nullopt;
  return found->format;
}

}  // namespace

void Rows::clear() {
  count = 0;
  vectors.clear();
  ids.clear();
  metadata.clear();
}

Format choose_format(const std::string& name, const std::string& path) {
  if (!name.empty()) {
    if (const auto format = find_format(name)) return *format;
    throw bad_input("unknown format \"" + name + "\", expected " + kFormatNames);
  }
  std::string extension = std::filesystem::path(path).extension().string();
  if (!extension.empty()) extension.erase(0, 1);
  if (const auto format = find_format(extension)) return *format;
  throw bad_input(path + ": its name does not tell the format; give --format " + kFormatNames);
}

std::unique_ptr<Reader> open_reader(const ReaderOptions& options) {
  switch (options.format) {
    case Format::kF32: return open_f32(options);
    case Format::kFvecs:
    case Format::kBvecs: return open_vecs(options);
    case Format::kNpy: return open_npy(options);
    case Format::kHdf5: return open_hdf5(options);
    case Format::kJsonl: return open_jsonl(options);
    case Format::kCsv: return open_csv(options);
  }
  throw bad_input("unknown format");
}

size_t batch_rows(uint32_t dimensions) {
  constexpr size_t kBatchFloats = size_t{4} << 20;
  return std::clamp<size_t>(kBatchFloats / dimensions, 1, 1 << 16);
}

void check_dimensions(const std::string& path, uint64_t found, uint32_t expected) {
  if (expected != 0 && found != expected) {
    throw bad_input(path + ": its rows have " + std::to_string(found) + " dimensions, expected " +
                    std::to_string(expected));
  }
  if (found == 0 || found > kMaxDimensions) {
    throw bad_input(path + ": its rows have " + std::to_string(found) +
                    " dimensions, expected 1 to " + std::to_string(kMaxDimensions));
  }
}

void check_finite(const std::string& path, uint64_t first_row, const Rows& rows,
                  uint32_t dimensions) {
  for (size_t i = 0; i < rows.count * dimensions; ++i) {
    if (std::isfinite(rows.vectors[i])) continue;
    throw bad_input(path + ": row " + std::to_string(first_row + i / dimensions) + ": value " +
                    std::to_string(i % dimensions) + " is " + std::to_string(rows.vectors[i]) +
                    ", expected a finite number");
  }
}

}  // namespace nearfield::cli
