// Rows come and go for long: what is found, what it costs and what stays behind.
#include <algorithm>
#include <numeric>

#include "fixture.h"

using namespace nearfield;
using namespace nearfield::test;

namespace {

constexpr uint32_t kDimensions = 24;
constexpr uint32_t kCentres = 20;
constexpr uint32_t kQueries = 200;
constexpr CollectionOptions kOptions{.dimensions = kDimensions, .metric = Metric::kL2};

// Row i belongs to cluster i % kCentres; the last kQueries are queries.
std::vector<float> some_vectors(uint32_t rows) {
  return clustered_vectors(7, rows + kQueries, kDimensions, kCentres, 0.5F);
}

double recall(const Collection& docs, std::span<const float> queries) {
  size_t found = 0;
  for (uint32_t q = 0; q < kQueries; ++q) {
    const auto query = queries.subspan(size_t{q} * kDimensions, kDimensions);
    const auto truth = nearest_ids(docs, query, 10, {}, true);
    for (const int64_t id : nearest_ids(docs, query, 10, 40)) {
      found += static_cast<size_t>(std::count(truth.begin(), truth.end(), id));
    }
  }
  return static_cast<double>(found) / (10.0 * kQueries);
}

// The same records, stored and linked at once.
double fresh_recall(const Collection& docs, std::span<const float> queries) {
  MemoryStorage storage;
  auto database = open(storage);
  auto* fresh = expect(database->collection("docs", docs.options()));
  for (uint32_t slot = docs.next_live(0); slot < docs.stats().rows;
       slot = docs.next_live(slot + 1)) {
    const std::vector<IdView> id{docs.id_at(slot)};
    expect(fresh->upsert({docs.vector_at(slot), id}));
  }
  link_all(*fresh);
  return recall(*fresh, queries);
}

void upsert_rows(Collection& docs, const std::vector<float>& vectors, uint32_t first,
                 uint32_t rows) {
  expect(docs.upsert(
      {std::span(vectors).subspan(size_t{first} * kDimensions, size_t{rows} * kDimensions),
       numbers(rows, first)}));
}

uint64_t total_bytes(MemoryStorage& storage) {
  uint64_t bytes = 0;
  for (const auto& [name, content] : storage.files()) bytes += content.size();
  return bytes;
}

}  // namespace

TEST_CASE("a collection whose records were all replaced finds what a fresh one does") {
  constexpr uint32_t kRows = 3000;
  const auto vectors = some_vectors(2 * kRows);
  const auto queries = std::span(vectors).last(size_t{kQueries} * kDimensions);
  for (const uint32_t percent : {1U, 10U, 50U}) {
    for (const bool by_cluster : {false, true}) {
      INFO(percent << " % a step, " << (by_cluster ? "cluster by cluster" : "at random"));
      MemoryStorage storage;
      auto database = open(storage);
      auto* docs = expect(database->collection("docs", kOptions));
      upsert_rows(*docs, vectors, 0, kRows);
      link_all(*docs);
      const uint64_t built = docs->stats().build_distances;
      std::vector<uint32_t> order(kRows);
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        const auto key = [&](uint32_t row) {
          return std::pair(by_cluster ? row % kCentres : 0, random_at(3, row));
        };
        return key(a) < key(b);
      });
      const uint32_t step = kRows * percent / 100;
      for (uint32_t gone = 0; gone < kRows; gone += step) {
        std::vector<IdView> ids;
        for (uint32_t i = gone; i < gone + step; ++i) ids.emplace_back(int64_t{order[i]});
        CHECK(expect(docs->remove(ids)) == step);
        upsert_rows(*docs, vectors, kRows + gone, step);
        while (docs->wants_link()) link_all(*docs);
        CHECK(docs->count() == kRows);
        // Half as many dead as live, and the share that link() waits for, at most.
        CHECK(docs->stats().rows <= kRows + kRows / 2 + 1024 + step);
      }
      CHECK(docs->stats().build_distances > built);
      link_all(*docs);
      CHECK(recall(*docs, queries) > fresh_recall(*docs, queries) - 0.01);
      expect(database->flush());
      CHECK(expect(database->verify()).problems.empty());
      CHECK(expect(open(storage)->verify()).problems.empty());
    }
  }
}

