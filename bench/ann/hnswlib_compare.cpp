// hnswlib_compare FOLDER SET [--threads N] [--rounds R] [--json]: builds and searches a prepared
// data set with hnswlib and with Nearfield, alternating, in one process. bench/BENCHMARKS.md says
// what is measured and why it is fair.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <hnswlib/hnswlib.h>
#include <nlohmann/json.hpp>

#include "nearfield/database.h"
#include "std_thread_pool.h"

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr size_t kK = 10;
constexpr uint32_t kM = 16;
constexpr uint32_t kEfConstruction = 200;
constexpr uint32_t kLadder[] = {10, 20, 40, 70, 100, 150, 200, 300, 400, 600, 800};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// A data set as bench/datasets/prepare.mjs writes it.
struct DataSet {
  std::string name;
  std::string metric;
  size_t dimensions = 0;
  size_t rows = 0;
  size_t queries = 0;
  std::vector<float> base;
  std::vector<float> query;
  std::vector<int32_t> truth;  // kK a query

  const float* base_row(size_t i) const { return &base[i * dimensions]; }
  const float* query_row(size_t i) const { return &query[i * dimensions]; }
};

template <class T>
std::vector<T> read_values(const std::string& path, size_t count) {
  std::vector<T> values(count);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(count * sizeof(T)));
  if (!file || file.peek() != std::ifstream::traits_type::eof()) {
    throw std::runtime_error(path + ": expected " + std::to_string(count * sizeof(T)) + " bytes");
  }
  return values;
}

DataSet read_set(const std::string& folder, const std::string& name) {
  const std::string prefix = folder + "/" + name;
  std::ifstream file(prefix + ".meta.json");
  if (!file) {
    throw std::runtime_error(prefix +
                             ".meta.json is missing; run node bench/datasets/prepare.mjs " + name);
  }
  const Json meta = Json::parse(file);
  if (meta.at("k") != kK) throw std::runtime_error(name + ": expected the ten nearest as truth");
  DataSet set;
  set.name = name;
  set.metric = meta.at("metric");
  set.dimensions = meta.at("dimensions");
  set.rows = meta.at("rows");
  set.queries = meta.at("queries");
  set.base = read_values<float>(prefix + ".base.f32", set.rows * set.dimensions);
  set.query = read_values<float>(prefix + ".query.f32", set.queries * set.dimensions);
  set.truth = read_values<int32_t>(prefix + ".gt.i32", set.queries * kK);
  return set;
}

using Found = std::vector<std::vector<int32_t>>;  // ids, a list a query

double recall(const DataSet& set, const Found& found) {
  size_t hits = 0;
  for (size_t i = 0; i < set.queries; ++i) {
    const int32_t* truth = &set.truth[i * kK];
    for (const int32_t id : found[i]) hits += std::count(truth, truth + kK, id) > 0 ? 1 : 0;
  }
  return static_cast<double>(hits) / static_cast<double>(set.queries * kK);
}

// One index under test.
class Index {
 public:
  virtual ~Index() = default;
  virtual const char* name() const = 0;
  virtual void build(const DataSet& set, unsigned threads) = 0;            // from nothing
  virtual void search(const DataSet& set, uint32_t ef, Found& found) = 0;  // one thread
};

std::vector<float> normalized(const float* row, size_t dimensions) {
  double squares = 0;
  for (size_t i = 0; i < dimensions; ++i) squares += static_cast<double>(row[i]) * row[i];
  const float scale = squares > 0 ? static_cast<float>(1 / std::sqrt(squares)) : 0;
  std::vector<float> unit(row, row + dimensions);
  for (float& value : unit) value *= scale;
  return unit;
}

class Hnswlib final : public Index {
 public:
  const char* name() const override { return "hnswlib"; }

  void build(const DataSet& set, unsigned threads) override {
    graph_.reset();
    cosine_ = set.metric == "cosine";
    if (set.metric == "l2") {
      space_ = std::make_unique<hnswlib::L2Space>(set.dimensions);
    } else {
      space_ = std::make_unique<hnswlib::InnerProductSpace>(set.dimensions);
    }
    graph_ = std::make_unique<hnswlib::HierarchicalNSW<float>>(space_.get(), set.rows, kM,
                                                               kEfConstruction);
    add(set, 0);
    std::atomic<size_t> next{1};
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < threads; ++i) {
      workers.emplace_back([&] {
        for (size_t row = next++; row < set.rows; row = next++) add(set, row);
      });
    }
    for (std::thread& worker : workers) worker.join();
  }

  void search(const DataSet& set, uint32_t ef, Found& found) override {
    graph_->setEf(ef);
    for (size_t i = 0; i < set.queries; ++i) {
      auto nearest =
          cosine_ ? graph_->searchKnn(normalized(set.query_row(i), set.dimensions).data(), kK)
                  : graph_->searchKnn(set.query_row(i), kK);
      found[i].clear();
      for (; !nearest.empty(); nearest.pop()) {
        found[i].push_back(static_cast<int32_t>(nearest.top().second));
      }
    }
  }

 private:
  void add(const DataSet& set, size_t row) {
    if (cosine_) {
      graph_->addPoint(normalized(set.base_row(row), set.dimensions).data(), row);
    } else {
      graph_->addPoint(set.base_row(row), row);
    }
  }

  bool cosine_ = false;
  std::unique_ptr<hnswlib::SpaceInterface<float>> space_;
  std::unique_ptr<hnswlib::HierarchicalNSW<float>> graph_;
};

