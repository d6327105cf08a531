// Exact search against double precision, the graph against exact search, threads against one.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "fixture.h"

using namespace nearfield;
using namespace nearfield::test;

namespace {

// The share of the exact k nearest that an approximate answer holds, over all queries.
double recall(const Collection& collection, std::span<const float> queries, uint32_t k,
              uint32_t ef) {
  const uint32_t dimensions = collection.options().dimensions;
  size_t found = 0;
  const size_t count = queries.size() / dimensions;
  for (size_t q = 0; q < count; ++q) {
    const auto query = queries.subspan(q * dimensions, dimensions);
    const auto exact = nearest_ids(collection, query, k, ef, true);
    const auto near = nearest_ids(collection, query, k, ef);
    const std::set<int64_t> truth(exact.begin(), exact.end());
    found += static_cast<size_t>(
        std::count_if(near.begin(), near.end(), [&](int64_t id) { return truth.contains(id); }));
  }
  return static_cast<double>(found) / static_cast<double>(count * k);
}

class Threads final : public ThreadPool {
 public:
  explicit Threads(unsigned count) : count_(count) {}
  unsigned workers() const override { return count_; }
  void parallel_for(size_t count, size_t grain,
                    const std::function<void(size_t, size_t, unsigned)>& body) override {
    std::atomic<size_t> next{0};
    const auto work = [&](unsigned worker) {
      for (size_t begin = next.fetch_add(grain); begin < count; begin = next.fetch_add(grain)) {
        body(begin, std::min(begin + grain, count), worker);
      }
    };
    std::vector<std::thread> threads;
    for (unsigned worker = 1; worker < count_; ++worker) threads.emplace_back(work, worker);
    work(0);
    for (auto& thread : threads) thread.join();
  }

 private:
  unsigned count_;
};

}  // namespace

TEST_CASE("exact search equals double precision") {  // c39
  for (const Metric metric : kMetrics) {
    for (const auto& [dimensions, row_type] :
         {std::pair(1U, RowType::kF32), std::pair(3U, RowType::kF32), std::pair(16U, RowType::kF32),
          std::pair(100U, RowType::kF32), std::pair(129U, RowType::kF32),
          std::pair(3U, RowType::kF16), std::pair(100U, RowType::kF16)}) {
      CAPTURE(metric_name(metric), dimensions, row_type_name(row_type));
      MemoryStorage storage;
      auto database = open(storage);
      auto* docs = expect(database->collection(
          "docs", {.dimensions = dimensions, .metric = metric, .row_type = row_type}));
      const uint32_t rows = 500;
      const auto given = random_vectors(dimensions, rows, dimensions);
      const auto vectors = as_kept(given, row_type);
      expect(docs->upsert({given, numbers(rows)}));
      const auto queries = random_vectors(99, 10, dimensions);
      SearchScratch scratch;
      for (uint32_t q = 0; q < 10; ++q) {
        const std::span<const float> query(queries.data() + q * dimensions, dimensions);
        const auto hits = expect(docs->search(query, {.k = rows, .exact = true}, scratch));
        REQUIRE(hits.size() == rows);
        double before = -1e300;
        std::set<int64_t> seen;
        for (const Hit& hit : hits) {
          const int64_t id = docs->id_at(hit.slot).number();
          const double truth =
              exact_distance(metric, query.data(), vectors.data() + id * dimensions, dimensions);
          CHECK(std::abs(hit.distance - truth) <= 1e-5 * (1 + std::abs(truth)));
          CHECK(truth >= before - 1e-5 * (1 + std::abs(truth)));
          before = truth;
          seen.insert(id);
        }
        CHECK(seen.size() == rows);
      }
    }
  }
}

