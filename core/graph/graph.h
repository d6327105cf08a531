// Graph: who links to whom, and where a walk begins. Links only: no vectors, no levels.
//
// Every row in [0, rows()) has `degree` 32-bit places for the slots it links to, filled from the
// front and ended by kNoLink when not full. The seeds are rows from which a walk starts; they cover
// every island of the data, and every row can be reached from them.
// Invariants (check_graph): links are < rows(), never to oneself, without duplicates; every row is
// reachable from the seeds; the content depends on codes, options and the order of rows only.
// Threads: any number may read; one changes it while nobody reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "arena/block_array.h"
#include "arena/codes.h"
#include "kernels/kernels.h"
#include "nearfield/result.h"

namespace nearfield {

inline constexpr uint32_t kNoLink = 0xffffffff;

struct GraphOptions {
  uint32_t degree = 32;           // links a row: twice the user's m
  uint32_t ef_construction = 200;
  uint64_t seed = 1;
};

class Graph {
 public:
  Graph(uint32_t degree, unsigned block_shift) : links_(degree, block_shift) {}

  uint32_t degree() const { return static_cast<uint32_t>(links_.stride()); }
  uint32_t rows() const { return links_.rows(); }
  uint32_t* links(uint32_t slot) { return links_.row(slot); }
  const uint32_t* links(uint32_t slot) const { return links_.row(slot); }
  std::span<const uint32_t> seeds() const { return seeds_; }

  BlockArray<uint32_t>& link_blocks() { return links_; }
  const BlockArray<uint32_t>& link_blocks() const { return links_; }
  void set_seeds(std::vector<uint32_t> seeds) { seeds_ = std::move(seeds); }

 private:
  BlockArray<uint32_t> links_;
  std::vector<uint32_t> seeds_;
};

// What is wrong with a graph, a sentence each; empty when every invariant holds. At most
// `limit` sentences.
std::vector<std::string> check_graph(const Graph& graph, size_t limit = 20);

}  // namespace nearfield
