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

}  // namespace

void Calibration::Probe::set_truth(std::span<const Candidate> found) {
  const auto copies = std::find_if(found.begin(), found.end(), [&](const Candidate& candidate) {
    return stop.query.offset + candidate.distance > 0;
  });
  stop.rank = static_cast<uint32_t>(copies - found.begin()) + kRank;
  stop.least = std::max(kLeast, stop.rank);
  for (auto near = copies; near != found.end() && truth.size() < kRank; ++near) {
    truth.push_back(near->slot);
  }
}

uint64_t Calibration::Probe::count(std::span<const Candidate> found) const {
  const auto nearest = found.first(std::min<size_t>(found.size(), stop.rank));
  return static_cast<uint64_t>(
      std::count_if(nearest.begin(), nearest.end(), [&](const Candidate& candidate) {
        return std::find(truth.begin(), truth.end(), candidate.slot) != truth.end();
      }));
}

Calibration::Calibration(const Graph& graph, const Codes& codes, const Kernels& kernels,
                         ThreadPool& pool, uint64_t seed)
    : graph_(graph),
      codes_(codes),
      kernels_(kernels),
      pool_(pool),
      scratch_(pool.workers()),
      table_{.rows = graph.rows()} {
  table_.slack.fill(kLadder.back());
  const uint32_t wanted = std::clamp(graph.rows() / kRowsAQuery, 1U, kQueries);
  for (const uint32_t row : sample_rows(graph, codes, mix64(seed ^ 0x51ac), wanted)) {
    probes_.push_back({row, {kRank, kLeast, 0, codes.query_terms(codes.code(row))}, {}});
  }
}

bool Calibration::step() {
  if (knows_truth_) {
    count_found(kLadder[rung_]);
  } else {
    find_truth();
  }
  if (walked_ < probes_.size()) return false;
  walked_ = 0;
  if (!knows_truth_) {
    knows_truth_ = true;
    for (const Probe& probe : probes_) all_ += probe.truth.size();
    return all_ == 0;  // nothing but copies
  }
  climb(kLadder[rung_]);
  return ++rung_ == kLadder.size() || target_ == SlackTable::kRecall.size();
}

// Calls take(probe, what a walk to it finds) for the next probes.
template <class Take>
void Calibration::walk_to_some(std::optional<uint32_t> slack, Take take) {
  constexpr size_t kGrain = 4;
  const size_t first = walked_;
  walked_ = std::min(probes_.size(), first + kGrain * pool_.workers());
  std::atomic<uint64_t> computed = 0;
  pool_.parallel_for(walked_ - first, kGrain, [&](size_t begin, size_t end, unsigned worker) {
    uint64_t walked = 0;
    for (size_t i = begin; i < end; ++i) {
      Probe& probe = probes_[first + i];
      WalkOptions options{.ef = kMostCandidates, .without = probe.row};
      if (slack) {
        options.stop = probe.stop;
        options.stop->slack = *slack;
      }
      take(probe, walk(graph_, codes_, kernels_, codes_.code(probe.row), options, scratch_[worker],
                       walked));
    }
    computed += walked;
  });
  distances_ += computed;
}

void Calibration::find_truth() {
  walk_to_some(std::nullopt,
               [](Probe& probe, std::span<const Candidate> found) { probe.set_truth(found); });
}

void Calibration::count_found(uint32_t slack) {
  walk_to_some(slack, [&](const Probe& probe, std::span<const Candidate> found) {
    count_ += probe.count(found);
  });
}

// The table is persisted, so everything here is an integer, and as wide in wasm as natively.
void Calibration::climb(uint32_t slack) {
  const uint64_t count = count_.exchange(0);
  for (; target_ < SlackTable::kRecall.size(); ++target_) {
    const uint64_t needed = SlackTable::kRecall[target_] * all_;  // thousandths of a row
    if (1000 * count < needed) break;
    const uint64_t risen = std::max<uint64_t>(1, 1000 * (count - count_before_));
    const uint64_t part = needed - std::min(needed, 1000 * count_before_);
    const uint64_t more = ((slack - slack_before_) * part + risen - 1) / risen;
    table_.slack[target_] = static_cast<uint16_t>(slack_before_ + more);
  }
  count_before_ = std::max(count_before_, count);
  slack_before_ = slack;
}

}  // namespace nearfield
