#include "graph/calibrate.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <vector>

#include "base/random.h"
#include "graph/sample.h"
#include "graph/walk.h"

namespace nearfield {
namespace {

constexpr uint32_t kQueries = 256;
constexpr uint32_t kRowsAQuery = 64;  // in small graphs, so that it stays a small part of a build
constexpr uint32_t kRank = 10;
constexpr uint32_t kLeast = 20;
// Under dot, squared distances contain the length that rows are lifted to, so that small parts of
// them matter.
constexpr std::array<uint16_t, 20> kLadder{8,   16,  24,  32,   48,   64,   96,   128,  192,  256,
                                           384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192};

// A row that plays a query, and the ten nearest other rows: what a long walk finds.
struct Probe {
  uint32_t row;
  EarlyStop stop;  // its slack is set walk by walk
  std::array<uint32_t, kRank> truth;
};

}  // namespace

SlackTable calibrate(const Graph& graph, const Codes& codes, const Kernels& kernels,
                     ThreadPool& pool, uint64_t seed, uint64_t& distances) {
  const uint32_t wanted = std::clamp(graph.rows() / kRowsAQuery, 1U, kQueries);
  std::vector<Probe> probes;
  for (const uint32_t row : sample_rows(graph, codes, mix64(seed ^ 0x51ac), wanted)) {
    probes.push_back({row, {kRank, kLeast, 0, codes.query_terms(codes.code(row))}, {}});
    probes.back().truth.fill(kNoLink);
  }

  std::vector<WalkScratch> scratch(pool.workers());
  std::atomic<uint64_t> computed = 0;
  // Calls take(probe, what a walk to it finds) for every probe.
  const auto walk_to_all = [&](std::optional<uint32_t> slack, auto take) {
    constexpr size_t kGrain = 8;
    pool.parallel_for(probes.size(), kGrain, [&](size_t begin, size_t end, unsigned worker) {
      uint64_t walked = 0;
      for (size_t i = begin; i < end; ++i) {
        Probe& probe = probes[i];
        WalkOptions options{.ef = kMostCandidates, .without = probe.row};
        if (slack) {
          probe.stop.slack = *slack;
          options.stop = probe.stop;
        }
        const auto found =
            walk(graph, codes, kernels, codes.code(probe.row), options, scratch[worker], walked);
        take(probe, found.first(std::min<size_t>(found.size(), kRank)));
      }
      computed += walked;
    });
  };

  std::atomic<uint64_t> all = 0;
  walk_to_all(std::nullopt, [&](Probe& probe, std::span<const Candidate> found) {
    for (size_t i = 0; i < found.size(); ++i) probe.truth[i] = found[i].slot;
    all += found.size();
  });

  // The table is persisted, so everything here is an integer, and as wide in wasm as natively.
  SlackTable table{.rows = graph.rows()};
  table.slack.fill(kLadder.back());
  size_t target = 0;
  uint64_t count_before = 0;
  uint64_t slack_before = 0;
  for (const uint32_t slack : kLadder) {
    std::atomic<uint64_t> count = 0;
    walk_to_all(slack, [&](const Probe& probe, std::span<const Candidate> found) {
      count += static_cast<uint64_t>(
          std::count_if(found.begin(), found.end(), [&](const Candidate& candidate) {
            return std::find(probe.truth.begin(), probe.truth.end(), candidate.slot) !=
                   probe.truth.end();
          }));
    });
    for (; target < SlackTable::kRecall.size(); ++target) {
      const uint64_t needed = SlackTable::kRecall[target] * all;  // thousandths of a row
      if (1000 * count < needed) break;
      const uint64_t risen = std::max<uint64_t>(1, 1000 * (count - count_before));
      const uint64_t part = needed - std::min(needed, 1000 * count_before);
      const uint64_t more = ((slack - slack_before) * part + risen - 1) / risen;
      table.slack[target] = static_cast<uint16_t>(slack_before + more);
    }
    if (target == SlackTable::kRecall.size()) break;
    count_before = std::max<uint64_t>(count_before, count);
    slack_before = slack;
  }
  distances += computed;
  return table;
}

}  // namespace nearfield
