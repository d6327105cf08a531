// RowRemover: takes dead rows out of a graph, many at once (after FreshDiskANN, Singh et al. 2021).
//
// One pass over the links finds every row that leads to one that goes. Such a row keeps its other
// links and is offered, for each that it loses, the nearest of that row's own neighbours; a robust
// prune with its slack keeps those that point where nothing else does. All rows are repaired from
// the graph as it was, so that they can be repaired at the same time, and written at the end.
#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/small_sort.h"
#include "graph/duplicates.h"
#include "graph/linker.h"
#include "graph/prune.h"
#include "graph/reachability.h"
#include "graph/seeds.h"
#include "graph/stopwatch.h"
#include "graph/walk.h"

namespace nearfield {
namespace {

constexpr uint32_t kGatherRows = 1u << 14;  // at once
constexpr size_t kRepairGrain = 32;         // rows a worker takes at once
constexpr size_t kOffered = 3;              // neighbours, for each link that is lost
constexpr uint32_t kLonelyEf = 64;          // of the walk of a row that would have few links
constexpr uint32_t kFewPart = 8;            // of a row's places: fewer links than that are few

class RowRemover final : public Linker {
 public:
  RowRemover(Graph& graph, const Codes& codes, const Kernels& kernels, ThreadPool& pool,
             const GraphOptions& options, const SlotSet& dead)
      : graph_(graph),
        codes_(codes),
        kernels_(kernels),
        pool_(pool),
        options_(options),
        scratch_(pool.workers()) {
    for (uint32_t slot = dead.next(0); slot < graph.rows(); slot = dead.next(slot + 1)) {
      if (!graph.removed().contains(slot)) going_.insert(slot);
    }
  }

  Result<LinkProgress> step(uint64_t budget_us) override {
    const Stopwatch watch(budget_us);
    if (phase_ == Phase::kGather && gathered_ == 0 && !links_in_range(graph_)) {
      return Error{ErrorCode::kCorrupt, "the links of the graph are damaged"};
    }
    while (phase_ != Phase::kDone) {
      work();
      if (watch.is_over()) break;
    }
    const uint64_t rows = graph_.rows();
    const uint64_t repaired = rows * repaired_ / std::max<size_t>(1, affected_.size());
    return LinkProgress{gathered_ + repaired + (phase_ == Phase::kDone ? 1 : 0), 2 * rows + 1};
  }

  uint64_t distances() const override { return distances_; }

 private:
  enum class Phase { kGather, kRepair, kCommit, kDone };

  // A live row whose links change.
  struct Affected {
    uint32_t slot;
    uint32_t source;          // whose links it starts from: its own, or those of whom it stands for
    bool heads_copies;        // links to rows of its own code are made anew
    uint32_t link_count = 0;  // afterwards
    friend bool operator<(const Affected& a, const Affected& b) { return a.slot < b.slot; }
  };
  // The live copy that stands in for a first row of its code which goes.
  struct Heir {
    uint32_t of;
    uint32_t slot;
  };
  struct Scratch {
    WalkScratch walk;
    std::vector<uint32_t> offered;
    std::vector<Candidate> near;
    std::vector<std::pair<Candidate, uint8_t>> marked;
    std::vector<Candidate> candidates;
    std::vector<uint8_t> keep;
  };

  void work() {
    switch (phase_) {
      case Phase::kGather: return gather();
      case Phase::kRepair: return repair_rows();
      case Phase::kCommit: return commit();
      case Phase::kDone: return;
    }
  }

  bool leads_to_going(uint32_t slot) const {
    const auto links = graph_.linked(slot);
    return std::any_of(links.begin(), links.end(),
                       [&](uint32_t to) { return going_.contains(to); });
  }

