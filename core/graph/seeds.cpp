#include "graph/seeds.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <vector>

#include "base/random.h"
#include "graph/duplicates.h"
#include "graph/sample.h"

namespace nearfield {
namespace {

constexpr uint32_t kSeeds = 256;
constexpr uint32_t kRowsASeed = 16;  // in small graphs
constexpr uint32_t kUngrouped = 48;  // as many are scored one by one
constexpr uint32_t kCentres = 32;
constexpr ptrdiff_t kGroupsASeed = 3;  // that a seed belongs to
constexpr uint32_t kProbes = 8192;
constexpr uint32_t kProbeEf = 16;
constexpr uint32_t kMaxProbeCentres = 64;  // by which a search may get slower

int32_t distance(const Codes& codes, const Kernels& kernels, uint32_t a, uint32_t b) {
  return codes.build_distance(a, b, kernels.dot_u7(codes.code(a), codes.code(b), codes.stride()));
}

// Whether a walk to a row ends at least as near to it as half of its links are.
bool is_found(const Graph& graph, const Codes& codes, const Kernels& kernels, uint32_t row,
              WalkScratch& scratch, uint64_t& distances) {
  const auto found = walk_to_link(graph, codes, kernels, row, kProbeEf, scratch, distances);
  if (found.empty()) return false;
  if (found[0].slot == row) return true;
  std::vector<int32_t> to_links;
  for (const uint32_t to : graph.linked(row)) {
    to_links.push_back(distance(codes, kernels, row, to));
  }
  distances += to_links.size();
  if (to_links.empty()) return false;
  const auto middle = to_links.begin() + static_cast<ptrdiff_t>(to_links.size() / 2);
  std::nth_element(to_links.begin(), middle, to_links.end());
  return found[0].distance <= *middle;
}

}  // namespace

void choose_seeds(Graph& graph, const Codes& codes, const Kernels& kernels, uint64_t seed,
                  uint64_t& distances) {
  const uint32_t wanted = std::min(kSeeds, (graph.rows() + kRowsASeed - 1) / kRowsASeed);
  std::vector<uint32_t> seeds = sample_rows(graph, codes, mix64(seed ^ 0x5eed), wanted);
  if (seeds.size() <= kUngrouped) {
    graph.set_seeds(std::move(seeds));
    return;
  }
  // Each centre is the seed farthest from the centres before.
  struct Group {
    uint32_t centre;
    std::vector<uint32_t> members;
  };
  std::vector<Group> groups;
  std::vector<Candidate> memberships(seeds.size() * kCentres, {INT_MAX, 0});  // a row for each seed
  std::vector<int32_t> to_centre(seeds.size(), INT_MAX);
  size_t centre = 0;
  while (groups.size() < kCentres && to_centre[centre] > 0) {
    const auto group = static_cast<uint32_t>(groups.size());
    groups.push_back({seeds[centre], {}});
    for (size_t i = 0; i < seeds.size(); ++i) {
      const int32_t d = i == centre ? 0 : distance(codes, kernels, seeds[i], seeds[centre]);
      memberships[i * kCentres + group] = {d, group};
      to_centre[i] = std::min(to_centre[i], d);
    }
    distances += seeds.size();
    const auto farthest = std::max_element(to_centre.begin(), to_centre.end());
    centre = static_cast<size_t>(farthest - to_centre.begin());
  }
  // In many dimensions the nearest centre of a seed need not be that of a query beside it; among
  // the nearest few of both there is almost always one in common.
  for (size_t i = 0; i < seeds.size(); ++i) {
    if (to_centre[i] == 0) continue;
    const auto row = memberships.begin() + static_cast<ptrdiff_t>(i * kCentres);
    std::partial_sort(row, row + kGroupsASeed, row + kCentres);
    for (size_t k = 0; k < std::min<size_t>(kGroupsASeed, groups.size()); ++k) {
      groups[row[static_cast<ptrdiff_t>(k)].slot].members.push_back(seeds[i]);
    }
  }
  std::vector<uint32_t> ordered;
  std::vector<uint32_t> starts;
  for (const Group& group : groups) {
    starts.push_back(static_cast<uint32_t>(ordered.size()));
    ordered.push_back(group.centre);
    ordered.insert(ordered.end(), group.members.begin(), group.members.end());
  }
  starts.push_back(static_cast<uint32_t>(ordered.size()));
  graph.set_seeds(std::move(ordered), std::move(starts));
}

void add_centre(Graph& graph, uint32_t slot) {
  std::vector<uint32_t> seeds(graph.seeds().begin(), graph.seeds().end());
  std::vector<uint32_t> starts(graph.group_starts().begin(), graph.group_starts().end());
  seeds.push_back(slot);
  if (!starts.empty()) starts.push_back(static_cast<uint32_t>(seeds.size()));
  graph.set_seeds(std::move(seeds), std::move(starts));
}

void probe_seeds(Graph& graph, const Codes& codes, const Kernels& kernels, ThreadPool& pool,
                 uint64_t seed, uint64_t& distances) {
  const uint32_t wanted = std::min(kProbes, graph.rows());
  const std::vector<uint32_t> probes = sample_rows(graph, codes, mix64(seed ^ 0x9806e), wanted);
  std::vector<WalkScratch> scratch(pool.workers());
  std::vector<uint8_t> lost(probes.size(), 0);
  std::atomic<uint64_t> computed = 0;
  pool.parallel_for(probes.size(), 32, [&](size_t begin, size_t end, unsigned worker) {
    uint64_t walked = 0;
    for (size_t i = begin; i < end; ++i) {
      lost[i] = !is_found(graph, codes, kernels, probes[i], scratch[worker], walked);
    }
    computed += walked;
  });
  distances += computed;
  // One by one: the centre that one becomes may be what another lacked. A seed that is lost is in
  // groups that are not scored, and becomes a centre as well.
  uint32_t added = 0;
  for (size_t i = 0; i < probes.size() && added < kMaxProbeCentres; ++i) {
    if (lost[i] == 0) continue;
    if (is_found(graph, codes, kernels, probes[i], scratch[0], distances)) continue;
    add_centre(graph, probes[i]);
    ++added;
  }
}

}  // namespace nearfield
