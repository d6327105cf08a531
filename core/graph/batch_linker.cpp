// BatchLinker: deterministic batch insertion (ParlayANN, Dobson Manohar et al. 2024). Every row of
// a batch walks the graph as the batches before left it, so the rows of a batch may walk at the
// same time; then the links back to them are grouped by the row that gets them, so that each list
// is written once.
#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "base/small_sort.h"
#include "graph/calibrate.h"
#include "graph/duplicates.h"
#include "graph/linker.h"
#include "graph/nearest.h"
#include "graph/packed_rows.h"
#include "graph/prune.h"
#include "graph/reachability.h"
#include "graph/seeds.h"
#include "graph/stopwatch.h"
#include "graph/walk.h"

namespace nearfield {
namespace {

constexpr uint32_t kMaxBatch = 4096;
constexpr uint32_t kMinBatch = 32;        // below 2 %, as long as the graph is as large itself
constexpr uint32_t kMaxCandidates = 512;  // of a walk that are kept until the prune
constexpr uint32_t kBatchNearest = 16;    // candidates from the own batch
constexpr size_t kGrain = 8;              // rows or lists a worker takes at once

// Where batches end follows from the counts alone: doubling, then 2 % of what is linked.
uint32_t batch_rows(uint32_t linked, uint32_t waiting) {
  const uint32_t part = std::clamp(linked / 50, kMinBatch, kMaxBatch);
  return std::min({std::max(linked, 1u), part, waiting});
}

// Rises four times while a graph doubles; the seeds are chosen anew when it does.
uint32_t growth(uint32_t rows) {
  const auto bits = static_cast<uint32_t>(std::bit_width(rows));
  return bits < 3 ? rows : 4 * bits + (rows >> (bits - 3) & 3);
}

class BatchLinker final : public Linker {
 public:
  BatchLinker(Graph& graph, const Codes& codes, const Kernels& kernels, ThreadPool& pool,
              const GraphOptions& options, const SlotSet& dead)
      : graph_(graph),
        codes_(codes),
        kernels_(kernels),
        pool_(pool),
        options_(options),
        dead_(dead),
        kept_candidates_(std::min(options.ef_construction, kMaxCandidates) + kBatchNearest),
        first_row_(graph.rows()),
        scratch_(pool.workers()) {}

  Result<LinkProgress> step(uint64_t budget_us) override {
    const Stopwatch watch(budget_us);
    if (graph_.rows() < codes_.rows()) NEARFIELD_TRY(check_links());
    while (phase_ != Phase::kBegin || graph_.rows() < codes_.rows()) {
      NEARFIELD_TRY(work());
      if (watch.is_over()) break;
    }
    const uint64_t linked = graph_.rows() - first_row_;
    const uint64_t walking = phase_ == Phase::kWalk ? walked_ : nodes_.size();
    // A row counts once when it has walked and once when it is linked.
    const uint64_t calibrating = phase_ == Phase::kCalibrate ? 1 : 0;
    return LinkProgress{2 * linked + walking,
                        2 * (uint64_t{codes_.rows()} - first_row_) + calibrating};
  }

  uint64_t distances() const override { return distances_; }

 private:
  enum class Phase { kBegin, kWalk, kNearest, kPrune, kReverse, kCalibrate };

  // A row of the batch that is not a copy of another.
  struct Node {
    uint32_t slot;
    uint32_t candidate_count = 0;
    uint32_t link_count = 0;
    uint32_t copy_of = kNoLink;  // the first row of its code, when that is in the graph
  };
  struct BackLink {
    uint32_t target;
    uint32_t source;
    bool keep;  // the target is the nearest that the source chose
    friend bool operator<(const BackLink& a, const BackLink& b) {
      return a.target != b.target ? a.target < b.target : a.source < b.source;
    }
  };
  struct Scratch {
    WalkScratch walk;
    PackedRows packed;
    std::vector<int32_t> distances;
    std::vector<Candidate> nearest;
    std::vector<uint32_t> slots;
    std::vector<std::pair<Candidate, uint8_t>> marked;
    std::vector<Candidate> candidates;
    std::vector<uint8_t> keep;
  };

  Result<void> work() {
    switch (phase_) {
      case Phase::kBegin: return begin();
      case Phase::kWalk: return walk_rows();
      case Phase::kNearest: return add_nearest_of_batch();
      case Phase::kPrune: return prune_rows();
      case Phase::kReverse: return link_back();
      case Phase::kCalibrate: return find_slack();
    }
    return {};
  }

