// ann_filtered FOLDER DATASET [ROUNDS]: searches among selected rows, for selections of several
// sizes that are random, lie around the queries or lie far from them. For each: the recall@10
// against the exact answer, the fewest rows returned, and the throughput of the planner's choice
// and of every plan, as a ratio to the search without a selection at the same index (medians of
// ROUNDS, alternating). One thread.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <set>
#include <stdexcept>

#include "data_set.h"
#include "nearfield/database.h"
#include "threads/std_thread_pool.h"

namespace {

using nearfield::Hit;
using nearfield::Plan;
using nearfield::SearchOptions;
using nearfield::Selection;

constexpr size_t kAnchors = 10;
constexpr size_t kQueriesAnAnchor = 50;
constexpr uint32_t kK = 10;

template <class T>
T check(nearfield::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().detail);
  return std::move(result).value();
}

nearfield::Metric metric_of(const std::string& name) {
  if (name == "l2") return nearfield::Metric::kL2;
  return name == "dot" ? nearfield::Metric::kDot : nearfield::Metric::kCosine;
}

struct Case {
  const float* query;
  const Selection* among;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Bench {
 public:
  Bench(const bench::DataSet& set, int rounds)
      : rounds_(rounds),
        rows_(set.rows),
        dimensions_(set.dimensions),
        base_(bench::read_base(set)),
        queries_(bench::read_queries(set)),
        pool_(2) {
    database_ = check(
        nearfield::Database::open(std::make_unique<nearfield::MemoryStorage>(), {.pool = &pool_}));
    collection_ =
        check(database_->collection("rows", {.dimensions = static_cast<uint32_t>(dimensions_),
                                             .metric = metric_of(set.metric)}));
    std::vector<nearfield::IdView> ids(rows_);
    for (size_t i = 0; i < rows_; ++i) ids[i] = static_cast<int64_t>(i);
    check(collection_->upsert({.vectors = base_, .ids = ids}));
    check(collection_->link());
    query_count_ = queries_.size() / dimensions_;
  }

  void run() {
    std::printf("%-9s %7s | %-12s %7s %5s %7s |", "filter", "share", "chosen", "recall", "rows",
                "speed");
    for (const char* name : {"scan", "code-scan", "bridged", "walk"}) std::printf(" %-15s", name);
    std::printf("\n");
    for (const char* kind : {"random", "near", "far"}) {
      for (const double share : {0.001, 0.01, 0.05, 0.10, 0.25, 0.50, 0.90}) report(kind, share);
    }
  }

 private:
  std::vector<uint32_t> around(size_t anchor) {
    nearfield::SearchScratch scratch;
    const std::span<const float> row(base_.data() + anchor * dimensions_, dimensions_);
    const auto hits = check(
        collection_->search(row, {.k = static_cast<uint32_t>(rows_), .exact = true}, scratch));
    std::vector<uint32_t> slots;
    for (const Hit& hit : hits) slots.push_back(hit.slot);
    return slots;
  }

  // Queries by how near they are to a row.
  std::vector<size_t> queries_by_distance(size_t anchor) {
    std::vector<std::pair<double, size_t>> order;
    const float* row = base_.data() + anchor * dimensions_;
    for (size_t q = 0; q < query_count_; ++q) {
      const float* query = queries_.data() + q * dimensions_;
      double dot = 0, a = 0, b = 0;
      for (size_t i = 0; i < dimensions_; ++i) {
        dot += static_cast<double>(row[i]) * query[i];
        a += static_cast<double>(row[i]) * row[i];
        b += static_cast<double>(query[i]) * query[i];
      }
      order.emplace_back(-dot / std::sqrt(a * b + 1e-30), q);
    }
    std::sort(order.begin(), order.end());
    std::vector<size_t> sorted;
    for (const auto& [distance, q] : order) sorted.push_back(q);
    return sorted;
  }

  void report(const std::string& kind, double share) {
    std::vector<Selection> selections(kAnchors);
    std::vector<Case> cases;
    const auto wanted = static_cast<size_t>(share * static_cast<double>(rows_));
    uint64_t state = 88172645463325252ULL;
    const auto random = [&] {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      return state;
    };
    for (size_t a = 0; a < kAnchors; ++a) {
      Selection& selection = selections[a];
      selection.words.assign((rows_ + 63) / 64, 0);
      const size_t anchor = (a * 7919 + 13) % rows_;
      std::vector<uint32_t> slots;
      if (kind == "random") {
        slots.resize(rows_);
        std::iota(slots.begin(), slots.end(), 0U);
        for (size_t i = 0; i < wanted; ++i) std::swap(slots[i], slots[i + random() % (rows_ - i)]);
      } else {
        slots = around(anchor);
      }
      for (size_t i = 0; i < wanted; ++i)
        selection.words[slots[i] / 64] |= uint64_t{1} << (slots[i] % 64);
      selection.count = wanted;
      auto order = queries_by_distance(anchor);
      if (kind == "far") std::reverse(order.begin(), order.end());
      if (kind == "random") {
        for (size_t i = 0; i < kQueriesAnAnchor; ++i)
          order[i] = (a * kQueriesAnAnchor + i) % query_count_;
      }
      for (size_t i = 0; i < kQueriesAnAnchor; ++i) {
        cases.push_back({queries_.data() + order[i] * dimensions_, &selection});
      }
    }
    std::vector<std::set<uint32_t>> truth;
    for (const Case& one : cases) {
      std::set<uint32_t> slots;
      for (const Hit& hit : answer(one, {.k = kK, .exact = true})) slots.insert(hit.slot);
      truth.push_back(std::move(slots));
    }
    struct Way {
      SearchOptions options;
      std::vector<double> seconds;
      double recall = 0;
      size_t fewest = SIZE_MAX;
      size_t gave_up = 0;
      Plan plan = Plan::kWalk;
    };
    std::vector<Way> ways(6);
    for (Way& way : ways) way.options.k = kK;
    for (size_t i = 2; i < ways.size(); ++i) ways[i].options.plan = static_cast<Plan>(i - 2);
    if (const char* recall = std::getenv("RECALL")) {
      for (Way& way : ways) way.options.recall = std::atof(recall);
    }
    for (int round = 0; round < rounds_; ++round) {
      for (size_t w = 0; w < ways.size(); ++w) {
        Way& way = ways[w];
        size_t found = 0;
        double seconds = 0;
        for (size_t c = 0; c < cases.size(); ++c) {
          Case one = cases[c];
          if (w == 0) one.among = nullptr;
          const auto begin = std::chrono::steady_clock::now();
          const auto hits = answer(one, way.options);
          seconds +=
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
          if (w == 0) continue;
          for (const Hit& hit : hits) found += truth[c].contains(hit.slot) ? 1 : 0;
          way.fewest = std::min(way.fewest, hits.size());
          way.plan = stats_.plan;
          if (way.options.plan && stats_.plan != *way.options.plan && round == 0) ++way.gave_up;
        }
        way.seconds.push_back(seconds);
        way.recall = static_cast<double>(found) / static_cast<double>(cases.size() * kK);
      }
    }
    const double plain = median(ways[0].seconds);
    std::printf("%-9s %6.1f%% | %-12s %7.4f %5zu %6.2fx |", kind.c_str(), share * 100,
                std::string(plan_name(ways[1].plan)).c_str(), ways[1].recall, ways[1].fewest,
                plain / median(ways[1].seconds));
    for (size_t w = 2; w < ways.size(); ++w) {
      std::printf(" %.3f %4.2fx %3.0f%%", ways[w].recall, plain / median(ways[w].seconds),
                  100.0 * static_cast<double>(ways[w].gave_up) / static_cast<double>(cases.size()));
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  std::vector<Hit> answer(const Case& one, SearchOptions options) {
    options.among = one.among;
    return check(collection_->search({one.query, dimensions_}, options, scratch_, &stats_));
  }

  int rounds_;
  size_t rows_;
  size_t dimensions_;
  size_t query_count_ = 0;
  std::vector<float> base_;
  std::vector<float> queries_;
  nearfield::StdThreadPool pool_;
  std::unique_ptr<nearfield::Database> database_;
  nearfield::Collection* collection_ = nullptr;
  nearfield::SearchScratch scratch_;
  nearfield::SearchStats stats_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: ann_filtered FOLDER DATASET [ROUNDS]\n");
    return 2;
  }
  try {
    Bench(bench::read_set(argv[1], argv[2]), argc == 4 ? std::atoi(argv[3]) : 5).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
