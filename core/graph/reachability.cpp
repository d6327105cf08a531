#include "graph/reachability.h"

#include <algorithm>

#include "graph/duplicates.h"
#include "graph/seeds.h"

namespace nearfield {
namespace {

constexpr uint32_t kEf = 64;           // rows that may take a cut-off part
constexpr uint32_t kLargePart = 64;    // rows from which a part gets a seed
constexpr size_t kMaxPartSeeds = 256;  // by which a search may get slower

bool links_to(const Graph& graph, uint32_t from, uint32_t to) {
  const auto links = graph.linked(from);
  return std::find(links.begin(), links.end(), to) != links.end();
}

// The place in a row's links that can be given away: its target is also linked by another of the
// row's targets, and it does not lead to the row's copies. `degree` when there is none.
uint32_t spare_place(const Graph& graph, const Codes& codes, uint32_t row) {
  const auto links = graph.linked(row);
  for (size_t i = links.size(); i-- > 0;) {
    const auto leads_there = [&](uint32_t via) {
      return via != links[i] && links_to(graph, via, links[i]);
    };
    if (std::any_of(links.begin(), links.end(), leads_there) && !same_code(codes, row, links[i])) {
      return static_cast<uint32_t>(i);
    }
  }
  return graph.degree();
}

// Links `row` from the nearest row that is reached, if one of the near ones can take it.
bool attach(Graph& graph, const Codes& codes, const Kernels& kernels, uint32_t row,
            WalkScratch& scratch, uint64_t& distances) {
  const auto near = walk_to_link(graph, codes, kernels, row, kEf, scratch, distances);
  for (const Candidate& host : near) {
    const size_t used = graph.linked(host.slot).size();
    if (used == graph.degree()) continue;
    graph.links(host.slot)[used] = row;
    return true;
  }
  for (const Candidate& host : near) {
    const uint32_t place = spare_place(graph, codes, host.slot);
    if (place == graph.degree()) continue;
    graph.links(host.slot)[place] = row;
    return true;
  }
  return false;
}

}  // namespace

uint32_t ReachedRows::mark_from(const Graph& graph, uint32_t slot) {
  uint32_t marked = 0;
  const auto visit = [&](uint32_t row) {
    if (row >= graph.rows() || (*this)[row]) return;
    bits_[row / 64] |= uint64_t{1} << (row % 64);
    stack_.push_back(row);
    ++marked;
  };
  visit(slot);
  while (!stack_.empty()) {
    const uint32_t row = stack_.back();
    stack_.pop_back();
    for (const uint32_t to : graph.linked(row)) visit(to);
  }
  return marked;
}

void restore_reachability(Graph& graph, const Codes& codes, const Kernels& kernels,
                          WalkScratch& scratch, uint64_t& distances) {
  const uint32_t rows = graph.rows();
  ReachedRows reached(rows);
  uint32_t count = graph.removed().count();
  for (const uint32_t seed : graph.seeds()) count += reached.mark_from(graph, seed);
  size_t part_seeds = 0;
  for (uint32_t row = 0; row < rows && count < rows; ++row) {
    if (reached[row] || graph.removed().contains(row)) continue;
    const uint32_t part = reached.mark_from(graph, row);
    count += part;
    const bool large = part >= kLargePart && part_seeds < kMaxPartSeeds;
    if (large || !attach(graph, codes, kernels, row, scratch, distances)) {
      add_centre(graph, row);
      ++part_seeds;
    }
  }
}

}  // namespace nearfield