  void gather() {
    const uint32_t end = std::min(graph_.rows(), gathered_ + kGatherRows);
    for (uint32_t slot = gathered_; slot < end; ++slot) {
      if (graph_.removed().contains(slot)) continue;
      if (is_copy(graph_, codes_, slot)) {
        copies_.push_back({graph_.links(slot)[0], slot});
      } else if (!going_.contains(slot) && leads_to_going(slot)) {
        affected_.push_back({slot, slot, false});
      }
    }
    gathered_ = end;
    if (gathered_ < graph_.rows()) return;
    take_chains_apart();
    updated_.assign(affected_.size() * degree(), kNoLink);
    phase_ = Phase::kRepair;
  }

  // A chain of copies that loses a row, or of which a row leads to one that goes, is made anew,
  // behind its first row that stays.
  void take_chains_apart() {
    std::stable_sort(copies_.begin(), copies_.end(),
                     [](const Copy& a, const Copy& b) { return a.first < b.first; });
    std::vector<Affected> heads;
    size_t kept = 0;
    for (size_t i = 0; i < copies_.size();) {
      const uint32_t first = copies_[i].first;
      const size_t begin = i;
      bool touched = going_.contains(first);
      for (; i < copies_.size() && copies_[i].first == first; ++i) {
        touched |= going_.contains(copies_[i].slot) || leads_to_going(copies_[i].slot);
      }
      if (!touched) continue;
      uint32_t head = going_.contains(first) ? kNoLink : first;
      for (size_t j = begin; j < i; ++j) {
        const uint32_t slot = copies_[j].slot;
        if (going_.contains(slot)) continue;
        if (head == kNoLink) {
          head = slot;
          heirs_.push_back({first, head});
        } else {
          copies_[kept++] = {head, slot};
        }
      }
      if (head != kNoLink) heads.push_back({head, first, true});
    }
    copies_.resize(kept);
    small_sort(copies_.begin(), copies_.end(),
               [](const Copy& a, const Copy& b) { return a.slot < b.slot; });

    // Heads may be among the affected already; as heads they are listed once.
    small_sort(heads.begin(), heads.end());
    std::erase_if(affected_, [&](const Affected& row) {
      return std::binary_search(heads.begin(), heads.end(), row);
    });
    const auto middle = static_cast<ptrdiff_t>(affected_.size());
    affected_.insert(affected_.end(), heads.begin(), heads.end());
    std::inplace_merge(affected_.begin(), affected_.begin() + middle, affected_.end());
  }

  uint32_t heir_of(uint32_t going) const {
    const auto heir = std::lower_bound(heirs_.begin(), heirs_.end(), going,
                                       [](const Heir& a, uint32_t slot) { return a.of < slot; });
    return heir != heirs_.end() && heir->of == going ? heir->slot : kNoLink;
  }

  // Who stands for a row among others: of copies the first, of a first that goes its heir; kNoLink
  // when nobody does.
  uint32_t standing_for(uint32_t slot) const {
    if (is_copy(graph_, codes_, slot)) slot = graph_.links(slot)[0];
    return going_.contains(slot) ? heir_of(slot) : slot;
  }

  int32_t distance(uint32_t a, uint32_t b) const {
    const int32_t dot = kernels_.dot_u7(codes_.code(a), codes_.code(b), codes_.stride());
    return codes_.build_distance(a, b, dot);
  }

  // The neighbours of a row that goes that stay, and when those are few also theirs of those that
  // go; not `without`.
  void add_neighbours(uint32_t going, uint32_t without, std::vector<uint32_t>& out) const {
    const size_t before = out.size();
    const auto add_of = [&](uint32_t row) {
      for (const uint32_t to : graph_.linked(row)) {
        if (to != without && !going_.contains(to)) out.push_back(to);
      }
    };
    add_of(going);
    if (out.size() - before >= degree() / kFewPart) return;
    for (const uint32_t to : graph_.linked(going)) {
      if (going_.contains(to)) add_of(to);
    }
  }