// Also when a third of the rows are tombstones, which lead the way and take places, and for other k
// than the ten that the graph was calibrated for.
TEST_CASE("a search finds the recall that it asks for") {
  for (const Metric metric : kMetrics) {
    MemoryStorage storage;
    auto database = open(storage);
    auto* docs = expect(database->collection("docs", {.dimensions = 24, .metric = metric}));
    const auto vectors = clustered_vectors(7, 6200, 24, 20, 0.5F);
    const std::span<const float> queries = std::span(vectors).last(size_t{200} * 24);
    expect(docs->upsert({std::span(vectors).first(size_t{6000} * 24), numbers(6000)}));
    link_all(*docs);
    for (const bool deleted : {false, true}) {
      if (deleted) expect(docs->remove(numbers(2000, 2000)));
      for (const uint32_t k : {1U, 10U, 100U}) {
        for (const double wanted : {0.9, 0.99}) {
          CAPTURE(metric_name(metric), deleted, k, wanted);
          size_t found = 0;
          SearchScratch scratch;
          for (size_t q = 0; q < 200; ++q) {
            const auto query = queries.subspan(q * 24, 24);
            const auto truth = nearest_ids(*docs, query, k, 1, true);
            const auto ids =
                ids_of(*docs, expect(docs->search(query, {.k = k, .recall = wanted}, scratch)));
            REQUIRE(ids.size() == k);
            for (const int64_t id : ids) {
              found += static_cast<size_t>(std::count(truth.begin(), truth.end(), id));
            }
          }
          CHECK(static_cast<double>(found) / (200.0 * k) >= wanted - 0.02);
        }
      }
    }
  }
}

// The share of the dead in the whole says nothing about a query among them.
TEST_CASE("a search among many deleted rows finds the recall that it asks for, without a scan") {
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 24, .metric = Metric::kL2}));
  const uint32_t rows = 20'000;
  const auto vectors = clustered_vectors(7, rows + 200, 24, 20, 0.5F);  // row i: cluster i % 20
  expect(docs->upsert({std::span(vectors).first(size_t{rows} * 24), numbers(rows)}));
  link_all(*docs);
  std::vector<IdView> ids;  // nineteen of twenty rows of six clusters
  for (int64_t id = 0; id < rows; ++id) {
    if (id % 20 < 6 && id / 20 % 20 != 0) ids.emplace_back(id);
  }
  expect(docs->remove(ids));
  size_t found = 0;
  size_t asked = 0;
  SearchScratch scratch;
  SearchStats stats;
  for (size_t q = rows; q < rows + 200; ++q) {
    if (q % 20 >= 6) continue;
    const auto query = std::span(vectors).subspan(q * 24, 24);
    const auto truth = nearest_ids(*docs, query, 10, {}, true);
    for (const int64_t id : ids_of(*docs, expect(docs->search(query, {}, scratch, &stats)))) {
      found += static_cast<size_t>(std::count(truth.begin(), truth.end(), id));
    }
    asked += 10;
  }
  CHECK(static_cast<double>(found) / static_cast<double>(asked) >= kDefaultRecall - 0.02);
  CHECK(stats.distance_computations / (asked / 10) < docs->count() / 3);
}

TEST_CASE("the graph finds what exact search finds") {
  for (const Metric metric : kMetrics) {
    CAPTURE(metric_name(metric));
    MemoryStorage storage;
    auto database = open(storage);
    auto* docs = expect(database->collection("docs", {.dimensions = 24, .metric = metric}));
    const auto vectors = clustered_vectors(7, 6000, 24, 20, 0.5F);
    expect(docs->upsert({vectors, numbers(6000)}));
    REQUIRE(docs->wants_link());
    link_all(*docs);
    REQUIRE(docs->stats().linked == 6000);
    CHECK_FALSE(docs->wants_link());
    const auto queries = clustered_vectors(7, 100, 24, 20, 0.6F);
    CHECK(recall(*docs, queries, 10, 100) >= 0.98);
    CHECK(recall(*docs, queries, 10, 400) >= 0.995);

    // A walk measures far fewer rows than a scan, and answers in order.
    SearchScratch scratch;
    SearchStats stats;
    const auto hits =
        expect(docs->search(std::span(queries).first(24), {.k = 10, .ef = 50}, scratch, &stats));
    CHECK(stats.distance_computations < 3000);
    CHECK(stats.code_distances > 0);
    // Again on the rows: k and half as many, at least 16, where codes tell neighbours apart.
    const uint64_t measured_again = stats.distance_computations - stats.code_distances;
    CHECK(measured_again >= 16);
    CHECK(measured_again < 20);
    CHECK(std::is_sorted(hits.begin(), hits.end(),
                         [](const Hit& a, const Hit& b) { return a.distance < b.distance; }));
  }
}