template <class T>
T take(nearfield::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().detail);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

class Nearfield final : public Index {
 public:
  const char* name() const override { return "nearfield"; }

  void build(const DataSet& set, unsigned threads) override {
    database_.reset();
    pool_ = std::make_unique<nearfield::StdThreadPool>(threads);
    nearfield::DatabaseOptions database_options;
    database_options.pool = pool_.get();
    database_ = take(
        nearfield::Database::open(std::make_unique<nearfield::MemoryStorage>(), database_options));
    nearfield::CollectionOptions options;
    options.dimensions = static_cast<uint32_t>(set.dimensions);
    options.metric = set.metric == "cosine" ? nearfield::Metric::kCosine
                     : set.metric == "l2"   ? nearfield::Metric::kL2
                                            : nearfield::Metric::kDot;
    options.m = kM;
    options.ef_construction = kEfConstruction;
    collection_ = take(database_->collection("bench", options));
    std::vector<nearfield::IdView> ids(set.rows);
    for (size_t i = 0; i < set.rows; ++i) ids[i] = static_cast<int64_t>(i);
    take(collection_->upsert({.vectors = set.base, .ids = ids}));
    while (!take(collection_->link()).finished()) {
    }
  }

  void search(const DataSet& set, uint32_t ef, Found& found) override {
    for (size_t i = 0; i < set.queries; ++i) {
      const auto hits = take(
          collection_->search({set.query_row(i), set.dimensions}, {.k = kK, .ef = ef}, scratch_));
      found[i].clear();
      for (const nearfield::Hit& hit : hits) {
        found[i].push_back(static_cast<int32_t>(collection_->id_at(hit.slot).number()));
      }
    }
  }

  std::string kernels() const { return database_->info().kernels; }

 private:
  std::unique_ptr<nearfield::StdThreadPool> pool_;
  std::unique_ptr<nearfield::Database> database_;
  nearfield::Collection* collection_ = nullptr;
  nearfield::SearchScratch scratch_;
};

struct Options {
  std::string folder;
  std::string set;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  unsigned build_rounds = 1;
  unsigned search_rounds = 5;
  bool json = false;
};

// Builds each index `rounds` times, alternating; the last ones stay for searching.
Json measure_builds(const DataSet& set, const std::vector<Index*>& indexes,
                    const Options& options) {
  std::vector<std::vector<double>> seconds(indexes.size());
  for (unsigned round = 0; round < options.build_rounds; ++round) {
    for (size_t i = 0; i < indexes.size(); ++i) {
      const Clock::time_point start = Clock::now();
      indexes[i]->build(set, options.threads);
      seconds[i].push_back(seconds_since(start));
    }
  }
  Json builds;
  for (size_t i = 0; i < indexes.size(); ++i) {
    builds[indexes[i]->name()] = {{"seconds", median(seconds[i])}, {"rounds", seconds[i]}};
  }
  return builds;
}

// One step of the ladder: the indexes alternate, and the median round counts.
Json measure_search(const DataSet& set, const std::vector<Index*>& indexes, uint32_t ef,
                    unsigned rounds) {
  std::vector<std::vector<double>> qps(indexes.size());
  std::vector<Found> found(indexes.size(), Found(set.queries));
  for (unsigned round = 0; round <= rounds; ++round) {  // the first one warms up
    for (size_t i = 0; i < indexes.size(); ++i) {
      const Clock::time_point start = Clock::now();
      indexes[i]->search(set, ef, found[i]);
      if (round > 0) qps[i].push_back(static_cast<double>(set.queries) / seconds_since(start));
    }
  }
  Json step = {{"ef", ef}};
  for (size_t i = 0; i < indexes.size(); ++i) {
    step[indexes[i]->name()] = {
        {"recall", recall(set, found[i])}, {"qps", median(qps[i])}, {"rounds", qps[i]}};
  }
  return step;
}

