// BulkLinker: partition, all pairs inside the leaves, prune (PiPNN, arXiv 2602.21247).
#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "graph/bulk_plan.h"
#include "graph/calibrate.h"
#include "graph/duplicates.h"
#include "graph/leaf_neighbours.h"
#include "graph/linker.h"
#include "graph/partition.h"
#include "graph/prune.h"
#include "graph/reachability.h"
#include "graph/reservoirs.h"
#include "graph/seeds.h"
#include "graph/stopwatch.h"
#include "graph/walk.h"

namespace nearfield {
namespace {

class BulkLinker final : public Linker {
 public:
  BulkLinker(Graph& graph, const Codes& codes, const Kernels& kernels, ThreadPool& pool,
             const GraphOptions& options, const SlotSet& dead)
      : graph_(graph),
        codes_(codes),
        kernels_(kernels),
        pool_(pool),
        options_(options),
        dead_(dead),
        plan_(BulkPlan::from(options)),
        built_(graph.degree(),
               static_cast<unsigned>(std::countr_zero(graph.link_blocks().block_rows()))),
        leaf_scratch_(pool.workers()) {}

  Result<LinkProgress> step(uint64_t budget_us) override {
    const Stopwatch watch(budget_us);
    while (phase_ != Phase::kFinished) {
      NEARFIELD_TRY(work());
      if (watch.is_over()) break;
    }
    return progress();
  }

  uint64_t distances() const override {
    uint64_t sum = distances_ + pruned_distances_ + (partition_ ? partition_->distances() : 0);
    for (const LeafNeighbours& leaf : leaf_scratch_) sum += leaf.distances();
    return sum;
  }

 private:
  enum class Phase { kCopies, kNeighbours, kPrune, kSeeds, kReach, kProbe, kCalibrate, kFinished };

  // One unit of the present phase.
  Result<void> work() {
    switch (phase_) {
      case Phase::kCopies: return find_distinct();
      case Phase::kNeighbours: return find_neighbours();
      case Phase::kPrune: return prune_rows();
      case Phase::kSeeds: return choose_first_seeds();
      case Phase::kReach: return make_reachable();
      case Phase::kProbe: return probe();
      case Phase::kCalibrate: return find_slack();
      case Phase::kFinished: break;
    }
    return {};
  }

  LinkProgress progress() const {
    // Neighbours take about three times as long as pruning.
    const uint64_t rows = codes_.rows();
    LinkProgress progress;
    progress.total = 4 * rows + 2;
    switch (phase_) {
      case Phase::kCopies: break;
      case Phase::kNeighbours:
        progress.done =
            static_cast<uint64_t>(3 * static_cast<double>(rows) * partition_->progress());
        break;
      case Phase::kPrune: progress.done = 3 * rows + pruned_; break;
      case Phase::kSeeds:
      case Phase::kReach:
      case Phase::kProbe: progress.done = 4 * rows; break;
      case Phase::kCalibrate: progress.done = 4 * rows + 1; break;
      case Phase::kFinished: progress.done = progress.total; break;
    }
    return progress;
  }

  Result<void> find_distinct() {
    const uint32_t rows = codes_.rows();
    if (rows == 0) {
      phase_ = Phase::kFinished;
      return {};
    }
    distinct_ = find_copies(codes_, 0, rows, dead_, pool_);
    reservoirs_.emplace(plan_.reservoir);
    NEARFIELD_TRY(reservoirs_->resize(rows));
    NEARFIELD_TRY(built_.resize(rows));
    for (uint32_t slot = dead_.next(0); slot < rows; slot = dead_.next(slot + 1)) {
      built_.removed().insert(slot);
    }
    ordered_.assign(rows, false);
    order_.reserve(distinct_.firsts.size());
    partition_.emplace(codes_, kernels_, pool_, plan_, options_.seed, distinct_.firsts);
    phase_ = Phase::kNeighbours;
    return {};
  }

