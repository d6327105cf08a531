// Builds a graph over a data set and walks it: build seconds, recall@10 and queries a second over a
// ladder of ef, with the nearest max(2 k, 32) reranked on the rows.
//
//   nearfield-bench-graph PREFIX DIMENSIONS cosine|l2|dot [options]
//     --degree 32  --ef-construction 200  --threads 2
//     --bulk 1.0       the part of the rows that is built in bulk; the others are added in batches
//     --add 0          at most so many of the others; 0: all of them
//     --ef 10,20,40    the ladder
//     --kernels NAME
// Reads PREFIX.base.f32, PREFIX.query.f32 and PREFIX.gt.i32 (ten ids a query).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "arena/codes.h"
#include "graph/graph.h"
#include "graph/linker.h"
#include "graph/walk.h"
#include "kernels/kernels.h"

namespace {

using namespace nearfield;

constexpr size_t kTruth = 10;  // ids a query in the truth file
constexpr unsigned kBlockShift = 12;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
// Of all threads: on a shared machine the better measure of work.
double cpu_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <class T>
std::vector<T> load(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(2);
  }
  std::vector<T> values(static_cast<size_t>(file.tellg()) / sizeof(T));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
  return values;
}

class Threads final : public ThreadPool {
 public:
  explicit Threads(unsigned workers) : workers_(workers) {}
  unsigned workers() const override { return workers_; }
  void parallel_for(size_t count, size_t grain,
                    const std::function<void(size_t, size_t, unsigned)>& body) override {
    std::atomic<size_t> next = 0;
    const auto work = [&](unsigned worker) {
      for (size_t begin; (begin = next.fetch_add(grain)) < count;) {
        body(begin, std::min(count, begin + grain), worker);
      }
    };
    std::vector<std::thread> threads;
    if (count > grain) {
      for (unsigned i = 1; i < workers_; ++i) threads.emplace_back(work, i);
    }
    work(0);
    for (std::thread& thread : threads) thread.join();
  }

 private:
  unsigned workers_;
};

struct Set {
  size_t dimensions;
  Metric metric;
  std::vector<float> base;
  std::vector<float> queries;
  std::vector<int32_t> truth;

  const float* row(size_t i) const { return base.data() + i * dimensions; }
  float scale(const float* row) const {
    if (metric != Metric::kCosine) return 1;
    double sum = 0;
    for (size_t i = 0; i < dimensions; ++i) sum += double{row[i]} * row[i];
    return sum > 0 ? static_cast<float>(1 / std::sqrt(sum)) : 1;
  }
};

double exact_distance(const Set& set, const float* query, const float* row) {
  float sum = 0;
  if (set.metric == Metric::kL2) {
    for (size_t i = 0; i < set.dimensions; ++i) sum += (query[i] - row[i]) * (query[i] - row[i]);
    return sum;
  }
  for (size_t i = 0; i < set.dimensions; ++i) sum -= query[i] * row[i];
  return sum;
}

void encode_all(const Set& set, Codes& codes, ThreadPool& pool) {
  const size_t rows = set.base.size() / set.dimensions;
  std::vector<float> sample;
  const size_t every = std::max<size_t>(1, rows * set.dimensions / 400000);
  for (size_t i = 0; i < set.base.size(); i += every) sample.push_back(set.base[i]);
  codes.set_range(Quantizer::fit(sample, set.metric), 0);
  if (!codes.resize(static_cast<uint32_t>(rows)).ok()) std::exit(1);
  if (set.metric == Metric::kDot) {
    int64_t longest = 0;
    std::vector<uint8_t> code(codes.stride());
    for (size_t i = 0; i < rows; ++i) {
      codes.encode_query(set.row(i), 1, code.data());
      longest = std::max(longest, codes.squared_length(code.data()));
    }
    codes.set_range(codes.quantizer(), longest);
  }
  pool.parallel_for(rows, 256, [&](size_t begin, size_t end, unsigned) {
    for (size_t i = begin; i < end; ++i) codes.encode(static_cast<uint32_t>(i), set.row(i), 1);
  });
}

struct Run {
  double recall = 0;
  double seconds = 1e9;
  double cpu_seconds = 1e9;
  uint64_t distances = 0;
  size_t lost = 0;  // queries of which none of the ten was found
};