TEST_CASE("rounding to f16 costs hardly a neighbour") {
  constexpr uint32_t kRows = 6000;
  constexpr uint32_t kDimensions = 24;
  for (const Metric metric : kMetrics) {
    CAPTURE(metric_name(metric));
    MemoryStorage storage;
    auto database = open(storage);
    Collection* docs[2];
    const auto vectors = clustered_vectors(7, kRows, kDimensions, 20, 0.5F);
    for (const RowType row_type : kRowTypes) {
      auto*& made = docs[static_cast<size_t>(row_type)];
      made = expect(database->collection(
          std::string(row_type_name(row_type)),
          {.dimensions = kDimensions, .metric = metric, .row_type = row_type}));
      expect(made->upsert({vectors, numbers(kRows)}));
      link_all(*made);
    }
    const auto queries = clustered_vectors(7, 200, kDimensions, 20, 0.6F);
    size_t exact = 0;
    size_t walked = 0;
    for (size_t q = 0; q < 200; ++q) {
      const auto query = std::span(queries).subspan(q * kDimensions, kDimensions);
      const auto truth = nearest_ids(*docs[0], query, 10, 100, true);
      const auto shared = [&](const std::vector<int64_t>& found) {
        return std::count_if(found.begin(), found.end(), [&](int64_t id) {
          return std::find(truth.begin(), truth.end(), id) != truth.end();
        });
      };
      exact += static_cast<size_t>(shared(nearest_ids(*docs[1], query, 10, 100, true)));
      walked += static_cast<size_t>(shared(nearest_ids(*docs[1], query, 10, 100)));
    }
    CHECK(exact >= 1990);  // of 2000
    CHECK(walked >= 1990);
  }
}

TEST_CASE("rows are found before they are linked and while they are") {
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 8, .metric = Metric::kL2}));
  const auto vectors = random_vectors(1, 5000, 8);
  const auto ids = numbers(5000);
  expect(docs->upsert({std::span(vectors).first(3000 * 8), std::span(ids).first(3000)}));
  const auto finds_itself = [&](int64_t id) {
    return nearest_ids(*docs, std::span(vectors).subspan(static_cast<size_t>(id) * 8, 8), 1, 200) ==
           std::vector<int64_t>{id};
  };
  CHECK(finds_itself(2999));
  CHECK_FALSE(expect(docs->link(1)).finished());  // a first step, then a change in between
  expect(docs->upsert({std::span(vectors).subspan(3000 * 8), std::span(ids).subspan(3000)}));
  expect(docs->remove(std::vector<IdView>{int64_t{17}}));
  CHECK(finds_itself(4999));
  for (int steps = 0; !expect(docs->link(1)).finished(); ++steps) REQUIRE(steps < 1000000);
  CHECK(docs->stats().linked == 3000);
  link_all(*docs);
  CHECK(docs->stats().linked == 5000);
  for (const int64_t id : {int64_t{0}, int64_t{16}, int64_t{2999}, int64_t{3000}, int64_t{4999}})
    CHECK(finds_itself(id));
  CHECK_FALSE(docs->contains(int64_t{17}));
}

TEST_CASE("a small collection is scanned and all of it is found") {  // c04
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 8}));
  expect(docs->upsert({random_vectors(2, 1000, 8), numbers(1000)}));
  CHECK_FALSE(docs->wants_link());
  const auto found = nearest_ids(*docs, random_vectors(3, 1, 8), 1000, 200);
  CHECK(std::set<int64_t>(found.begin(), found.end()).size() == 1000);
}

TEST_CASE("deleted rows never come back and k rows do whenever k live") {  // c01, c02, c03
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 16}));
  const uint32_t rows = 8000;
  const auto vectors = clustered_vectors(3, rows, 16, 40, 0.4F);
  expect(docs->upsert({vectors, numbers(rows)}));
  link_all(*docs);
  // Whole clusters die, so that some queries stand among the dead only.
  std::vector<IdView> gone;
  for (int64_t id = 0; id < rows; ++id) {
    if (id % 40 < 16) gone.emplace_back(id);
  }
  REQUIRE(expect(docs->remove(gone)) == gone.size());
  for (uint32_t q = 0; q < 80; ++q) {
    const std::span<const float> query(vectors.data() + q * 16, 16);
    for (const uint32_t k : {1U, 10U, 300U}) {
      const auto found = nearest_ids(*docs, query, k);
      REQUIRE(found.size() == k);
      for (const int64_t id : found) REQUIRE(id % 40 >= 16);
    }
  }
  CHECK(recall(*docs, std::span(vectors).first(80 * 16), 10, 100) >= 0.95);

  // Down to fewer than k: all that remain, each once.
  std::vector<IdView> most;
  for (int64_t id = 0; id < rows - 5; ++id) most.emplace_back(id);
  expect(docs->remove(most));
  const auto left = nearest_ids(*docs, std::span(vectors).first(16), 10);
  CHECK(std::set<int64_t>(left.begin(), left.end()) ==
        std::set<int64_t>{rows - 5, rows - 4, rows - 3, rows - 2, rows - 1});
}

