// ann_churn FOLDER DATASET [ROUNDS]: what deleting and storing again does to an index. Three
// tables, each beside an index that was built at once from the same rows, with two threads:
//   compact   10 % of the rows are deleted; time of compact() against that of the build
//   reinsert  10 % are deleted and stored again; time against the build
//   turnover  half of the rows give way to the other half, in steps of 1, 10 and 50 %, at random
//             and a neighbourhood at a time
// and for each, with one thread at ef 100: recall@10 of both, throughput (ratio of medians of
// ROUNDS, alternating) and distances computed, as ratios to the fresh one; slots and bytes of
// storage after compact() as ratios, and what verify() finds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "data_set.h"
#include "nearfield/database.h"
#include "threads/std_thread_pool.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kK = 10;
constexpr size_t kQueries = 1000;
constexpr uint32_t kEf = 100;

template <class T>
T check(nearfield::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().detail);
  return std::move(result).value();
}
void check(nearfield::Result<void> result) {
  if (!result) throw std::runtime_error(result.error().detail);
}

nearfield::Metric metric_of(const std::string& name) {
  if (name == "l2") return nearfield::Metric::kL2;
  return name == "dot" ? nearfield::Metric::kDot : nearfield::Metric::kCosine;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class Work>
double seconds_of(Work work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A store in memory. Row i of the data set has the id i.
class Index {
 public:
  Index(const bench::DataSet& set, const std::vector<float>& base, nearfield::ThreadPool& pool)
      : base_(base), dimensions_(set.dimensions) {
    auto storage = std::make_unique<nearfield::MemoryStorage>();
    storage_ = storage.get();
    database_ = check(nearfield::Database::open(std::move(storage), {.pool = &pool}));
    collection_ =
        check(database_->collection("rows", {.dimensions = static_cast<uint32_t>(dimensions_),
                                             .metric = metric_of(set.metric)}));
  }

  void insert(std::span<const uint32_t> rows) {
    constexpr size_t kBatch = 4096;
    std::vector<float> vectors;
    std::vector<nearfield::IdView> ids;
    for (size_t begin = 0; begin < rows.size(); begin += kBatch) {
      vectors.clear();
      ids.clear();
      for (size_t i = begin; i < std::min(rows.size(), begin + kBatch); ++i) {
        const auto row = base_.begin() + static_cast<ptrdiff_t>(rows[i] * dimensions_);
        vectors.insert(vectors.end(), row, row + static_cast<ptrdiff_t>(dimensions_));
        ids.emplace_back(int64_t{rows[i]});
      }
      check(collection_->upsert({.vectors = vectors, .ids = ids}));
    }
  }
  void remove(std::span<const uint32_t> rows) {
    std::vector<nearfield::IdView> ids;
    for (const uint32_t row : rows) ids.emplace_back(int64_t{row});
    check(collection_->remove(ids));
  }
  void link_if_wanted() {
    while (collection_->wants_link()) check(collection_->link());
  }
  void link() { check(collection_->link()); }
  void compact() { check(collection_->compact()); }

  std::vector<int64_t> search(std::span<const float> query, bool exact) {
    const auto hits = check(collection_->search(
        query, {.k = kK, .ef = exact ? std::nullopt : std::optional(kEf), .exact = exact}, scratch_,
        &stats_));
    std::vector<int64_t> ids;
    for (const auto& hit : hits) ids.push_back(collection_->id_at(hit.slot).number());
    return ids;
  }

  uint64_t distances() const { return stats_.distance_computations; }
  uint64_t slots() const { return collection_->stats().rows; }
  uint64_t stored_bytes() {
    check(database_->flush());
    uint64_t bytes = 0;
    for (const auto& [name, content] : storage_->files()) bytes += content.size();
    return bytes;
  }
  size_t problems() { return check(database_->verify()).problems.size(); }

 private:
  const std::vector<float>& base_;
  size_t dimensions_;
  nearfield::MemoryStorage* storage_ = nullptr;
  std::unique_ptr<nearfield::Database> database_;
  nearfield::Collection* collection_ = nullptr;
  nearfield::SearchScratch scratch_;
  nearfield::SearchStats stats_;
};

class Bench {
 public:
  Bench(const bench::DataSet& set, int rounds)
      : set_(set),
        rounds_(rounds),
        base_(bench::read_base(set)),
        queries_(bench::read_queries(set)),
        query_count_(std::min(kQueries, queries_.size() / set.dimensions)),
        pool_(2) {}

  void run() {
    std::printf("%-34s %8s %8s %8s %9s %6s %6s %8s %8s\n", "", "recall", "fresh", "speed",
                "distances", "slots", "bytes", "problems", "time");
    std::vector<uint32_t> all(set_.rows);
    std::iota(all.begin(), all.end(), 0U);
    std::vector<uint32_t> shuffled = all;
    shuffle(shuffled);
    const std::span<const uint32_t> tenth(shuffled.data(), all.size() / 10);
    const std::span<const uint32_t> rest(shuffled.data() + tenth.size(), all.size() - tenth.size());
    {
      auto fresh = built(rest);
      auto churned = built(all);
      churned->remove(tenth);
      const double seconds = seconds_of([&] { churned->compact(); });
      report("compact, 10 % deleted", *churned, *fresh, seconds / build_seconds_);
    }
    {
      auto fresh = built(all);
      auto churned = built(all);
      churned->remove(tenth);
      const double seconds = seconds_of([&] {
        churned->insert(tenth);
        churned->link_if_wanted();
        churned->link();
      });
      report("reinsert, 10 %", *churned, *fresh, seconds / build_seconds_);
    }
    const std::span<const uint32_t> old_rows(all.data(), all.size() / 2);
    const std::span<const uint32_t> new_rows(all.data() + old_rows.size(), old_rows.size());
    auto fresh = built(new_rows);
    for (const bool by_place : {false, true}) {
      std::vector<uint32_t> going(old_rows.begin(), old_rows.end());
      std::vector<uint32_t> coming(new_rows.begin(), new_rows.end());
      shuffle(going);
      shuffle(coming);
      if (by_place) by_neighbourhood(going);
      for (const size_t percent : {50, 10, 1}) {
        auto churned = built(old_rows);
        const double seconds = seconds_of([&] {
          for (size_t step = 0; step < 100 / percent; ++step) {
            const size_t begin = going.size() * step * percent / 100;
            const size_t end = going.size() * (step + 1) * percent / 100;
            churned->remove({going.data() + begin, end - begin});
            churned->insert({coming.data() + begin, end - begin});
            churned->link_if_wanted();
          }
          churned->link();
        });
        const std::string name = "turnover, " + std::to_string(percent) + " % a step, " +
                                 (by_place ? "by place" : "random");
        report(name, *churned, *fresh, seconds / build_seconds_);
      }
    }
  }

 private:
  std::unique_ptr<Index> built(std::span<const uint32_t> rows) {
    auto index = std::make_unique<Index>(set_, base_, pool_);
    build_seconds_ = seconds_of([&] {
      index->insert(rows);
      index->link();
    });
    return index;
  }

  void report(const std::string& name, Index& churned, Index& fresh, double time) {
    const double recall_before = recall(churned, fresh);
    const double recall_of_fresh = recall(fresh, fresh);
    std::vector<double> ratios[2];
    for (int round = 0; round < rounds_; ++round) {
      ratios[0].push_back(seconds_of([&] { ask_all(churned); }));
      ratios[1].push_back(seconds_of([&] { ask_all(fresh); }));
    }
    const auto distances_of = [&](Index& index) {
      const uint64_t before = index.distances();
      ask_all(index);
      return static_cast<double>(index.distances() - before);
    };
    const double distances = distances_of(churned) / distances_of(fresh);
    const double speed = median(ratios[1]) / median(ratios[0]);
    const size_t problems = churned.problems();
    churned.compact();
    const double slots = static_cast<double>(churned.slots()) / static_cast<double>(fresh.slots());
    const double bytes =
        static_cast<double>(churned.stored_bytes()) / static_cast<double>(fresh.stored_bytes());
    std::printf("%-34s %8.4f %8.4f %7.2fx %8.2fx %6.2f %6.2f %8zu %7.2fx\n", name.c_str(),
                recall_before, recall_of_fresh, speed, distances, slots, bytes,
                problems + churned.problems(), time);
    std::fflush(stdout);
  }

  std::span<const float> query(size_t q) const {
    return {queries_.data() + q * set_.dimensions, set_.dimensions};
  }
  void ask_all(Index& index) const {
    for (size_t q = 0; q < query_count_; ++q) (void)index.search(query(q), false);
  }
  double recall(Index& index, Index& oracle) const {
    size_t found = 0;
    for (size_t q = 0; q < query_count_; ++q) {
      const auto truth = oracle.search(query(q), true);
      const std::set<int64_t> nearest(truth.begin(), truth.end());
      for (const int64_t id : index.search(query(q), false)) found += nearest.contains(id);
    }
    return static_cast<double>(found) / static_cast<double>(query_count_ * kK);
  }

  uint64_t random() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  void shuffle(std::vector<uint32_t>& rows) {
    for (size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random() % i]);
  }
  // Brings rows together that are nearest to the same one of 100.
  void by_neighbourhood(std::vector<uint32_t>& rows) {
    constexpr size_t kPlaces = 100;
    Index places(set_, base_, pool_);
    places.insert({rows.data(), kPlaces});
    std::vector<std::pair<int64_t, uint32_t>> order;
    for (const uint32_t row : rows) {
      const std::span<const float> vector(base_.data() + size_t{row} * set_.dimensions,
                                          set_.dimensions);
      order.emplace_back(places.search(vector, true).front(), row);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = order[i].second;
  }

  const bench::DataSet& set_;
  int rounds_;
  std::vector<float> base_;
  std::vector<float> queries_;
  size_t query_count_;
  nearfield::StdThreadPool pool_;
  double build_seconds_ = 0;  // of the last build
  uint64_t state_ = 88172645463325252ULL;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: ann_churn FOLDER DATASET [ROUNDS]\n");
    return 2;
  }
  try {
    const bench::DataSet set = bench::read_set(argv[1], argv[2]);
    Bench(set, argc == 4 ? std::atoi(argv[3]) : 5).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
