// What the tests of collections share: made-up vectors, an exact answer in double precision,
// and ways to say what is expected.
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/half.h"
#include "base/random.h"
#include "nearfield/database.h"
#include "support/borrowed_storage.h"

namespace nearfield::test {

// The value of a Result, or a failed test that says why.
template <class T>
T expect(Result<T> result) {
  if (!result.ok()) FAIL(error_code_name(result.error().code) << ": " << result.error().detail);
  return std::move(result).value();
}
inline void expect(Result<void> result) {
  if (!result.ok()) FAIL(error_code_name(result.error().code) << ": " << result.error().detail);
}

inline constexpr Metric kMetrics[] = {Metric::kCosine, Metric::kL2, Metric::kDot};
inline constexpr RowType kRowTypes[] = {RowType::kF32, RowType::kF16};

// The values as a collection of this row type keeps them.
inline std::vector<float> as_kept(std::vector<float> values, RowType row_type) {
  if (row_type == RowType::kF16) {
    std::transform(values.begin(), values.end(), values.begin(),
                   [](float value) { return from_half(to_half(value)); });
  }
  return values;
}

inline std::unique_ptr<Database> open(Storage& storage, DatabaseOptions options = {}) {
  return expect(Database::open(std::make_unique<BorrowedStorage>(storage), options));
}

// Uniform in [-1, 1): row `i` of the set `seed`.
inline std::vector<float> random_vectors(uint64_t seed, uint32_t rows, uint32_t dimensions,
                                         uint32_t first = 0) {
  std::vector<float> values(size_t{rows} * dimensions);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t drawn = random_at(seed, i + size_t{first} * dimensions) >> 40;
    values[i] = static_cast<float>(drawn) / 8388608.0F - 1.0F;
  }
  return values;
}

// `centres` clusters whose rows differ from their centre by `noise` of its size: what embeddings
// look like, roughly. Row i belongs to cluster i % centres.
inline std::vector<float> clustered_vectors(uint64_t seed, uint32_t rows, uint32_t dimensions,
                                            uint32_t centres, float noise) {
  const auto middle = random_vectors(seed, centres, dimensions);
  auto values = random_vectors(seed + 1, rows, dimensions);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t row = i / dimensions;
    values[i] = middle[row % centres * dimensions + i % dimensions] + noise * values[i];
  }
  return values;
}

inline double exact_distance(Metric metric, const float* a, const float* b, uint32_t dimensions) {
  double dot = 0;
  double squares = 0;
  double aa = 0;
  double bb = 0;
  for (uint32_t i = 0; i < dimensions; ++i) {
    const double x = a[i];
    const double y = b[i];
    dot += x * y;
    squares += (x - y) * (x - y);
    aa += x * x;
    bb += y * y;
  }
  switch (metric) {
    case Metric::kCosine: return aa == 0 || bb == 0 ? 1 : 1 - dot / std::sqrt(aa * bb);
    case Metric::kL2: return squares;
    case Metric::kDot: return -dot;
  }
  return 0;
}

inline std::vector<IdView> numbers(uint32_t rows, int64_t first = 0) {
  std::vector<IdView> ids;
  for (uint32_t i = 0; i < rows; ++i) ids.emplace_back(first + i);
  return ids;
}

inline void link_all(Collection& collection) {
  while (!expect(collection.link(0)).finished()) {
  }
}

// The ids of an answer, which must be integers.
inline std::vector<int64_t> ids_of(const Collection& collection, const std::vector<Hit>& hits) {
  std::vector<int64_t> ids;
  for (const Hit& hit : hits) {
    REQUIRE_FALSE(collection.id_at(hit.slot).is_text());
    ids.push_back(collection.id_at(hit.slot).number());
  }
  return ids;
}

inline std::vector<int64_t> nearest_ids(const Collection& collection, std::span<const float> query,
                                        uint32_t k, std::optional<uint32_t> ef = {},
                                        bool exact = false) {
  SearchScratch scratch;
  return ids_of(collection,
                expect(collection.search(query, {.k = k, .ef = ef, .exact = exact}, scratch)));
}

}  // namespace nearfield::test