  // Leaves in scratch.near the `count` nearest to `slot` of scratch.offered, which may name a row
  // more than once.
  void find_nearest(uint32_t slot, size_t count, Scratch& scratch, uint64_t& distances) const {
    const auto& offered = scratch.offered;
    const size_t stride = codes_.stride();
    scratch.near.clear();
    for (const uint32_t other : offered) __builtin_prefetch(codes_.code(other));
    for (size_t i = 0; i < offered.size(); i += 4) {
      const size_t valid = std::min<size_t>(4, offered.size() - i);
      const uint8_t* rows[4];
      for (size_t j = 0; j < 4; ++j) rows[j] = codes_.code(offered[i + std::min(j, valid - 1)]);
      int32_t dots[4];
      kernels_.dot4_u7(codes_.code(slot), rows, stride, dots);
      for (size_t j = 0; j < valid; ++j) {
        const uint32_t other = offered[i + j];
        scratch.near.push_back({codes_.build_distance(slot, other, dots[j]), other});
      }
    }
    distances += offered.size();
    if (scratch.near.size() > count) {
      const auto middle = scratch.near.begin() + static_cast<ptrdiff_t>(count);
      std::nth_element(scratch.near.begin(), middle, scratch.near.end());
      scratch.near.erase(middle, scratch.near.end());
    }
  }

  void repair(Affected& row, uint32_t* updated, Scratch& scratch, uint64_t& distances) const {
    const uint32_t slot = row.slot;
    auto& marked = scratch.marked;
    marked.clear();
    scratch.offered.clear();
    const auto add = [&](const Candidate& candidate, bool keep) {
      marked.push_back({candidate, keep});
    };
    size_t lost = 0;
    for (const uint32_t to : graph_.linked(row.source)) {
      if (row.heads_copies && same_code(codes_, slot, to)) continue;
      if (going_.contains(to)) {
        ++lost;
        if (const uint32_t heir = heir_of(to); heir != kNoLink) {
          scratch.offered.push_back(heir);
        } else {
          add_neighbours(to, slot, scratch.offered);
        }
      } else if (to != slot) {
        add({distance(slot, to), to}, true);
        ++distances;
      }
    }
    find_nearest(slot, kOffered * lost, scratch, distances);
    const auto offer = [&](uint32_t other) {
      other = standing_for(other);
      if (other == kNoLink || other == slot) return;
      if (row.heads_copies && same_code(codes_, slot, other)) return;
      add({distance(slot, other), other}, false);
    };
    for (const Candidate& near : scratch.near) offer(near.slot);
    if (marked.size() < degree() / kFewPart) {
      const auto found =
          walk_to_link(graph_, codes_, kernels_, slot, kLonelyEf, scratch.walk, distances);
      for (const Candidate& near : found) offer(near.slot);
    }
    // Of one row, the entry that is kept comes first.
    std::sort(marked.begin(), marked.end(), [](const auto& a, const auto& b) {
      return a.first == b.first ? a.second > b.second : a.first < b.first;
    });
    scratch.candidates.clear();
    scratch.keep.clear();
    for (const auto& [candidate, keep] : marked) {
      if (!scratch.candidates.empty() && scratch.candidates.back() == candidate) continue;
      scratch.candidates.push_back(candidate);
      scratch.keep.push_back(keep);
    }
    row.link_count = robust_prune(codes_, kernels_, scratch.candidates, scratch.keep.data(),
                                  degree(), updated, distances);
  }

  void repair_rows() {
    const size_t begin = repaired_;
    const size_t end = std::min(affected_.size(), begin + 4 * kRepairGrain * pool_.workers());
    std::atomic<uint64_t> computed = 0;
    pool_.parallel_for(end - begin, kRepairGrain, [&](size_t from, size_t to, unsigned worker) {
      uint64_t distances = 0;
      for (size_t i = begin + from; i < begin + to; ++i) {
        repair(affected_[i], updated_.data() + i * degree(), scratch_[worker], distances);
      }
      computed += distances;
    });
    distances_ += computed;
    repaired_ = end;
    if (repaired_ == affected_.size()) phase_ = Phase::kCommit;
  }

  // A seed that goes gives way to the nearest row around it.
  uint32_t seed_in_place_of(uint32_t seed) {
    if (!going_.contains(seed)) return seed;
    const uint32_t stands = standing_for(seed);
    if (stands != kNoLink) return stands;
    Scratch& scratch = scratch_[0];
    scratch.offered.clear();
    add_neighbours(seed, seed, scratch.offered);
    find_nearest(seed, 1, scratch, distances_);
    return scratch.near.empty() ? kNoLink : standing_for(scratch.near[0].slot);
  }