  // Links may come from a file that is mapped and never checksummed. A walk passes over those that
  // lead nowhere; everything else here follows them, so they are looked through once.
  Result<void> check_links() {
    if (links_checked_) return {};
    if (!links_in_range(graph_)) {
      return Error{ErrorCode::kCorrupt, "the links of the graph are damaged"};
    }
    links_checked_ = true;
    return {};
  }

  Result<void> begin() {
    begin_ = graph_.rows();
    if (begin_ == 0) {
      NEARFIELD_TRY(graph_.resize(1));
      graph_.set_seeds({0});
      return {};
    }
    end_ = begin_ + batch_rows(begin_, codes_.rows() - begin_);
    Distinct distinct = find_copies(codes_, begin_, end_, dead_, pool_);
    skipped_.clear();
    for (uint32_t slot = dead_.next(begin_); slot < end_; slot = dead_.next(slot + 1)) {
      skipped_.push_back(slot);
    }
    nodes_.clear();
    for (const uint32_t slot : distinct.firsts) nodes_.push_back({slot});
    copies_ = std::move(distinct.copies);
    candidates_.resize(nodes_.size() * kept_candidates_);
    walked_ = 0;
    phase_ = Phase::kWalk;
    return {};
  }

  // Runs body(i, worker, distances) for the next few of `count` items, of which `done` are done.
  template <class Body>
  void run_some(size_t& done, size_t count, size_t at_once, Body body) {
    const size_t begin = done;
    const size_t end = std::min(count, begin + at_once * kGrain * pool_.workers());
    std::atomic<uint64_t> computed = 0;
    pool_.parallel_for(end - begin, kGrain, [&](size_t from, size_t to, unsigned worker) {
      uint64_t distances = 0;
      for (size_t i = begin + from; i < begin + to; ++i) body(i, scratch_[worker], distances);
      computed += distances;
    });
    distances_ += computed;
    done = end;
  }

  Result<void> walk_rows() {
    run_some(walked_, nodes_.size(), 1, [&](size_t i, Scratch& scratch, uint64_t& distances) {
      const uint32_t slot = nodes_[i].slot;
      if (is_far_from_copies(slot)) {
        nodes_[i].copy_of = find_first(graph_, codes_, slot);
        if (nodes_[i].copy_of != kNoLink) return;
      }
      const auto found = walk_to_link(graph_, codes_, kernels_, slot, options_.ef_construction,
                                      scratch.walk, distances);
      if (!found.empty() && same_code(codes_, found[0].slot, slot)) {
        const uint32_t nearest = found[0].slot;
        nodes_[i].copy_of = is_copy(graph_, codes_, nearest) ? graph_.links(nearest)[0] : nearest;
        return;
      }
      nodes_[i].candidate_count =
          static_cast<uint32_t>(std::min<size_t>(found.size(), kept_candidates_ - kBatchNearest));
      std::copy_n(found.begin(), nodes_[i].candidate_count, candidates_of(i));
    });
    if (walked_ < nodes_.size()) return {};
    set_copies_aside();
    slots_.clear();
    for (const Node& node : nodes_) slots_.push_back(node.slot);
    NEARFIELD_TRY(batch_.assign(codes_, slots_));
    compared_ = 0;
    phase_ = Phase::kNearest;
    return {};
  }

  // Whether a row is at a build distance from rows of its own code, as zero rows under cosine are:
  // those are as far from each other as from all others, and a walk need not meet one.
  bool is_far_from_copies(uint32_t slot) const {
    const uint8_t* code = codes_.code(slot);
    return codes_.build_distance(slot, slot, kernels_.dot_u7(code, code, codes_.stride())) != 0;
  }

