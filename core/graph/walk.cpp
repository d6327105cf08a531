// Best-first search with one sorted pool (the LinearPool of Glass) and two passes an expansion: the
// unvisited neighbours are gathered first and then scored four at a time, so that their codes are
// on the way from memory while others are scored (Glass, faiss, ParlayANN).
#include "graph/walk.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace nearfield {
namespace {

constexpr uint32_t kExpanded = 0x80000000;  // slots have 31 bits (kMaxRows)
constexpr size_t kGroups = 4;               // groups of seeds that are scored
constexpr size_t kSoon = 2;                 // places behind the cursor that are expanded next

void prefetch_code(const Codes& codes, uint32_t slot) {
  const uint8_t* code = codes.code(slot);
  for (size_t i = 0; i < codes.stride(); i += 64) __builtin_prefetch(code + i);
}

struct QueryDistance {
  const Codes& codes;
  const uint8_t* code;
  int32_t operator()(uint32_t slot, int32_t dot) const { return codes.walk_distance(slot, dot); }
};

struct BuildDistance {
  const Codes& codes;
  const uint8_t* code;
  uint32_t row;
  int32_t operator()(uint32_t slot, int32_t dot) const {
    return codes.build_distance(row, slot, dot);
  }
};

template <class Distance>
class Walker {
 public:
  Walker(const Graph& graph, const Codes& codes, const Kernels& kernels, Distance distance,
         WalkScratch& scratch)
      : graph_(graph),
        codes_(codes),
        kernels_(kernels),
        distance_(distance),
        scratch_(scratch),
        ahead_(codes.stride() <= 256 ? 12 : 8) {}

  std::span<const Candidate> run(const WalkOptions& options, uint64_t& distances) {
    const uint32_t rows = graph_.rows();
    if (rows == 0) return {};
    capacity_ = std::min(options.ef, rows);
    only_ = options.only;
    bridged_ = options.bridged;
    scratch_.selected.clear();
    scratch_.nearest_seed = INT32_MAX;
    size_ = 0;
    cursor_ = 0;
    if (scratch_.pool.size() < capacity_ + 1) scratch_.pool.resize(capacity_ + 1);
    start_epoch(rows);
    if (options.without < rows) scratch_.visited[options.without] = scratch_.epoch;
    stop_ = options.stop ? &*options.stop : nullptr;
    begin_at_seeds();
    if (bridged_) {
      begin_at_selected();
      cursor_ = 0;
    }
    come_closer();

    Candidate* pool = scratch_.pool.data();
    while (cursor_ < size_ && computed_ <= options.budget) {
      const Candidate from = pool[cursor_];
      if (from.slot & kExpanded) {
        ++cursor_;
        continue;
      }
      if (from.distance > reach_) break;
      pool[cursor_].slot |= kExpanded;
      if (bridged_) {
        expand_bridged(from.slot);
      } else {
        expand(from);
      }
      come_closer();
    }
    for (size_t i = 0; i < size_; ++i) pool[i].slot &= ~kExpanded;
    distances += computed_;
    return {pool, size_};
  }

 private:
  void start_epoch(uint32_t rows) {
    if (scratch_.visited.size() < rows) scratch_.visited.resize(rows, 0);
    if (++scratch_.epoch ==
        0) {  // after 65,535 walks the marks of the first ones would count again
      std::fill(scratch_.visited.begin(), scratch_.visited.end(), uint16_t{0});
      scratch_.epoch = 1;
    }
  }

  // Calls take(slot, distance) for each slot.
  template <class Take>
  void score(std::span<const uint32_t> slots, Take take) {
    const size_t count = slots.size();
    for (size_t i = 0; i < std::min(count, ahead_); ++i) prefetch_code(codes_, slots[i]);
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
      for (size_t j = i + ahead_; j < std::min(count, i + ahead_ + 4); ++j) {
        prefetch_code(codes_, slots[j]);
      }
      const uint8_t* rows[4];
      for (size_t j = 0; j < 4; ++j) rows[j] = codes_.code(slots[i + j]);
      int32_t dots[4];
      kernels_.dot4_u7(distance_.code, rows, codes_.stride(), dots);
      for (size_t j = 0; j < 4; ++j) take(slots[i + j], distance_(slots[i + j], dots[j]));
    }
    for (; i < count; ++i) {
      const int32_t dot = kernels_.dot_u7(distance_.code, codes_.code(slots[i]), codes_.stride());
      take(slots[i], distance_(slots[i], dot));
    }
    computed_ += count;
  }

