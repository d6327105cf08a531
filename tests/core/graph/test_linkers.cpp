#include <catch2/catch_test_macros.hpp>

#include <set>

#include "graph_fixture.h"

using namespace nearfield;
using namespace nearfield::testing;

namespace {

uint64_t hash_of(const std::vector<uint32_t>& words) {
  uint64_t hash = 0;
  for (const uint32_t word : words) hash = mix64(hash ^ word) + 1;
  return hash;
}

std::set<uint32_t> slots_of(const std::vector<Candidate>& found) {
  std::set<uint32_t> slots;
  for (const Candidate& candidate : found) slots.insert(candidate.slot);
  return slots;
}

}  // namespace

TEST_CASE("small graphs of every size are whole and find all rows") {
  const Rows rows = uniform_rows(70, 8, 1);
  for (const uint32_t count : {0u, 1u, 2u, 3u, 4u, 5u, 17u, 33u, 64u, 70u}) {
    for (const bool bulk : {true, false}) {
      INFO(count << (bulk ? " rows in bulk" : " rows in batches"));
      Index index(rows);
      bulk ? index.bulk(count) : index.add(count);
      CHECK(index.graph.rows() == count);
      CHECK(check_graph(index.graph).empty());
      CHECK(slots_of(index.search(rows.row(0), 100)).size() == count);
    }
  }
}

TEST_CASE("a bulk build finds what exact search finds") {
  for (const bool clustered : {false, true}) {
    INFO(clustered);
    const Rows rows = clustered ? clustered_rows(6000, 32, 20, 24, 7) : uniform_rows(6000, 16, 7);
    const Rows queries =
        clustered ? clustered_rows(100, 32, 20, 24, 7, 100000) : uniform_rows(100, 16, 8);
    Index index(rows);
    index.bulk(6000);
    CHECK(check_graph(index.graph).empty());
    CHECK(index.recall(queries, 10, 100) > 0.97);
  }
}

TEST_CASE("the links do not depend on threads or budgets") {
  const Rows rows = clustered_rows(4000, 24, 12, 30, 3);
  Index one(rows);
  one.bulk(3000);
  one.add(4000);
  const auto expected = one.all_links();
  for (const unsigned workers : {2u, 5u}) {
    StdThreadPool pool(workers);
    Index other(rows);
    other.bulk(3000, pool, workers == 2 ? 0 : 500);
    other.add(4000, pool, workers == 2 ? 1 : 3000);
    CHECK(other.all_links() == expected);
  }
}

TEST_CASE("the links are the same on every machine") {
  // Whole numbers from end to end: a change of this hash is a change of the algorithm, and stored
  // graphs and new ones differ from then on.
  Index index(clustered_rows(3000, 24, 12, 30, 5));
  index.bulk(2500);
  CHECK(hash_of(index.all_links()) == 76893043041593634u);
  index.add(3000);
  CHECK(hash_of(index.all_links()) == 8737138344406109007u);
}

TEST_CASE("rows added in batches are found as well as in a bulk build") {
  const Rows rows = clustered_rows(5000, 32, 16, 40, 11);
  const Rows queries = clustered_rows(100, 32, 16, 40, 11, 100000);
  Index whole(rows);
  whole.bulk(5000);
  const double recall = whole.recall(queries, 10, 60);
  for (const uint32_t first : {3333u, 1000u, 0u}) {
    INFO("bulk build of " << first);
    Index index(rows);
    if (first > 0) index.bulk(first);
    index.add(5000);
    CHECK(check_graph(index.graph).empty());
    CHECK(index.recall(queries, 10, 60) > recall - 0.01);
  }
}

TEST_CASE("after each step the graph is whole") {
  const Rows rows = uniform_rows(700, 16, 4);
  Index index(rows);
  encode(index.codes, rows, 700);
  const auto linker = make_batch_linker(index.graph, index.codes, kernels(), serial_pool(),
                                        index.options, index.dead);
  uint64_t before = 0;
  for (;;) {
    const auto progress = linker->step(1);
    REQUIRE(progress.ok());
    CHECK(check_graph(index.graph).empty());
    CHECK(progress->done >= before);
    before = progress->done;
    if (progress->finished()) break;
  }
  CHECK(index.graph.rows() == 700);
}

TEST_CASE("no query loses its island") {
  // 64 clusters far from each other, in which no row of one is near a row of another.
  const Rows rows = clustered_rows(8000, 48, 64, 2, 21);
  const Rows queries = clustered_rows(300, 48, 64, 2, 21, 100000);
  for (const bool bulk : {true, false}) {
    INFO(bulk);
    Index index(rows);
    bulk ? index.bulk(8000) : index.add(8000);
    CHECK(check_graph(index.graph).empty());
    size_t lost = 0;
    for (uint32_t q = 0; q < queries.count(); ++q) {
      const auto truth = index.exact(queries.row(q), 10);
      lost += index.search(queries.row(q), 50)[0].distance > truth.back().distance;
    }
    CHECK(lost == 0);
  }
}