  // A row whose code is in the graph is a copy, and so are the copies of that row in the batch.
  void set_copies_aside() {
    size_t kept = 0;
    std::vector<Copy> found;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].copy_of != kNoLink) {
        found.push_back({nodes_[i].copy_of, nodes_[i].slot});
        continue;
      }
      if (kept != i) {
        nodes_[kept] = nodes_[i];
        std::copy_n(candidates_of(i), nodes_[i].candidate_count, candidates_of(kept));
      }
      ++kept;
    }
    nodes_.resize(kept);
    for (Copy& copy : copies_) {
      const auto of = std::lower_bound(found.begin(), found.end(), copy.first,
                                       [](const Copy& a, uint32_t slot) { return a.slot < slot; });
      if (of != found.end() && of->slot == copy.first) copy.first = of->first;
    }
    copies_.insert(copies_.end(), found.begin(), found.end());
    small_sort(copies_.begin(), copies_.end(),
               [](const Copy& a, const Copy& b) { return a.slot < b.slot; });
  }

  // Rows of one batch do not find each other by walking.
  Result<void> add_nearest_of_batch() {
    constexpr size_t kStripe = 64;
    const size_t n = nodes_.size();
    const size_t begin = compared_;
    const size_t end = std::min(n, begin + 2 * kStripe * pool_.workers());
    pool_.parallel_for(end - begin, kStripe, [&](size_t from, size_t to, unsigned worker) {
      Scratch& scratch = scratch_[worker];
      scratch.distances.resize((to - from) * n);
      kernels_.dot_block_u7(batch_.code(begin + from), to - from, batch_.code(0), n,
                            codes_.stride(), scratch.distances.data(), n);
      for (size_t i = begin + from; i < begin + to; ++i) {
        int32_t* row = scratch.distances.data() + (i - begin - from) * n;
        batch_.to_distances(i, batch_, row);
        row[i] = INT32_MAX;  // itself
        nearest({row, n}, kBatchNearest, scratch.nearest);
        Candidate* candidates = candidates_of(i);
        uint32_t& count = nodes_[i].candidate_count;
        const auto middle = candidates + count;
        for (const Candidate& near : scratch.nearest) {
          candidates[count++] = {near.distance, nodes_[near.slot].slot};
        }
        std::inplace_merge(candidates, middle, candidates + count);
      }
    });
    distances_ += (end - begin) * n;
    compared_ = end;
    if (compared_ == n) {
      chosen_.assign(n * degree(), kNoLink);
      pruned_ = 0;
      phase_ = Phase::kPrune;
    }
    return {};
  }

  Result<void> prune_rows() {
    run_some(pruned_, nodes_.size(), 4, [&](size_t i, Scratch&, uint64_t& distances) {
      nodes_[i].link_count =
          robust_prune(codes_, kernels_, {candidates_of(i), nodes_[i].candidate_count}, nullptr,
                       degree(), chosen_of(i), distances);
    });
    if (pruned_ < nodes_.size()) return {};
    back_links_.clear();
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (uint32_t k = 0; k < nodes_[i].link_count; ++k) {
        back_links_.push_back({chosen_of(i)[k], nodes_[i].slot, k == 0});
      }
    }
    std::sort(back_links_.begin(), back_links_.end());
    targets_.clear();
    for (size_t i = 0; i < back_links_.size(); ++i) {
      if (i == 0 || back_links_[i].target != back_links_[i - 1].target) targets_.push_back(i);
    }
    targets_.push_back(back_links_.size());
    updated_.assign((targets_.size() - 1) * degree(), kNoLink);
    linked_back_ = 0;
    phase_ = Phase::kReverse;
    return {};
  }

  Result<void> link_back() {
    run_some(linked_back_, targets_.size() - 1, 8,
             [&](size_t i, Scratch& scratch, uint64_t& distances) {
               update_target(i, scratch, distances);
             });
    if (linked_back_ < targets_.size() - 1) return {};
    return commit();
  }

  // The links that the i-th target will have: those it has and those back to the batch, pruned when
  // they are too many.
  void update_target(size_t i, Scratch& scratch, uint64_t& distances) {
    const size_t first = targets_[i];
    const size_t last = targets_[i + 1];
    const uint32_t target = back_links_[first].target;
    uint32_t* updated = updated_.data() + i * degree();

    auto& slots = scratch.slots;
    const auto present = links_before(target);
    slots.assign(present.begin(), present.end());
    for (size_t j = first; j < last; ++j) {
      const uint32_t source = back_links_[j].source;
      if (std::find(present.begin(), present.end(), source) == present.end())
        slots.push_back(source);
    }
    if (slots.size() <= degree()) {
      std::copy(slots.begin(), slots.end(), updated);
      return;
    }
    auto& marked = scratch.marked;
    marked.clear();
    const uint8_t* code = codes_.code(target);
    for (const uint32_t slot : slots) {
      const int32_t dot = kernels_.dot_u7(code, codes_.code(slot), codes_.stride());
      const BackLink key{target, slot, false};
      const auto link = std::lower_bound(back_links_.begin() + static_cast<ptrdiff_t>(first),
                                         back_links_.begin() + static_cast<ptrdiff_t>(last), key);
      const bool chain = same_code(codes_, target, slot);
      const bool keep = chain || (link != back_links_.begin() + static_cast<ptrdiff_t>(last) &&
                                  link->source == slot && link->keep);
      // A chain of copies stays whole and in front, however far the copies are from each other.
      const int32_t distance = chain ? INT32_MIN : codes_.build_distance(target, slot, dot);
      marked.push_back({{distance, slot}, static_cast<uint8_t>(keep)});
    }
    distances += slots.size();
    std::sort(marked.begin(), marked.end());
    scratch.candidates.clear();
    scratch.keep.clear();
    for (const auto& [candidate, keep] : marked) {
      scratch.candidates.push_back(candidate);
      scratch.keep.push_back(keep);
    }
    robust_prune(codes_, kernels_, scratch.candidates, scratch.keep.data(), degree(), updated,
                 distances);
  }

  // What a target links to before the links back: rows of the batch are not in the graph yet.
  std::span<const uint32_t> links_before(uint32_t target) const {
    if (target < begin_) return graph_.linked(target);
    const auto node = std::lower_bound(slots_.begin(), slots_.end(), target) - slots_.begin();
    return {chosen_of(static_cast<size_t>(node)), nodes_[static_cast<size_t>(node)].link_count};
  }

  Result<void> commit() {
    NEARFIELD_TRY(graph_.resize(end_));
    for (size_t i = 0; i < nodes_.size(); ++i) {
      std::copy_n(chosen_of(i), degree(), graph_.links(nodes_[i].slot));
    }
    for (size_t i = 0; i + 1 < targets_.size(); ++i) {
      std::copy_n(updated_.data() + i * degree(), degree(),
                  graph_.links(back_links_[targets_[i]].target));
    }
    for (const Copy& copy : copies_) link_copy(graph_, codes_, copy);
    for (const uint32_t slot : skipped_) graph_.removed().insert(slot);
    WalkScratch& scratch = scratch_[0].walk;
    const bool grown = growth(begin_) != growth(end_);
    if (grown) choose_seeds(graph_, codes_, kernels_, options_.seed, distances_);
    restore_reachability(graph_, codes_, kernels_, scratch, distances_);
    if (grown) probe_seeds(graph_, codes_, kernels_, pool_, options_.seed, distances_);
    nodes_.clear();
    phase_ = Phase::kBegin;
    if (graph_.rows() / 2 >= graph_.slack().rows) {
      calibration_.emplace(graph_, codes_, kernels_, pool_, options_.seed);
      phase_ = Phase::kCalibrate;
    }
    return {};
  }

  // The graph has doubled since its slack was measured.
  Result<void> find_slack() {
    if (!calibration_->step()) return {};
    graph_.set_slack(calibration_->table());
    distances_ += calibration_->distances();
    calibration_.reset();
    phase_ = Phase::kBegin;
    return {};
  }

  uint32_t degree() const { return graph_.degree(); }
  Candidate* candidates_of(size_t i) { return candidates_.data() + i * kept_candidates_; }
  uint32_t* chosen_of(size_t i) { return chosen_.data() + i * degree(); }
  const uint32_t* chosen_of(size_t i) const { return chosen_.data() + i * degree(); }

  Graph& graph_;
  const Codes& codes_;
  const Kernels& kernels_;
  ThreadPool& pool_;
  const GraphOptions options_;
  const SlotSet& dead_;
  const uint32_t kept_candidates_;
  const uint32_t first_row_;
  std::vector<Scratch> scratch_;  // a worker each
  uint64_t distances_ = 0;
  bool links_checked_ = false;

  // The batch [begin_, end_) and how far it is.
  Phase phase_ = Phase::kBegin;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  std::vector<Node> nodes_;        // rising slots
  std::vector<uint32_t> slots_;    // the same, alone
  std::vector<uint32_t> skipped_;  // rows that were dead when the batch began
  std::vector<Copy> copies_;
  std::vector<Candidate> candidates_;  // kept_candidates_ a node
  PackedRows batch_;
  std::vector<uint32_t> chosen_;  // degree() a node
  std::vector<BackLink> back_links_;
  std::vector<size_t> targets_;    // where the links back of one target begin, and the end
  std::vector<uint32_t> updated_;  // degree() a target
  std::optional<Calibration> calibration_;
  size_t walked_ = 0;
  size_t compared_ = 0;
  size_t pruned_ = 0;
  size_t linked_back_ = 0;
};

}  // namespace

std::unique_ptr<Linker> make_batch_linker(Graph& graph, const Codes& codes, const Kernels& kernels,
                                          ThreadPool& pool, const GraphOptions& options,
                                          const SlotSet& dead) {
  return std::make_unique<BatchLinker>(graph, codes, kernels, pool, options, dead);
}

}  // namespace nearfield
