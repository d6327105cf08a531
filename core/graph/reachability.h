// Reachability: every row must be found from the seeds.
#pragma once

#include <cstdint>
#include <vector>

#include "arena/codes.h"
#include "graph/graph.h"
#include "graph/walk.h"
#include "kernels/kernels.h"

namespace nearfield {

// A bit for every row of a graph: whether it can be reached from where the marking began.
class ReachedRows {
 public:
  explicit ReachedRows(uint32_t rows) : bits_((size_t{rows} + 63) / 64) {}
  bool operator[](uint32_t slot) const { return (bits_[slot / 64] >> (slot % 64) & 1) != 0; }
  // Marks what can be reached from `slot` and returns how many rows are new. Links that point
  // outside the graph are passed over.
  uint32_t mark_from(const Graph& graph, uint32_t slot);

 private:
  std::vector<uint64_t> bits_;
  std::vector<uint32_t> stack_;
};

// Makes every row reachable that is not removed: a large part that is not becomes a seed's, a small
// one is linked from the nearest row that is reached and has room; when none near has, a link gives
// way whose target the same row also reaches through another. Takes the time of one pass over the
// links and of one walk for each part that was cut off. REQUIRES: seeds.
void restore_reachability(Graph& graph, const Codes& codes, const Kernels& kernels,
                          WalkScratch& scratch, uint64_t& distances);

}  // namespace nearfield