TEST_CASE("copies of one row do not hide the others") {
  // c05: 500 identical rows among 2,000 ordinary ones.
  const Rows ordinary = uniform_rows(2000, 16, 31);
  Rows rows{16, {}};
  std::vector<uint32_t> copies;
  for (uint32_t i = 0; i < 2000; ++i) {
    if (i % 4 == 1) {
      copies.push_back(rows.count());
      rows.append(ordinary.row(0));
    }
    rows.append(ordinary.row(i));
  }
  copies.push_back(0);
  for (const uint32_t in_bulk : {2500u, 1200u, 0u}) {
    INFO("bulk build of " << in_bulk);
    Index index(rows);
    if (in_bulk > 0) index.bulk(in_bulk);
    if (in_bulk < 2500) index.add(2500);
    CHECK(check_graph(index.graph).empty());

    const auto found = index.search(ordinary.row(0), 550);
    const auto slots = slots_of(found);
    for (const uint32_t copy : copies) CHECK(slots.count(copy) == 1);
    CHECK(found.size() == 550);
    CHECK(slots_of(index.search(ordinary.row(0), 2500)).size() == 2500);

    size_t missed = 0;
    for (uint32_t i = 1; i < 2000; i += 7) {
      missed += index.search(ordinary.row(i), 60)[0].distance !=
                index.exact(ordinary.row(i), 1)[0].distance;
    }
    CHECK(missed <= 2);  // of 286: the graph is approximate
  }
}

TEST_CASE("rows that are all the same") {
  Rows rows{16, {}};
  const Rows one = uniform_rows(1, 16, 1);
  for (uint32_t i = 0; i < 20000; ++i) rows.append(one.row(0));
  for (const uint32_t in_bulk : {20000u, 0u}) {
    Index index(rows);
    if (in_bulk > 0) index.bulk(in_bulk);
    index.add(20000);
    CHECK(check_graph(index.graph).empty());
    CHECK(slots_of(index.search(one.row(0), 500)).size() == 500);
  }
}

TEST_CASE("a hundred zero rows leave the others as they are") {
  // c38, smaller.
  Rows rows = uniform_rows(5000, 16, 41);
  const std::vector<float> zero(16, 0.0F);
  for (int i = 0; i < 100; ++i) rows.append(zero.data());
  Index index(rows);
  index.bulk(rows.count());
  CHECK(check_graph(index.graph).empty());
  CHECK(index.recall(uniform_rows(100, 16, 42), 10, 100) > 0.97);
  CHECK(slots_of(Index::first(index.search(zero.data(), 150), 100)).count(5099) == 1);
}

TEST_CASE("copies that are not near each other are copies all the same") {
  // As zero rows under cosine: one code, but each as if it had a coordinate of its own, so that it
  // is as far from the others as from the ordinary rows.
  const Rows ordinary = uniform_rows(1800, 16, 43);
  const std::vector<float> zero(16, 64.0F);
  Rows rows{16, {}};
  std::vector<uint32_t> zeros;
  for (uint32_t i = 0; i < 1800; ++i) {
    if (i % 3 == 1) {
      zeros.push_back(rows.count());
      rows.append(zero.data());
    }
    rows.append(ordinary.row(i));
  }
  const uint32_t count = rows.count();
  for (const uint32_t in_bulk : {count, 1500u, 0u}) {
    INFO("bulk build of " << in_bulk);
    Index index(rows);
    const auto encode_to = [&](uint32_t end) {
      const uint32_t before = index.codes.rows();
      encode(index.codes, rows, end);
      for (uint32_t slot = before; slot < end; ++slot) {
        if (std::equal(zero.begin(), zero.end(), rows.row(slot))) {
          *index.codes.term_blocks().row(slot) += 16 * 1365;
        }
      }
    };
    encode_to(in_bulk);
    if (in_bulk > 0) index.bulk(in_bulk);
    for (uint32_t end = in_bulk;
         end < count;) {  // a few in a batch, so that most meet a linked one
      end = std::min(count, end + 25);
      encode_to(end);
      index.add(end);
    }
    CHECK(check_graph(index.graph).empty());
    size_t apart = 0;
    for (size_t i = 1; i < zeros.size(); ++i) apart += index.graph.links(zeros[i])[0] != zeros[0];
    CHECK(apart == 0);
    const auto all = slots_of(index.search(zero.data(), count));
    CHECK(all.size() == count);
    CHECK(index.recall(uniform_rows(100, 16, 44), 10, 100) > 0.97);
  }
}