  Result<void> find_neighbours() {
    // A leaf is the work of one worker, so a few are collected for each.
    if (!partition_->done() && leaves_.size() < 2 * pool_.workers()) {
      NEARFIELD_TRY(partition_->advance(leaves_));
      if (!partition_->done() && leaves_.size() < 2 * pool_.workers()) return {};
    }
    std::atomic<bool> failed = false;
    pool_.parallel_for(leaves_.size(), 1, [&](size_t begin, size_t end, unsigned worker) {
      LeafNeighbours& scratch = leaf_scratch_[worker];
      for (size_t leaf = begin; leaf < end; ++leaf) {
        const auto& rows = leaves_[leaf];
        if (!scratch.compute(codes_, kernels_, rows, plan_.leaf_nearest).ok()) {
          failed = true;
          return;
        }
        for (size_t i = 0; i < rows.size(); ++i) reservoirs_->offer(rows[i], scratch.of(i));
      }
    });
    if (failed) return Error{ErrorCode::kOutOfMemory, "no memory for the neighbours of a leaf"};
    for (const auto& rows : leaves_) {
      for (const uint32_t row : rows) {
        if (!ordered_[row]) order_.push_back(row);
        ordered_[row] = true;
      }
    }
    leaves_.clear();
    if (partition_->done()) phase_ = Phase::kPrune;
    return {};
  }

  // In the order of the leaves, so that the candidates of one row are still in the cache for the
  // next.
  Result<void> prune_rows() {
    constexpr size_t kGrain = 64;
    const size_t begin = pruned_;
    const size_t end = std::min(order_.size(), begin + kGrain * 4 * pool_.workers());
    std::atomic<uint64_t> computed = 0;
    pool_.parallel_for(end - begin, kGrain, [&](size_t from, size_t to, unsigned) {
      uint64_t distances = 0;
      for (size_t i = begin + from; i < begin + to; ++i) {
        const uint32_t row = order_[i];
        robust_prune(codes_, kernels_, reservoirs_->candidates(row), nullptr, options_.degree,
                     built_.links(row), distances);
      }
      computed += distances;
    });
    pruned_distances_ += computed;
    pruned_ = end;
    if (pruned_ == order_.size()) {
      reservoirs_.reset();
      phase_ = Phase::kSeeds;
    }
    return {};
  }

  Result<void> choose_first_seeds() {
    for (const Copy& copy : distinct_.copies) link_copy(built_, codes_, copy);
    choose_seeds(built_, codes_, kernels_, options_.seed, distances_);
    phase_ = Phase::kReach;
    return {};
  }

  Result<void> make_reachable() {
    WalkScratch scratch;
    restore_reachability(built_, codes_, kernels_, scratch, distances_);
    phase_ = Phase::kProbe;
    return {};
  }

  Result<void> probe() {
    probe_seeds(built_, codes_, kernels_, pool_, options_.seed, distances_);
    calibration_.emplace(built_, codes_, kernels_, pool_, options_.seed);
    phase_ = Phase::kCalibrate;
    return {};
  }

  Result<void> find_slack() {
    if (!calibration_->step()) return {};
    built_.set_slack(calibration_->table());
    distances_ += calibration_->distances();
    calibration_.reset();
    graph_ = std::move(built_);
    phase_ = Phase::kFinished;
    return {};
  }

  Graph& graph_;
  const Codes& codes_;
  const Kernels& kernels_;
  ThreadPool& pool_;
  const GraphOptions options_;
  const SlotSet& dead_;
  const BulkPlan plan_;

  Phase phase_ = Phase::kCopies;
  Graph built_;
  Distinct distinct_;
  std::optional<Partition> partition_;
  std::vector<std::vector<uint32_t>> leaves_;  // formed and not yet computed
  std::optional<Reservoirs> reservoirs_;
  std::vector<LeafNeighbours> leaf_scratch_;  // a worker each
  std::vector<uint32_t> order_;               // rows in the order of their first leaf
  std::vector<bool> ordered_;
  std::optional<Calibration> calibration_;
  size_t pruned_ = 0;
  uint64_t pruned_distances_ = 0;
  uint64_t distances_ = 0;
};

}  // namespace

std::unique_ptr<Linker> make_bulk_linker(Graph& graph, const Codes& codes, const Kernels& kernels,
                                         ThreadPool& pool, const GraphOptions& options,
                                         const SlotSet& dead) {
  return std::make_unique<BulkLinker>(graph, codes, kernels, pool, options, dead);
}

}  // namespace nearfield