Run search(const Set& set, const Graph& graph, const Codes& codes, const Kernels& kernels,
           uint32_t ef, int repetitions) {
  const size_t queries = set.queries.size() / set.dimensions;
  WalkScratch scratch;
  Buffer code = std::move(Buffer::allocate(codes.stride())).value();
  auto* query_code = reinterpret_cast<uint8_t*>(code.data());
  std::vector<std::pair<double, uint32_t>> ranked;
  Run run;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    size_t found = 0;
    run.distances = 0;
    run.lost = 0;
    const double start = now();
    const double cpu_start = cpu_now();
    for (size_t q = 0; q < queries; ++q) {
      const float* query = set.queries.data() + q * set.dimensions;
      codes.encode_query(query, 1, query_code);
      const auto pool = walk(graph, codes, kernels, query_code, {.ef = ef}, scratch, run.distances);
      ranked.clear();
      const auto reranked = pool.first(std::min<size_t>(pool.size(), 32));
      for (const Candidate& candidate : reranked) {
        __builtin_prefetch(set.row(candidate.slot));
        __builtin_prefetch(set.row(candidate.slot) + 16);
      }
      for (const Candidate& candidate : reranked) {
        ranked.emplace_back(exact_distance(set, query, set.row(candidate.slot)), candidate.slot);
      }
      const size_t k = std::min(kTruth, ranked.size());
      std::partial_sort(ranked.begin(), ranked.begin() + static_cast<ptrdiff_t>(k), ranked.end());
      const int32_t* truth = set.truth.data() + q * kTruth;
      const size_t before = found;
      for (size_t i = 0; i < k; ++i) {
        found += static_cast<size_t>(
            std::count(truth, truth + kTruth, static_cast<int32_t>(ranked[i].second)));
      }
      run.lost += found == before;
    }
    run.cpu_seconds = std::min(run.cpu_seconds, cpu_now() - cpu_start);
    run.seconds = std::min(run.seconds, now() - start);
    run.recall = static_cast<double>(found) / static_cast<double>(queries * kTruth);
    run.distances /= queries;
  }
  run.seconds /= static_cast<double>(queries);
  run.cpu_seconds /= static_cast<double>(queries);
  return run;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s PREFIX DIMENSIONS cosine|l2|dot [--option value]...\n",
                 argv[0]);
    return 2;
  }
  std::map<std::string, std::string> options{
      {"--degree", "32"}, {"--ef-construction", "200"},
      {"--threads", "2"}, {"--bulk", "1"},
      {"--add", "0"},     {"--kernels", ""},
      {"--repeat", "3"},  {"--ef", "10,14,20,28,40,56,80,100,120,160,200,300,400,600,800"}};
  for (int i = 4; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];

  const std::string prefix = argv[1];
  Set set{std::stoul(argv[2]), Metric::kL2, load<float>(prefix + ".base.f32"),
          load<float>(prefix + ".query.f32"), load<int32_t>(prefix + ".gt.i32")};
  if (!std::strcmp(argv[3], "cosine")) set.metric = Metric::kCosine;
  if (!std::strcmp(argv[3], "dot")) set.metric = Metric::kDot;
  for (std::vector<float>* rows : {&set.base, &set.queries}) {
    for (size_t i = 0; i < rows->size(); i += set.dimensions) {
      const float scale = set.scale(rows->data() + i);
      for (size_t j = 0; j < set.dimensions; ++j) (*rows)[i + j] *= scale;
    }
  }
  const size_t rows = set.base.size() / set.dimensions;
  const Kernels& kernels = *find_kernels(options["--kernels"]);
  Threads pool(static_cast<unsigned>(std::stoul(options["--threads"])));
  GraphOptions graph_options;
  const SlotSet none;
  graph_options.degree = static_cast<uint32_t>(std::stoul(options["--degree"]));
  graph_options.ef_construction = static_cast<uint32_t>(std::stoul(options["--ef-construction"]));

  const double started = now();
  Codes codes(static_cast<uint32_t>(set.dimensions), set.metric, kBlockShift);
  encode_all(set, codes, pool);
  const double encoded = now();
  const double encoded_cpu = cpu_now();
  Graph graph(graph_options.degree, kBlockShift);
  const auto bulk_rows =
      static_cast<uint32_t>(std::stod(options["--bulk"]) * static_cast<double>(rows));
  uint64_t distances = 0;
  if (bulk_rows < rows && !codes.resize(bulk_rows).ok()) return 1;
  if (bulk_rows > 0) {
    const auto linker = make_bulk_linker(graph, codes, kernels, pool, graph_options, none);
    if (!linker->step(0).ok()) return 1;
    distances = linker->distances();
  }
  const double built = now();
  const double built_cpu = cpu_now();
  std::printf(
      "%s: %zu rows, %s: encode %.2f s, bulk build of %u rows %.2f s (cpu %.2f), %.0f distances a "
      "row\n",
      prefix.c_str(), rows, kernels.name, encoded - started, bulk_rows, built - encoded,
      built_cpu - encoded_cpu, static_cast<double>(distances) / std::max(1u, bulk_rows));
  if (bulk_rows < rows) {
    const size_t most = std::stoul(options["--add"]);
    const size_t added = most > 0 ? std::min(most, rows - bulk_rows) : rows - bulk_rows;
    if (!codes.resize(static_cast<uint32_t>(bulk_rows + added)).ok()) return 1;
    for (size_t i = bulk_rows; i < bulk_rows + added; ++i) {
      codes.encode(static_cast<uint32_t>(i), set.row(i), 1);
    }
    const double start = now();
    const auto linker = make_batch_linker(graph, codes, kernels, pool, graph_options, none);
    if (!linker->step(0).ok()) return 1;
    std::printf("added %zu rows in %.2f s (cpu %.2f), %.0f distances a row\n", added, now() - start,
                cpu_now() - built_cpu,
                static_cast<double>(linker->distances()) / static_cast<double>(added));
  }
  size_t links = 0;
  for (uint32_t slot = 0; slot < graph.rows(); ++slot) links += graph.linked(slot).size();
  std::printf("%.1f links a row, %zu seeds in %zu groups\n",
              static_cast<double>(links) / graph.rows(), graph.seeds().size(),
              graph.group_starts().size());
  for (const std::string& problem : check_graph(graph)) std::printf("! %s\n", problem.c_str());

  for (size_t at = 0; at < options["--ef"].size();) {
    size_t used = 0;
    const auto ef = static_cast<uint32_t>(std::stoul(options["--ef"].substr(at), &used));
    at += used + 1;
    const Run run = search(set, graph, codes, kernels, ef, std::stoi(options["--repeat"]));
    std::printf("ef %4u  recall %.4f  %8.0f q/s  %8.0f q/cpu s  %6llu distances  %zu lost\n", ef,
                run.recall, 1 / run.seconds, 1 / run.cpu_seconds,
                static_cast<unsigned long long>(run.distances), run.lost);
    std::fflush(stdout);
  }
  return 0;
}