// Queries a second at a recall, between two steps of the ladder; 0 when it is not reached.
double qps_at_recall(const Json& ladder, const char* name, double wanted) {
  const Json* below = nullptr;
  for (const Json& step : ladder) {
    const Json& here = step.at(name);
    const double recall_here = here.at("recall");
    const double qps_here = here.at("qps");
    if (recall_here >= wanted) {
      if (below == nullptr) return qps_here;
      const double recall_below = below->at("recall");
      const double qps_below = below->at("qps");
      const double share = (wanted - recall_below) / (recall_here - recall_below);
      return std::exp(std::log(qps_below) * (1 - share) + std::log(qps_here) * share);
    }
    below = &here;
  }
  return 0;
}

Json summary(const Json& result) {
  Json rows = Json::array();
  for (const double wanted : {0.90, 0.95, 0.98, 0.99, 0.995}) {
    const double ours = qps_at_recall(result.at("search"), "nearfield", wanted);
    const double theirs = qps_at_recall(result.at("search"), "hnswlib", wanted);
    if (ours == 0 || theirs == 0) continue;
    rows.push_back(
        {{"recall", wanted}, {"hnswlib", theirs}, {"nearfield", ours}, {"ratio", ours / theirs}});
  }
  return rows;
}

void print(const Json& result) {
  std::printf("%s: %zu rows of %zu dimensions, %s; %zu queries, k %zu, m %u, efConstruction %u\n",
              result.at("set").get<std::string>().c_str(), result.at("rows").get<size_t>(),
              result.at("dimensions").get<size_t>(), result.at("metric").get<std::string>().c_str(),
              result.at("queries").get<size_t>(), kK, kM, kEfConstruction);
  const double ours = result.at("build").at("nearfield").at("seconds");
  const double theirs = result.at("build").at("hnswlib").at("seconds");
  std::printf("build on %u threads: hnswlib %.2f s, nearfield %.2f s (%.2f x faster)\n\n",
              result.at("threads").get<unsigned>(), theirs, ours, theirs / ours);
  std::printf("%8s  %19s  %19s\n%8s  %8s %10s  %8s %10s\n", "", "hnswlib", "nearfield", "ef",
              "recall", "qps", "recall", "qps");
  for (const Json& step : result.at("search")) {
    std::printf("%8u", step.at("ef").get<unsigned>());
    for (const char* name : {"hnswlib", "nearfield"}) {
      std::printf("  %8.4f %10.0f", step.at(name).at("recall").get<double>(),
                  step.at(name).at("qps").get<double>());
    }
    std::printf("\n");
  }
  std::printf("\nqueries a second at the same recall, one thread\n");
  for (const Json& row : result.at("same_recall")) {
    std::printf("%8.3f  hnswlib %8.0f  nearfield %8.0f  (%.2f x)\n", row.at("recall").get<double>(),
                row.at("hnswlib").get<double>(), row.at("nearfield").get<double>(),
                row.at("ratio").get<double>());
  }
}

constexpr const char* kUsage =
    "usage: hnswlib_compare FOLDER SET [--threads N] [--build-rounds R] [--rounds R] [--json]";

Options parse(int argc, char** argv) {
  Options options;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto number = [&]() -> unsigned {
      const int value = i + 1 < argc ? std::atoi(argv[++i]) : 0;
      if (value < 1) throw std::runtime_error(argument + " needs a number above 0");
      return static_cast<unsigned>(value);
    };
    if (argument == "--threads")
      options.threads = number();
    else if (argument == "--build-rounds")
      options.build_rounds = number();
    else if (argument == "--rounds")
      options.search_rounds = number();
    else if (argument == "--json")
      options.json = true;
    else
      names.push_back(argument);
  }
  if (names.size() != 2) throw std::runtime_error(kUsage);
  options.folder = names[0];
  options.set = names[1];
  return options;
}

void run(const Options& options) {
  const DataSet set = read_set(options.folder, options.set);
  Hnswlib hnswlib;
  Nearfield nearfield;
  const std::vector<Index*> indexes = {&hnswlib, &nearfield};
  Json result = {{"set", set.name},
                 {"rows", set.rows},
                 {"dimensions", set.dimensions},
                 {"metric", set.metric},
                 {"queries", set.queries},
                 {"k", kK},
                 {"m", kM},
                 {"ef_construction", kEfConstruction},
                 {"threads", options.threads}};
  result["build"] = measure_builds(set, indexes, options);
  result["kernels"] = nearfield.kernels();
  result["search"] = Json::array();
  for (const uint32_t ef : kLadder) {
    result["search"].push_back(measure_search(set, indexes, ef, options.search_rounds));
  }
  result["same_recall"] = summary(result);
  if (options.json) {
    std::printf("%s\n", result.dump().c_str());
  } else {
    print(result);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hnswlib_compare: %s\n", error.what());
    return 1;
  }
  return 0;
}