  void replace_seeds() {
    std::vector<uint32_t> seeds;
    std::vector<uint32_t> starts;
    const auto add_group = [&](std::span<const uint32_t> group) {
      const size_t begin = seeds.size();
      for (const uint32_t seed : group) {
        const uint32_t stays = seed_in_place_of(seed);
        const auto known =
            std::find(seeds.begin() + static_cast<ptrdiff_t>(begin), seeds.end(), stays);
        if (stays != kNoLink && known == seeds.end()) seeds.push_back(stays);
      }
      if (seeds.size() > begin) starts.push_back(static_cast<uint32_t>(begin));
    };
    const auto groups = graph_.group_starts();
    if (groups.empty()) {
      add_group(graph_.seeds());
      starts.clear();
    } else {
      for (size_t i = 0; i + 1 < groups.size(); ++i) {
        add_group(graph_.seeds().subspan(groups[i], groups[i + 1] - groups[i]));
      }
      starts.push_back(static_cast<uint32_t>(seeds.size()));
      if (seeds.empty()) starts.clear();
    }
    graph_.set_seeds(std::move(seeds), std::move(starts));
  }

  void commit() {
    replace_seeds();
    for (size_t i = 0; i < affected_.size(); ++i) {
      std::copy_n(updated_.data() + i * degree(), degree(), graph_.links(affected_[i].slot));
    }
    for (uint32_t slot = going_.next(0); slot != UINT32_MAX; slot = going_.next(slot + 1)) {
      std::fill_n(graph_.links(slot), degree(), kNoLink);
      graph_.removed().insert(slot);
    }
    for (const Copy& copy : copies_) std::fill_n(graph_.links(copy.slot), degree(), kNoLink);
    for (const Copy& copy : copies_) link_copy(graph_, codes_, copy);
    if (graph_.seeds().empty() && graph_.removed().count() < graph_.rows()) {
      choose_seeds(graph_, codes_, kernels_, options_.seed, distances_);
    }
    WalkScratch& walk = scratch_[0].walk;
    for (const Affected& row : affected_) {
      if (graph_.linked(row.slot).empty()) link_lonely(row.slot);
    }
    restore_reachability(graph_, codes_, kernels_, walk, distances_);
    phase_ = Phase::kDone;
  }

  // A row all around which went.
  void link_lonely(uint32_t slot) {
    Scratch& scratch = scratch_[0];
    const auto found =
        walk_to_link(graph_, codes_, kernels_, slot, kLonelyEf, scratch.walk, distances_);
    scratch.candidates.clear();
    for (const Candidate& near : found) {
      if (near.slot != slot) scratch.candidates.push_back(near);
    }
    robust_prune(codes_, kernels_, scratch.candidates, nullptr, degree(), graph_.links(slot),
                 distances_);
  }

  uint32_t degree() const { return graph_.degree(); }

  Graph& graph_;
  const Codes& codes_;
  const Kernels& kernels_;
  ThreadPool& pool_;
  const GraphOptions options_;
  SlotSet going_;
  std::vector<Scratch> scratch_;  // a worker each
  uint64_t distances_ = 0;

  Phase phase_ = Phase::kGather;
  uint32_t gathered_ = 0;
  size_t repaired_ = 0;
  std::vector<Affected> affected_;  // rising slots
  std::vector<uint32_t> updated_;   // degree() an affected row
  std::vector<Copy> copies_;        // to be hung behind their heads
  std::vector<Heir> heirs_;         // rising
};

}  // namespace

std::unique_ptr<Linker> make_row_remover(Graph& graph, const Codes& codes, const Kernels& kernels,
                                         ThreadPool& pool, const GraphOptions& options,
                                         const SlotSet& dead) {
  return std::make_unique<RowRemover>(graph, codes, kernels, pool, options, dead);
}

}  // namespace nearfield
