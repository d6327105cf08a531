#include "graph/sample.h"

#include <algorithm>

#include "base/random.h"
#include "graph/duplicates.h"

namespace nearfield {

std::vector<uint32_t> sample_rows(const Graph& graph, const Codes& codes, uint64_t seed,
                                  uint32_t count) {
  std::vector<uint32_t> sample;
  sample.reserve(count);
  const uint64_t rows = graph.rows();
  for (uint32_t i = 0; i < count; ++i) {
    const auto begin = static_cast<uint32_t>(rows * i / count);
    const auto end = static_cast<uint32_t>(rows * (i + 1) / count);
    uint32_t row = begin + random_below(seed, i, end - begin);
    for (uint32_t j = begin; j < end && graph.removed().contains(row); ++j) {
      row = row + 1 < end ? row + 1 : begin;
    }
    if (graph.removed().contains(row)) continue;
    sample.push_back(is_copy(graph, codes, row) ? graph.links(row)[0] : row);
  }
  std::sort(sample.begin(), sample.end());
  sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
  return sample;
}

}  // namespace nearfield
