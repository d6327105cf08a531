#include <algorithm>
#include <string>

#include "graph/graph.h"
#include "graph/reachability.h"

namespace nearfield {

bool links_in_range(const Graph& graph, uint32_t slot) {
  const uint32_t* links = graph.links(slot);
  const uint32_t rows = graph.rows();
  bool bad = false;  // collected without branches: the pass costs what reading the links costs
  uint32_t before = slot;
  for (uint32_t i = 0; i < graph.degree(); ++i) {
    const uint32_t to = links[i];
    bad |= (to != kNoLink) & ((to >= rows) | (to == slot) | (before == kNoLink));
    before = to;
  }
  return !bad;
}

bool links_in_range(const Graph& graph) {
  const uint32_t rows = graph.rows();
  for (uint32_t slot = 0; slot < rows; ++slot) {
    if (!links_in_range(graph, slot)) return false;
  }
  const auto seeds = graph.seeds();
  if (rows > graph.removed().count() && seeds.empty()) return false;
  return std::all_of(seeds.begin(), seeds.end(), [&](uint32_t seed) { return seed < rows; });
}

std::vector<std::string> check_graph(const Graph& graph, size_t limit) {
  std::vector<std::string> problems;
  const uint32_t rows = graph.rows();
  const auto full = [&] { return problems.size() >= limit; };
  const auto report = [&](std::string sentence) {
    if (!full()) problems.push_back(std::move(sentence));
  };
  const auto name = [](uint32_t slot) { return "Row " + std::to_string(slot); };

  std::vector<uint32_t> sorted;
  for (uint32_t slot = 0; slot < rows && !full(); ++slot) {
    const uint32_t* links = graph.links(slot);
    const uint32_t* end = links + graph.degree();
    const uint32_t* used = std::find(links, end, kNoLink);
    sorted.assign(links, used);
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      report(name(slot) + " links twice to the same row.");
    }
    if (links_in_range(graph, slot)) continue;
    if (std::any_of(used, end, [](uint32_t to) { return to != kNoLink; })) {
      report(name(slot) + " has links behind an empty place.");
    }
    if (std::binary_search(sorted.begin(), sorted.end(), slot)) {
      report(name(slot) + " links to itself.");
    }
    if (!sorted.empty() && sorted.back() >= rows) {
      report(name(slot) + " links to row " + std::to_string(sorted.back()) + " of " +
             std::to_string(rows) + ".");
    }
  }

  const auto seeds = graph.seeds();
  if (rows > graph.removed().count() && seeds.empty()) report("There are no seeds.");
  for (const uint32_t seed : seeds) {
    if (seed >= rows) report("Seed " + std::to_string(seed) + " is outside the graph.");
  }
  ReachedRows reached(rows);
  for (const uint32_t seed : seeds) reached.mark_from(graph, seed);
  for (uint32_t slot = 0; slot < rows && !full(); ++slot) {
    const bool removed = graph.removed().contains(slot);
    if (removed && !graph.linked(slot).empty()) report(name(slot) + " is removed and has links.");
    if (removed && reached[slot]) report(name(slot) + " is removed and can be reached.");
    if (!removed && !reached[slot]) report(name(slot) + " cannot be reached from the seeds.");
  }
  return problems;
}

}  // namespace nearfield