TEST_CASE("identical vectors do not hide the others") {  // c05
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 12, .metric = Metric::kL2}));
  auto vectors = random_vectors(8, 3000, 12);
  for (uint32_t row = 0; row < 500; ++row)
    std::copy_n(vectors.begin(), 12, vectors.begin() + row * 12);
  expect(docs->upsert({vectors, numbers(3000)}));
  link_all(*docs);
  for (const uint32_t k : {100U, 250U, 500U}) {
    for (const size_t row : {size_t{0}, size_t{700}, size_t{2999}}) {
      const auto found =
          nearest_ids(*docs, std::span(vectors).subspan(row * 12, 12), k, std::max(k, 200U));
      REQUIRE(found.size() == k);
      CHECK(std::set<int64_t>(found.begin(), found.end()).size() == k);
      if (row >= 500) CHECK(found.front() == static_cast<int64_t>(row));
    }
  }
}

TEST_CASE("well separated clusters lose no query") {
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 32, .metric = Metric::kL2}));
  const auto vectors = clustered_vectors(11, 10000, 32, 64, 0.05F);
  expect(docs->upsert({vectors, numbers(10000)}));
  link_all(*docs);
  const auto queries = clustered_vectors(11, 256, 32, 64, 0.06F);
  for (uint32_t q = 0; q < 256; ++q) {
    const std::span<const float> query(queries.data() + q * 32, 32);
    const auto exact = nearest_ids(*docs, query, 10, 50, true);
    const auto near = nearest_ids(*docs, query, 10, 50);
    CAPTURE(q);
    CHECK(std::find_first_of(near.begin(), near.end(), exact.begin(), exact.end()) != near.end());
  }
  CHECK(recall(*docs, queries, 10, 100) >= 0.98);
}

TEST_CASE("a batch of exact searches answers as they do one by one") {
  const uint32_t rows = 2500;
  const auto vectors = random_vectors(31, rows, 20);
  const auto queries = random_vectors(32, 130, 20);
  for (const Metric metric : kMetrics) {
    for (const unsigned count : {1U, 2U, 5U}) {
      Threads pool(count);
      MemoryStorage storage;
      auto database = open(storage, {.pool = &pool});
      auto* docs = expect(database->collection("docs", {.dimensions = 20, .metric = metric}));
      expect(docs->upsert({vectors, numbers(rows)}));
      expect(docs->remove(numbers(700, 900)));
      SearchScratch scratch;
      for (const uint32_t k : {1U, 10U, 3000U}) {
        CAPTURE(metric_name(metric), count, k);
        SearchStats stats;
        const auto answers = expect(docs->search_batch(queries, {.k = k, .exact = true}, &stats));
        REQUIRE(answers.size() == 130);
        CHECK(stats.distance_computations == 130U * 1800U);
        for (size_t q = 0; q < answers.size(); ++q) {
          const auto alone = expect(docs->search(std::span(queries).subspan(q * 20, 20),
                                                 {.k = k, .exact = true}, scratch));
          REQUIRE(answers[q].size() == std::min(k, 1800U));
          bool same = true;
          for (size_t i = 0; i < alone.size(); ++i) {
            same = same && answers[q][i].slot == alone[i].slot &&
                   answers[q][i].distance == alone[i].distance;
          }
          CHECK(same);
        }
      }
      auto damaged = queries;
      damaged[100 * 20 + 3] = NAN;
      const auto refused = docs->search_batch(damaged, {.exact = true});
      REQUIRE_FALSE(refused.ok());
      CHECK(refused.error().detail.find("query 100") != std::string::npos);
    }
  }
}

