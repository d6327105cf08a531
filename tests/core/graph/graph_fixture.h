// What the tests of the graph share: generated rows, exact neighbours, a thread pool.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "arena/codes.h"
#include "base/random.h"
#include "graph/graph.h"
#include "graph/linker.h"
#include "graph/walk.h"
#include "kernels/kernels.h"
#include "nearfield/thread_pool.h"

namespace nearfield::testing {

inline constexpr unsigned kBlockShift = 8;  // small, so that tests cross blocks

class StdThreadPool final : public ThreadPool {
 public:
  explicit StdThreadPool(unsigned workers) : workers_(workers) {}
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
    for (unsigned i = 1; i < workers_; ++i) threads.emplace_back(work, i);
    work(0);
    for (std::thread& thread : threads) thread.join();
  }

 private:
  unsigned workers_;
};

// Rows of whole numbers 0..127, which a range of low 0 and step 1 encodes as they are: the tests
// are exact on every machine.
struct Rows {
  uint32_t dimensions;
  std::vector<float> values;

  uint32_t count() const { return static_cast<uint32_t>(values.size() / dimensions); }
  const float* row(uint32_t i) const { return values.data() + size_t{i} * dimensions; }
  void append(const float* row) { values.insert(values.end(), row, row + dimensions); }
};

inline Rows uniform_rows(uint32_t count, uint32_t dimensions, uint64_t seed) {
  Rows rows{dimensions, std::vector<float>(size_t{count} * dimensions)};
  for (size_t i = 0; i < rows.values.size(); ++i) {
    rows.values[i] = static_cast<float>(random_below(seed, i, 128));
  }
  return rows;
}

// Rows around `clusters` centres, each component at most `spread` from the centre's. Other rows of
// the same clusters, for queries, begin at another `first`.
inline Rows clustered_rows(uint32_t count, uint32_t dimensions, uint32_t clusters, uint32_t spread,
                           uint64_t seed, uint32_t first = 0) {
  Rows rows{dimensions, {}};
  for (uint32_t i = first; i < first + count; ++i) {
    const uint32_t cluster = random_below(seed + 1, i, clusters);
    for (uint32_t j = 0; j < dimensions; ++j) {
      const uint32_t centre = random_below(seed + 2, uint64_t{cluster} * dimensions + j, 128);
      const uint32_t shift = random_below(seed + 3, uint64_t{i} * dimensions + j, 2 * spread + 1);
      const int32_t value = static_cast<int32_t>(centre + shift) - static_cast<int32_t>(spread);
      rows.values.push_back(static_cast<float>(std::clamp(value, 0, 127)));
    }
  }
  return rows;
}

inline const Kernels& kernels() { return *find_kernels(""); }

inline void encode(Codes& codes, const Rows& rows, uint32_t count) {
  const uint32_t before = codes.rows();
  if (!codes.resize(count).ok()) std::abort();
  for (uint32_t i = before; i < count; ++i) codes.encode(i, rows.row(i), 1);
}

// Codes and a graph over some rows.
struct Index {
  explicit Index(const Rows& of, GraphOptions with = {}, Metric metric = Metric::kL2)
      : rows(of),
        options(with),
        codes(of.dimensions, metric, kBlockShift),
        graph(with.degree, kBlockShift) {
    codes.set_range({0, 1, 0}, 0);
  }

  void run(Linker& linker, uint64_t budget_us = 0) {
    for (;;) {
      const auto progress = linker.step(budget_us);
      if (!progress.ok()) std::abort();
      if (progress->finished()) break;
    }
  }
  void bulk(uint32_t count, ThreadPool& pool = serial_pool(), uint64_t budget_us = 0) {
    encode(codes, rows, count);
    run(*make_bulk_linker(graph, codes, kernels(), pool, options, dead), budget_us);
  }
  void add(uint32_t count, ThreadPool& pool = serial_pool(), uint64_t budget_us = 0) {
    encode(codes, rows, count);
    run(*make_batch_linker(graph, codes, kernels(), pool, options, dead), budget_us);
  }
  // Takes the rows in `dead` out of the graph.
  void remove(ThreadPool& pool = serial_pool(), uint64_t budget_us = 0) {
    run(*make_row_remover(graph, codes, kernels(), pool, options, dead), budget_us);
  }

  std::vector<Candidate> search(const float* query, const WalkOptions& walk_options) {
    Buffer buffer = std::move(Buffer::allocate(codes.stride())).value();
    auto* code = reinterpret_cast<uint8_t*>(buffer.data());
    codes.encode_query(query, 1, code);
    const auto found = walk(graph, codes, kernels(), code, walk_options, scratch, distances);
    return {found.begin(), found.end()};
  }
  std::vector<Candidate> search(const float* query, uint32_t ef) {
    return search(query, WalkOptions{.ef = ef});
  }
  std::vector<Candidate> exact(const float* query, uint32_t k) {
    Buffer buffer = std::move(Buffer::allocate(codes.stride())).value();
    auto* code = reinterpret_cast<uint8_t*>(buffer.data());
    codes.encode_query(query, 1, code);
    std::vector<Candidate> all;
    for (uint32_t slot = 0; slot < codes.rows(); ++slot) {
      if (dead.contains(slot)) continue;
      const int32_t dot = kernels().dot_u7(code, codes.code(slot), codes.stride());
      all.push_back({codes.walk_distance(slot, dot), slot});
    }
    const auto middle = all.begin() + std::min<ptrdiff_t>(k, static_cast<ptrdiff_t>(all.size()));
    std::partial_sort(all.begin(), middle, all.end());
    all.erase(middle, all.end());
    return all;
  }
  // Ties count as found: recall is of distances.
  double recall(const Rows& queries, uint32_t k, uint32_t ef) {
    size_t found = 0;
    for (uint32_t q = 0; q < queries.count(); ++q) {
      const auto truth = exact(queries.row(q), k);
      for (const Candidate& candidate : first(search(queries.row(q), ef), k)) {
        found += candidate.distance <= truth.back().distance;
      }
    }
    return static_cast<double>(found) / (static_cast<double>(k) * queries.count());
  }
  static std::vector<Candidate> first(std::vector<Candidate> found, uint32_t k) {
    if (found.size() > k) found.resize(k);
    return found;
  }

  std::vector<uint32_t> all_links() const {
    std::vector<uint32_t> links;
    for (uint32_t slot = 0; slot < graph.rows(); ++slot) {
      links.insert(links.end(), graph.links(slot), graph.links(slot) + graph.degree());
    }
    links.insert(links.end(), graph.seeds().begin(), graph.seeds().end());
    links.insert(links.end(), graph.group_starts().begin(), graph.group_starts().end());
    return links;
  }

  Rows rows;
  GraphOptions options;
  Codes codes;
  Graph graph;
  SlotSet dead;
  WalkScratch scratch;
  uint64_t distances = 0;  // computed by searches
};

}  // namespace nearfield::testing