  // Every seed that is scored enters the pool, so that an island whose seed is not among the
  // nearest still gets its turn as long as the pool has room for it.
  void begin_at_seeds() {
    const auto seeds = graph_.seeds();
    const auto groups = graph_.group_starts();
    auto& fresh = scratch_.fresh;
    const auto into_pool = [&](uint32_t slot, int32_t d) { take_seed({d, slot}); };
    fresh.clear();
    if (groups.empty()) {
      for (const uint32_t seed : seeds) visit(seed);
    } else {
      // Centres first; the groups of the nearest ones follow.
      auto& group_of = scratch_.groups;
      group_of.clear();
      for (uint32_t g = 0; g + 1 < groups.size(); ++g) {
        if (visit(seeds[groups[g]])) group_of.push_back(g);
      }
      Nearest<kGroups> nearest;
      size_t scored = 0;
      score(fresh, [&](uint32_t slot, int32_t d) {
        take_seed({d, slot});
        nearest.offer({d, group_of[scored++]});
      });
      fresh.clear();
      for (const Candidate& near : nearest.found()) {
        for (uint32_t i = groups[near.slot] + 1; i < groups[near.slot + 1]; ++i) visit(seeds[i]);
      }
    }
    if (size_ == 0 && fresh.empty())
      visit(0);  // a graph without seeds, damaged or with the only one left out
    score(fresh, into_pool);
  }

  // Notes a row that is to be scored; false when it was visited before or lies outside.
  bool visit(uint32_t slot) {
    if (slot >= graph_.rows() || scratch_.visited[slot] == scratch_.epoch) return false;
    scratch_.visited[slot] = scratch_.epoch;
    scratch_.fresh.push_back(slot);
    return true;
  }

  // A bridged walk has no rows in its pool that are not selected; the nearest of those lead to
  // some.
  void take_seed(Candidate seed) {
    scratch_.nearest_seed = std::min(scratch_.nearest_seed, seed.distance);
    if (!bridged_ || only_->contains(seed.slot)) {
      insert(seed);
    } else {
      bridge_seeds_.offer(seed);
    }
  }

  // Starts also at selected rows from all over the collection, since those that are near the query
  // may lie in another part than its nearest seeds.
  void begin_at_selected() {
    constexpr uint64_t kStarts = 64;
    for (const Candidate& seed : bridge_seeds_.found()) expand_bridged(seed.slot);
    auto& fresh = scratch_.fresh;
    fresh.clear();
    const uint64_t stride = std::max<uint64_t>(1, only_->count / kStarts);
    uint64_t next = stride / 2;  // which of the selected rows is taken next
    uint64_t passed = 0;         // selected rows before this word
    for (size_t w = 0; w < only_->words.size(); ++w) {
      const auto in_word = static_cast<uint64_t>(std::popcount(only_->words[w]));
      for (; next < passed + in_word; next += stride) {
        uint64_t word = only_->words[w];
        for (uint64_t skip = next - passed; skip > 0; --skip) word &= word - 1;
        visit(static_cast<uint32_t>(w * 64 + std::countr_zero(word)));
      }
      passed += in_word;
    }
    score(fresh, [&](uint32_t slot, int32_t d) { insert({d, slot}); });
  }

  // How far the walk still looks, now that it has found what the pool holds.
  void come_closer() {
    if (stop_ == nullptr) return;
    const EarlyStop& stop = *stop_;
    const Candidate* pool = scratch_.pool.data();
    const bool counted = only_ != nullptr && !bridged_;
    if ((counted ? scratch_.selected.size() : size_) < stop.least) return;
    const auto nth = [&](size_t rank) {
      return counted ? scratch_.selected[rank - 1] : pool[rank - 1].distance;
    };
    const int32_t limit = nth(stop.rank);
    const int64_t squared = stop.query.offset + limit;
    if (squared < 0) return;  // under dot, among rows longer than those that it was fitted to
    int64_t beyond = squared * stop.slack / kSlackUnit;
    if (stop.deviations > 0) {
      const double rounding = stop.deviations * codes_.rounding_error(stop.query, limit);
      beyond = std::max(beyond, static_cast<int64_t>(rounding));
    }
    reach_ = static_cast<int32_t>(std::min<int64_t>(limit + beyond, INT32_MAX));
    bound_ = std::max(reach_, nth(stop.least));
    while (pool[size_ - 1].distance > bound_) --size_;
  }

  // Scores the unvisited neighbours of a row, which stands at the cursor.
  void expand(const Candidate& from) {
    const uint32_t rows = graph_.rows();
    const uint32_t degree = graph_.degree();
    const uint32_t* links = graph_.links(from.slot);
    scratch_.fresh.resize(degree);
    uint32_t* fresh = scratch_.fresh.data();
    uint16_t* visited = scratch_.visited.data();
    const uint16_t epoch = scratch_.epoch;
    size_t count = 0;
    for (uint32_t i = 0; i < degree; ++i) {
      const uint32_t to = links[i];
      if (to >= rows) {
        if (to == kNoLink) break;
        continue;
      }
      fresh[count] = to;
      count += visited[to] != epoch;
      visited[to] = epoch;
    }
    size_t next = cursor_ + 1;
    score({fresh, count}, [&](uint32_t slot, int32_t d) {
      if constexpr (kSkipsCopies) {
        // Copies are at one distance from every row, even where not at 0 from each other.
        if (d == from.distance && same_code(slot, from.slot)) return;
      }
      next = std::min(next, insert({d, slot}));
    });
    cursor_ = next;
  }

