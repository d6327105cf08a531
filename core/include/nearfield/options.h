// What a caller chooses when a database is opened or a collection is created.
#pragma once

#include <cstdint>
#include <string>

#include "nearfield/result.h"
#include "nearfield/types.h"

namespace nearfield {

class ThreadPool;

inline constexpr uint32_t kMaxDimensions = 16384;  // integer code distances stay below 2^31
inline constexpr uint32_t kMaxM = 64;
inline constexpr uint32_t kMaxEfConstruction = 4096;
inline constexpr uint32_t kMaxRows = 0x7fffffff;  // slots are 31 bits: the walk marks with the last
inline constexpr size_t kMaxIdBytes = 1024;
inline constexpr size_t kMaxNameBytes = 255;
inline constexpr size_t kMaxMetadataBytes = 1'000'000;  // of one record

// Fixed when a collection is created and stored with it; opening it again with other values is
// kOptionsMismatch.
struct CollectionOptions {
  uint32_t dimensions = 0;  // 1..kMaxDimensions
  Metric metric = Metric::kCosine;
  RowType row_type = RowType::kF32;
  uint32_t m = 16;                 // links kept per row are 2 m; 2..kMaxM
  uint32_t ef_construction = 200;  // candidates considered while linking; m..kMaxEfConstruction
  uint64_t seed = 1;               // of every pseudo-random choice of the build
  friend bool operator==(const CollectionOptions&, const CollectionOptions&) = default;
};

// kInvalidArgument, naming the option and its range, when a value is outside it.
Result<void> validate(const CollectionOptions& options);

struct DatabaseOptions {
  bool create = true;          // make an empty database when the storage holds none
  bool read_only = false;      // every change is refused with kReadOnly
  ThreadPool* pool = nullptr;  // borrowed; null: everything runs on the calling thread
  std::string kernels =
      {};  // force a kernel set by name ("scalar", "avx2", ...); empty: the fastest
};

}  // namespace nearfield
