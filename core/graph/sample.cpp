#include "graph/sample.h"

#include <algorithm>

#include "base/random.h"
#include "graph/duplicates.h"

namespace nearfield {

std::vector<uint32_t> sample_rows(const Graph& graph, const Codes& codes, uint64_t seed,
                                  uint32_t count) {
  std::vector<uint32_t> sample(count);
  const uint64_t rows = graph.rows();
  for (uint32_t i = 0; i < count; ++i) {
    const auto begin = static_cast<uint32_t>(rows * i / count);
    const auto end = static_cast<uint32_t>(rows * (i + 1) / count);
    sample[i] = begin + random_below(seed, i, end - begin);
    if (is_copy(graph, codes, sample[i])) sample[i] = graph.links(sample[i])[0];
  }
  std::sort(sample.begin(), sample.end());
  sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
  return sample;
}

}  // namespace nearfield