TEST_CASE("threads and kernels change nothing") {
  const auto vectors = clustered_vectors(21, 4000, 40, 10, 0.5F);
  const auto queries = clustered_vectors(21, 64, 40, 10, 0.6F);
  Threads three(3);
  for (const RowType row_type : kRowTypes) {
    std::vector<std::vector<Hit>> expected;
    std::vector<std::byte> links;
    for (const std::string& kernels : available_kernels()) {
      for (ThreadPool* pool : {&serial_pool(), static_cast<ThreadPool*>(&three)}) {
        CAPTURE(row_type_name(row_type), kernels, pool->workers());
        MemoryStorage storage;
        auto database = open(storage, {.pool = pool, .kernels = kernels});
        CHECK(database->info().kernels == kernels);
        auto* docs = expect(database->collection("docs", {.dimensions = 40, .row_type = row_type}));
        expect(docs->upsert({vectors, numbers(4000)}));
        link_all(*docs);
        SearchStats stats;
        auto answers = expect(docs->search_batch(queries, {.k = 10, .ef = 40}, &stats));
        for (auto& answer : expect(docs->search_batch(queries, {.k = 10}, &stats))) {
          answers.push_back(std::move(answer));
        }
        CHECK(stats.distance_computations > 0);
        if (expected.empty()) expected = answers;
        REQUIRE(answers.size() == expected.size());
        for (size_t q = 0; q < answers.size(); ++q) {
          REQUIRE(answers[q].size() == expected[q].size());
          for (size_t i = 0; i < answers[q].size(); ++i) {
            CHECK(answers[q][i].slot == expected[q][i].slot);
            CHECK(answers[q][i].distance == expected[q][i].distance);  // to the last bit
          }
        }
        expect(database->flush());
        std::vector<std::byte> files;
        for (const auto& [name, bytes] : storage.files())
          files.insert(files.end(), bytes.begin(), bytes.end());
        if (links.empty()) links = files;
        CHECK(files == links);  // and so are all bytes stored
      }
    }
  }
}

TEST_CASE("zero rows do not draw the graph to themselves") {  // c38
  const uint32_t rows = 4000;
  const auto queries = random_vectors(51, 100, 64);
  double without = 0;
  for (const uint32_t zeros : {0U, 1U, 50U, 300U}) {
    CAPTURE(zeros);
    MemoryStorage storage;
    auto database = open(storage);
    auto* docs = expect(database->collection("docs", {.dimensions = 64}));
    expect(docs->upsert({random_vectors(50, rows, 64), numbers(rows)}));
    link_all(*docs);
    if (zeros > 0) {
      const std::vector<float> nothing(size_t{zeros} * 64, 0.0F);
      expect(docs->upsert({nothing, numbers(zeros, 100000)}));
      link_all(*docs);
    }
    const double found = recall(*docs, queries, 10, 100);
    if (zeros == 0) without = found;
    CHECK(found >= without - 0.03);
  }
}

TEST_CASE("rows far outside the range of the first ones are found as well") {
  for (const Metric metric : {Metric::kL2, Metric::kDot}) {
    CAPTURE(metric_name(metric));
    MemoryStorage storage;
    auto database = open(storage);
    auto* docs = expect(database->collection("docs", {.dimensions = 16, .metric = metric}));
    auto near = random_vectors(61, 3000, 16);
    auto far = random_vectors(62, 2900, 16);
    for (float& value : near) value *= 0.01F;
    for (float& value : far) value += metric == Metric::kL2 ? 2.0F : 0.0F;
    expect(docs->upsert({near, numbers(3000)}));
    link_all(*docs);
    expect(docs->upsert({far, numbers(2900, 3000)}));
    link_all(*docs);
    REQUIRE(docs->stats().linked == 5900);
    CHECK(recall(*docs, std::span(far).first(50 * 16), 10, 200) >= 0.9);
    if (metric == Metric::kL2) {
      CHECK(recall(*docs, std::span(near).first(50 * 16), 1, 200) >= 0.9);
    }
  }
}

TEST_CASE("clusters so tight that codes cannot tell their rows apart") {
  for (const Metric metric : {Metric::kL2, Metric::kDot}) {
    for (const float apart : {100.0F, 1000.0F}) {
      CAPTURE(metric_name(metric), apart);
      MemoryStorage storage;
      auto database = open(storage);
      auto* docs = expect(database->collection("docs", {.dimensions = 4, .metric = metric}));
      auto vectors = random_vectors(71, 3000, 4);
      for (size_t i = 0; i < vectors.size(); ++i) {
        vectors[i] += static_cast<float>(i / 4 % 3) * apart;
      }
      expect(docs->upsert({vectors, numbers(3000)}));
      link_all(*docs);
      CHECK(recall(*docs, std::span(vectors).first(50 * 4), 20, 100) >= 0.9);
    }
  }
}