TEST_CASE("rows in the middle of all others leave the graph navigable") {
  // A mean is nearer to every row than rows of many dimensions are to each other.
  Rows rows = uniform_rows(3000, 96, 47);
  const Rows queries = uniform_rows(100, 96, 48);
  Index without(rows);
  without.bulk(3000);
  const double recall = without.recall(queries, 10, 100);
  for (const uint32_t central : {1u, 3u}) {
    Rows more{96, {}};
    for (uint32_t i = 0; i < central; ++i) {
      std::vector<float> middle(96, 63.0F);
      middle[i] += 2;
      more.append(middle.data());
    }
    more.values.insert(more.values.end(), rows.values.begin(), rows.values.end());
    for (const bool bulk : {true, false}) {
      INFO(central << (bulk ? " in bulk" : " in batches"));
      Index index(more);
      bulk ? index.bulk(more.count()) : index.add(more.count());
      CHECK(check_graph(index.graph).empty());
      CHECK(index.recall(queries, 10, 100) > recall - 0.02);
    }
  }
}

TEST_CASE("all of a thousand rows are found when all are asked for") {
  // c04: m 16, k = n.
  const Rows rows = uniform_rows(1000, 32, 51);
  for (const bool bulk : {true, false}) {
    Index index(rows);
    bulk ? index.bulk(1000) : index.add(1000);
    for (uint32_t q = 0; q < 20; ++q) {
      const auto found = index.search(rows.row(q), 1000);
      CHECK(slots_of(found).size() == 1000);
      CHECK(found == index.exact(rows.row(q), 1000));
    }
  }
}

TEST_CASE("dot product: the graph of lifted rows is walked by inner product") {
  const Rows rows = uniform_rows(3000, 16, 61);
  const Rows queries = uniform_rows(50, 16, 62);
  for (const bool bulk : {true, false}) {
    Index index(rows, {}, Metric::kDot);
    index.codes.set_range({-64, 1, 64}, 16 * 64 * 64);
    bulk ? index.bulk(3000) : index.add(3000);
    CHECK(check_graph(index.graph).empty());
    CHECK(index.recall(queries, 10, 100) > 0.95);
  }
}

TEST_CASE("few links a row are enough to reach every row") {
  GraphOptions options;
  options.degree = 4;
  options.ef_construction = 16;
  const Rows rows = uniform_rows(2000, 8, 71);
  for (const bool bulk : {true, false}) {
    Index index(rows, options);
    bulk ? index.bulk(2000) : index.add(2000);
    CHECK(check_graph(index.graph).empty());
  }
}

TEST_CASE("damaged links are refused before rows are added to them") {
  const Rows rows = uniform_rows(900, 16, 81);
  struct Damage {
    const char* name;
    void (*apply)(Graph&);
  };
  static const auto every = [](Graph& graph, auto change) {
    for (uint32_t slot = 0; slot < graph.rows(); ++slot) change(graph.links(slot), slot);
  };
  const Damage damages[] = {
      {"far outside",
       [](Graph& graph) {
         every(graph, [](uint32_t* links, uint32_t) { links[1] = 0x7ffffff0; });
       }},
      {"largest", [](Graph& graph) { graph.links(7)[0] = 0xfffffffe; }},
      {"just outside", [](Graph& graph) { graph.links(599)[1] = 600; }},
      {"to oneself",
       [](Graph& graph) { every(graph, [](uint32_t* links, uint32_t slot) { links[0] = slot; }); }},
      {"behind a gap", [](Graph& graph) { graph.links(300)[0] = kNoLink; }},
      {"behind a gap, at the end",
       [](Graph& graph) {
         graph.links(0)[graph.degree() - 2] = kNoLink;
         graph.links(0)[graph.degree() - 1] = 5;
       }},
      {"seed outside",
       [](Graph& graph) {
         graph.set_seeds({0, 600});
       }},
      {"no seeds", [](Graph& graph) { graph.set_seeds({}); }},
  };
  for (const Damage& damage : damages) {
    INFO(damage.name);
    Index index(rows);
    index.bulk(600);
    CHECK(links_in_range(index.graph));
    damage.apply(index.graph);
    CHECK_FALSE(links_in_range(index.graph));
    CHECK_FALSE(check_graph(index.graph).empty());
    const auto before = index.all_links();
    encode(index.codes, rows, 900);
    const auto linker = make_batch_linker(index.graph, index.codes, kernels(), serial_pool(),
                                          index.options, index.dead);
    for (int i = 0; i < 2; ++i) {
      const auto step = linker->step(0);
      REQUIRE_FALSE(step.ok());
      CHECK(step.error().code == ErrorCode::kCorrupt);
    }
    CHECK(index.graph.rows() == 600);
    CHECK(index.all_links() == before);
  }
}
