// DataSet: what bench/datasets/prepare.mjs prepared. Every function here throws std::runtime_error.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

// Row-major vectors that stand somewhere else.
struct RowsView {
  const float* data = nullptr;
  size_t count = 0;
  size_t dimensions = 0;

  const float* row(size_t i) const { return data + i * dimensions; }
};

struct DataSet {
  std::string prefix;  // of its files
  std::string metric;  // "cosine", "l2" or "dot"
  size_t dimensions = 0;
  size_t rows = 0;
  size_t queries = 0;
};

// Reads the description alone.
DataSet read_set(const std::string& folder, const std::string& name);
std::vector<float> read_base(const DataSet& set);
std::vector<float> read_queries(const DataSet& set);

}  // namespace bench