  // The same for a bridged walk: the selected rows that one or two links away.
  void expand_bridged(uint32_t from) {
    const uint32_t rows = graph_.rows();
    const uint32_t degree = graph_.degree();
    auto& fresh = scratch_.fresh;
    auto& bridges = scratch_.bridges;
    fresh.clear();
    bridges.clear();
    const auto links_of = [&](uint32_t slot, auto take) {
      const uint32_t* links = graph_.links(slot);
      for (uint32_t i = 0; i < degree && links[i] != kNoLink; ++i) {
        if (links[i] < rows && scratch_.visited[links[i]] != scratch_.epoch) take(links[i]);
      }
    };
    links_of(from, [&](uint32_t to) {
      scratch_.visited[to] = scratch_.epoch;
      if (only_->contains(to)) {
        fresh.push_back(to);
      } else {
        bridges.push_back(to);
        graph_.prefetch(to);
      }
    });
    for (const uint32_t bridge : bridges) {
      if (fresh.size() >= degree) break;
      links_of(bridge, [&](uint32_t to) {
        if (!only_->contains(to)) return;
        scratch_.visited[to] = scratch_.epoch;
        fresh.push_back(to);
      });
    }
    size_t next = cursor_ + 1;
    score(fresh, [&](uint32_t slot, int32_t d) { next = std::min(next, insert({d, slot})); });
    cursor_ = next;
  }

  static constexpr bool kSkipsCopies = std::is_same_v<Distance, BuildDistance>;

  bool same_code(uint32_t a, uint32_t b) const {
    return std::memcmp(codes_.code(a), codes_.code(b), codes_.stride()) == 0;
  }

  // The order of candidates as one number: comparing takes no branch, which could not be foreseen.
  static int64_t order(const Candidate& candidate) {
    return (int64_t{candidate.distance} << 32) | (candidate.slot & ~kExpanded);
  }

  // Returns the position, or size_t max when the pool is full of nearer ones.
  size_t insert(Candidate candidate) {
    if (candidate.distance > bound_) return SIZE_MAX;
    if (only_ != nullptr && !bridged_) count_selected(candidate);
    Candidate* pool = scratch_.pool.data();
    const int64_t key = order(candidate);
    if (size_ == capacity_ && order(pool[size_ - 1]) < key) return SIZE_MAX;
    size_t low = 0;
    for (size_t count = size_; count > 0;) {
      const size_t half = (count + 1) / 2;
      low += order(pool[low + half - 1]) < key ? half : 0;
      count -= half;
    }
    const size_t moved = std::min<size_t>(size_, capacity_ - 1) - low;
    std::memmove(pool + low + 1, pool + low, moved * sizeof(Candidate));
    pool[low] = candidate;
    if (low <= cursor_ + kSoon) graph_.prefetch(candidate.slot);
    size_ = std::min<size_t>(size_ + 1, capacity_);
    return low;
  }

  // Keeps the distances of the nearest selected rows, as many as the stop asks for.
  void count_selected(const Candidate& candidate) {
    if (!only_->contains(candidate.slot)) return;
    auto& selected = scratch_.selected;
    if (selected.size() == stop_->least) {
      if (candidate.distance >= selected.back()) return;
      selected.pop_back();
    }
    selected.insert(std::upper_bound(selected.begin(), selected.end(), candidate.distance),
                    candidate.distance);
  }

  // The N nearest of what is offered, sorted.
  template <size_t N>
  class Nearest {
   public:
    void offer(Candidate candidate) {
      if (count_ == N && !(candidate < best_[N - 1])) return;
      size_t place = count_ < N ? count_++ : N - 1;
      for (; place > 0 && candidate < best_[place - 1]; --place) best_[place] = best_[place - 1];
      best_[place] = candidate;
    }
    std::span<const Candidate> found() const { return {best_, count_}; }

   private:
    Candidate best_[N];
    size_t count_ = 0;
  };

  const Graph& graph_;
  const Codes& codes_;
  const Kernels& kernels_;
  const Distance distance_;
  WalkScratch& scratch_;
  const size_t ahead_;  // codes prefetched before they are scored
  size_t capacity_ = 0;
  size_t size_ = 0;
  size_t cursor_ = 0;          // everything before it is expanded
  int32_t reach_ = INT32_MAX;  // rows farther than this are not expanded
  int32_t bound_ = INT32_MAX;  // rows farther than this do not enter the pool
  uint64_t computed_ = 0;
  const EarlyStop* stop_ = nullptr;
  const Selection* only_ = nullptr;
  bool bridged_ = false;
  Nearest<kGroups> bridge_seeds_;  // that are not selected
};

}  // namespace

std::span<const Candidate> walk(const Graph& graph, const Codes& codes, const Kernels& kernels,
                                const uint8_t* query, const WalkOptions& options,
                                WalkScratch& scratch, uint64_t& distances) {
  return Walker<QueryDistance>(graph, codes, kernels, {codes, query}, scratch)
      .run(options, distances);
}

std::span<const Candidate> walk_to_link(const Graph& graph, const Codes& codes,
                                        const Kernels& kernels, uint32_t row, uint32_t ef,
                                        WalkScratch& scratch, uint64_t& distances) {
  return Walker<BuildDistance>(graph, codes, kernels, {codes, codes.code(row), row}, scratch)
      .run({.ef = ef}, distances);
}

}  // namespace nearfield
