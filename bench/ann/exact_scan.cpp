// ann_scan FOLDER SET ROUNDS: Nearfield's exact search on all threads, as bytes of f32 rows a
// second, beside the rate at which the same threads can read the same rows. Prints JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "data_set.h"
#include "nearfield/database.h"
#include "threads/std_thread_pool.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr double kSeconds = 0.5;  // least length of a round

template <class T>
T take(nearfield::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().detail);
  return std::move(result).value();
}

// Reads eight places at a time, since a single stream does not fill the memory's pipeline.
uint64_t sum(const uint64_t* values, size_t count) {
  constexpr size_t kStreams = 8;
  uint64_t sums[kStreams] = {};
  const size_t length = count / kStreams;
  for (size_t i = 0; i < length; ++i) {
    for (size_t j = 0; j < kStreams; ++j) sums[j] += values[j * length + i];
  }
  return std::accumulate(sums, sums + kStreams, uint64_t{0});
}

// Repeats `pass` for a round's time; returns bytes a second when a pass reads `bytes`.
template <class Pass>
double rate(double bytes, Pass pass) {
  const Clock::time_point start = Clock::now();
  double seconds = 0;
  size_t passes = 0;
  do {
    pass();
    ++passes;
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  } while (seconds < kSeconds);
  return bytes * static_cast<double>(passes) / seconds;
}

Json measure(const DataSet& set, unsigned rounds) {
  const std::vector<float> base = read_base(set);
  std::vector<float> queries = read_queries(set);
  nearfield::StdThreadPool pool(0);
  const unsigned threads = pool.workers();
  const auto database = take(
      nearfield::Database::open(std::make_unique<nearfield::MemoryStorage>(), {.pool = &pool}));
  nearfield::CollectionOptions options;
  options.dimensions = static_cast<uint32_t>(set.dimensions);
  options.metric = set.metric == "cosine" ? nearfield::Metric::kCosine
                   : set.metric == "l2"   ? nearfield::Metric::kL2
                                          : nearfield::Metric::kDot;
  nearfield::Collection* collection = take(database->collection("bench", options));
  std::vector<nearfield::IdView> ids(set.rows);
  for (size_t i = 0; i < set.rows; ++i) ids[i] = static_cast<int64_t>(i);
  take(collection->upsert({.vectors = base, .ids = ids}));  // an exact search needs no graph

  // One chunk of an exact batch: rows are read once for all of it.
  const size_t at_once = std::min<size_t>(set.queries, 64);
  queries.resize(at_once * set.dimensions);
  const double bytes = static_cast<double>(base.size() * sizeof(float));
  const auto* numbers = reinterpret_cast<const uint64_t*>(base.data());
  const size_t count = base.size() * sizeof(float) / sizeof(uint64_t);
  std::vector<uint64_t> sums(threads);

  std::vector<double> reading;
  std::vector<double> scanning;
  for (unsigned round = 0; round <= rounds; ++round) {  // the first one warms up
    const double read = rate(bytes * threads, [&] {
      pool.parallel_for(threads, 1, [&](size_t begin, size_t end, unsigned) {
        for (size_t i = begin; i < end; ++i) sums[i] += sum(numbers, count);
      });
    });
    const double scanned = rate(bytes * static_cast<double>(at_once),
                                [&] { take(collection->search_batch(queries, {.exact = true})); });
    if (round == 0) continue;
    reading.push_back(read);
    scanning.push_back(scanned);
  }
  return {{"kernels", database->info().kernels},
          {"threads", threads},
          {"row_bytes", bytes},
          {"queries_at_once", at_once},
          {"read_bytes_per_second", reading},
          {"scan_bytes_per_second", scanning},
          {"checksum", std::accumulate(sums.begin(), sums.end(), uint64_t{0})}};
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    const int rounds = argc == 4 ? std::atoi(argv[3]) : 0;
    if (rounds < 1) throw std::runtime_error("usage: ann_scan FOLDER SET ROUNDS");
    const bench::DataSet set = bench::read_set(argv[1], argv[2]);
    std::printf("%s\n", bench::measure(set, static_cast<unsigned>(rounds)).dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ann_scan: %s\n", error.what());
    return 1;
  }
}