TEST_CASE("compact gives back what is dead without building anew") {
  constexpr uint32_t kRows = 6000;
  const auto vectors = some_vectors(kRows);
  const auto queries = std::span(vectors).last(size_t{kQueries} * kDimensions);
  for (const uint64_t budget_us : {uint64_t{0}, uint64_t{200}}) {
    INFO("budget " << budget_us);
    MemoryStorage storage;
    auto database = open(storage);
    auto* docs = expect(database->collection("docs", kOptions));
    upsert_rows(*docs, vectors, 0, kRows);
    link_all(*docs);
    expect(database->flush());
    const uint64_t whole_bytes = total_bytes(storage);
    const uint64_t built = docs->stats().build_distances;
    std::vector<IdView> ids;
    for (uint32_t row = 0; row < kRows; row += 10) ids.emplace_back(int64_t{row});
    expect(docs->remove(ids));
    std::vector<std::vector<int64_t>> before;
    for (uint32_t q = 0; q < kQueries; ++q) {
      before.push_back(
          nearest_ids(*docs, queries.subspan(size_t{q} * kDimensions, kDimensions), 10, {}, true));
    }
    uint32_t steps = 1;
    for (; !expect(docs->compact(budget_us)).finished(); ++steps) {
      CHECK(nearest_ids(*docs, queries.first(kDimensions), 10, {}, true) == before[0]);
    }
    CHECK((steps > 1) == (budget_us > 0));
    CHECK(docs->stats().rows == kRows - kRows / 10);
    CHECK(docs->stats().linked == docs->stats().rows);
    CHECK(docs->stats().build_distances - built < built / 5);
    for (uint32_t q = 0; q < kQueries; ++q) {
      const auto query = queries.subspan(size_t{q} * kDimensions, kDimensions);
      CHECK(nearest_ids(*docs, query, 10, {}, true) == before[q]);
    }
    CHECK(recall(*docs, queries) > fresh_recall(*docs, queries) - 0.01);
    expect(database->flush());
    CHECK(total_bytes(storage) < whole_bytes * 95 / 100);
    CHECK(expect(database->verify()).problems.empty());
    auto reopened = open(storage);
    CHECK(expect(reopened->find("docs"))->stats().linked == kRows - kRows / 10);
    CHECK(nearest_ids(*expect(reopened->find("docs")), queries.first(kDimensions), 10, {}, true) ==
          before[0]);
    CHECK(expect(docs->compact()).finished());  // nothing is left to do
  }
}

TEST_CASE("rows that are out of the graph stay out when a store is opened again") {
  constexpr uint32_t kRows = 4000;
  const auto vectors = some_vectors(kRows);
  const auto queries = std::span(vectors).last(size_t{kQueries} * kDimensions);
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", kOptions));
  upsert_rows(*docs, vectors, 0, kRows);
  link_all(*docs);
  expect(docs->remove(numbers(500)));
  CHECK(docs->wants_link());
  link_all(*docs);
  CHECK_FALSE(docs->wants_link());
  CHECK(docs->stats().rows == kRows);  // too few to move the others for
  expect(database->flush());
  auto reopened = open(storage);
  auto* again = expect(reopened->find("docs"));
  CHECK(reopened->info().warnings.empty());
  CHECK_FALSE(again->wants_link());
  SearchScratch scratch;
  for (uint32_t q = 0; q < kQueries; ++q) {
    const auto query = queries.subspan(size_t{q} * kDimensions, kDimensions);
    SearchStats a;
    SearchStats b;
    const auto first = expect(docs->search(query, {}, scratch, &a));
    const auto second = expect(again->search(query, {}, scratch, &b));
    CHECK(ids_of(*docs, first) == ids_of(*again, second));
    CHECK(a.distance_computations == b.distance_computations);
  }
  CHECK(expect(reopened->verify()).problems.empty());
}

TEST_CASE("records that change between the steps of a compaction are kept") {
  constexpr uint32_t kRows = 3000;
  const auto vectors = some_vectors(2 * kRows);
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", kOptions));
  upsert_rows(*docs, vectors, 0, kRows);
  link_all(*docs);
  expect(docs->remove(numbers(600)));
  int64_t removed = 600;
  int64_t added = kRows;
  while (!expect(docs->compact(1)).finished()) {
    expect(docs->remove(numbers(1, removed++)));
    upsert_rows(*docs, vectors, static_cast<uint32_t>(added++), 1);
    if (removed == 1500) break;
  }
  link_all(*docs);
  CHECK(docs->count() == static_cast<uint64_t>(added - removed));
  for (int64_t id = 0; id < added; ++id) CHECK(docs->contains(id) == (id >= removed));
  expect(database->flush());
  CHECK(expect(database->verify()).problems.empty());
}
