// Walks that end early, and the table that says when.
#include <algorithm>

#include <catch2/catch_test_macros.hpp>

#include "graph/calibrate.h"
#include "graph_fixture.h"

using namespace nearfield;
using namespace nearfield::testing;

namespace {

struct Found {
  double recall = 0;
  uint64_t distances = 0;
};

// The squared length that rows are lifted to under dot.
int64_t longest(const Rows& rows) {
  int64_t longest = 0;
  for (uint32_t i = 0; i < rows.count(); ++i) {
    int64_t squares = 0;
    for (uint32_t j = 0; j < rows.dimensions; ++j) {
      const auto value = static_cast<int64_t>(rows.row(i)[j]);
      squares += value * value;
    }
    longest = std::max(longest, squares);
  }
  return longest;
}

EarlyStop stop_at(Index& index, const float* query, uint32_t slack) {
  Buffer buffer = std::move(Buffer::allocate(index.codes.stride())).value();
  auto* code = reinterpret_cast<uint8_t*>(buffer.data());
  index.codes.encode_query(query, 1, code);
  return {.rank = 10, .least = 32, .slack = slack, .query = index.codes.query_terms(code)};
}

// Ten nearest of each query, by a walk that the table stops; ties count as found.
Found search_for(Index& index, const Rows& queries, double recall) {
  Found result;
  index.distances = 0;
  size_t found = 0;
  for (uint32_t q = 0; q < queries.count(); ++q) {
    const float* query = queries.row(q);
    const auto truth = index.exact(query, 10);
    const auto stop = stop_at(index, query, index.graph.slack().at(recall));
    const auto walked = index.search(query, WalkOptions{.ef = kMostCandidates, .stop = stop});
    for (const Candidate& candidate : Index::first(walked, 10)) {
      found += candidate.distance <= truth.back().distance ? 1 : 0;
    }
  }
  result.recall = static_cast<double>(found) / (10.0 * queries.count());
  result.distances = index.distances;
  return result;
}

}  // namespace

TEST_CASE("a slack table interpolates between what was measured") {
  const SlackTable table{.rows = 5, .slack = {10, 20, 40, 80, 160, 320, 640}};
  CHECK(table.at(0.1) == 10);
  CHECK(table.at(0.8) == 10);
  CHECK(table.at(0.85) == 15);
  CHECK(table.at(0.9) == 20);
  CHECK(table.at(0.925) == 30);
  CHECK(table.at(0.99) == 160);
  CHECK(table.at(0.999) == 640);
  CHECK(table.at(0.99999) == 640);
}

// The table is measured on rows; queries that are no rows have to find what it promises.
TEST_CASE("queries find the recall that they ask for, and more of it costs more") {
  struct Case {
    const char* name;
    Rows rows;
    Rows queries;
    Metric metric;
  };
  const Case cases[] = {
      {"uniform", uniform_rows(6000, 24, 1), uniform_rows(200, 24, 2), Metric::kL2},
      {"clustered", clustered_rows(6000, 24, 20, 30, 1), clustered_rows(200, 24, 20, 30, 1, 6000),
       Metric::kL2},
      {"dot", uniform_rows(6000, 24, 1), uniform_rows(200, 24, 2), Metric::kDot},
  };
  for (const Case& with : cases) {
    CAPTURE(with.name);
    Index index(with.rows, {}, with.metric);
    if (with.metric == Metric::kDot) index.codes.set_range({0, 1, 0}, longest(with.rows));
    index.bulk(6000);
    REQUIRE(index.graph.slack().rows == 6000);
    uint64_t before = 0;
    for (const double recall : {0.9, 0.95, 0.99}) {
      CAPTURE(recall);
      const Found found = search_for(index, with.queries, recall);
      CHECK(found.recall >= recall - 0.02);
      CHECK(found.distances > before);
      before = found.distances;
    }
    const auto& slack = index.graph.slack().slack;
    CHECK(std::is_sorted(slack.begin(), slack.end()));
  }
}

// To find copies of a row that plays a query takes no slack; a real query equals no row.
TEST_CASE("copies do not make the table promise too much") {
  const Rows distinct = uniform_rows(1000, 24, 11);
  Rows rows{24, {}};
  for (uint32_t i = 0; i < 12'000; ++i) rows.append(distinct.row(i % 1000));
  Index index(rows);
  index.bulk(12'000);
  CHECK(search_for(index, uniform_rows(200, 24, 12), 0.98).recall >= 0.96);

  Rows same{24, {}};
  for (uint32_t i = 0; i < 3000; ++i) same.append(distinct.row(0));
  Index one(same);
  one.bulk(3000);
  CHECK(search_for(one, uniform_rows(5, 24, 12), 0.98).recall == 1);
}

TEST_CASE("the table is the same for any number of threads and with scalar kernels") {
  const Rows rows = clustered_rows(4000, 20, 10, 40, 3);
  Index index(rows);
  index.bulk(4000);
  for (const unsigned threads : {1U, 2U, 5U}) {
    StdThreadPool pool(threads);
    for (const char* name : {"", "scalar"}) {
      CAPTURE(threads, name);
      Calibration calibration(index.graph, index.codes, *find_kernels(name), pool,
                              index.options.seed);
      while (!calibration.step()) {
      }
      CHECK(calibration.table() == index.graph.slack());
      CHECK(calibration.distances() > 0);
    }
  }
}

TEST_CASE("a graph that has doubled by batches is measured again") {
  const Rows rows = uniform_rows(4100, 16, 5);
  Index index(rows);
  index.bulk(2000);
  index.add(3900);
  CHECK(index.graph.slack().rows == 2000);
  index.add(4100);
  CHECK(index.graph.slack().rows >= 4000);
}

TEST_CASE("an unlimited slack changes nothing") {
  const Rows rows = uniform_rows(3000, 16, 6);
  Index index(rows);
  index.bulk(3000);
  const Rows queries = uniform_rows(20, 16, 7);
  for (uint32_t q = 0; q < queries.count(); ++q) {
    const auto stop = stop_at(index, queries.row(q), 1U << 30);
    CHECK(index.search(queries.row(q), WalkOptions{.ef = 100, .stop = stop}) ==
          index.search(queries.row(q), 100));
  }
}

TEST_CASE("a row that is left out is not found, and the others are") {
  const Rows rows = uniform_rows(3000, 16, 8);
  Index index(rows);
  index.bulk(3000);
  for (const uint32_t row : {0U, 1234U, 2999U}) {
    auto expected = index.search(rows.row(row), 200);
    const auto found = index.search(rows.row(row), WalkOptions{.ef = 200, .without = row});
    REQUIRE(expected[0].slot == row);
    CHECK(std::none_of(found.begin(), found.end(),
                       [&](const Candidate& c) { return c.slot == row; }));
    for (size_t i = 1; i < 20; ++i) CHECK(found[i - 1] == expected[i]);
  }
}

TEST_CASE("graphs too small to measure are walked all the same") {
  for (const uint32_t count : {1U, 2U, 9U, 31U}) {
    const Rows rows = uniform_rows(count, 8, 9);
    Index index(rows);
    index.bulk(count);
    CHECK(index.graph.slack().rows == count);
    const auto stop = stop_at(index, rows.row(0), index.graph.slack().at(0.98));
    CHECK(index.search(rows.row(0), WalkOptions{.ef = 100, .stop = stop}).size() == count);
  }
}
