#include <catch2/catch_test_macros.hpp>

#include <vector>

#include "graph/duplicates.h"
#include "graph_fixture.h"

using namespace nearfield;
using namespace nearfield::testing;

namespace {

constexpr uint32_t kClusters = 16;
constexpr uint32_t kNarrow = 16;  // a pool so small that poor links show

Rows some_rows(uint32_t count) { return clustered_rows(count, 32, kClusters, 40, 11); }
Rows some_queries(uint32_t count) { return clustered_rows(count, 32, kClusters, 40, 11, 1000000); }
uint32_t cluster_of(uint32_t row) { return random_below(11 + 1, row, kClusters); }

// The rows that stay, alone.
Rows staying(const Index& index) {
  Rows rows{index.rows.dimensions, {}};
  for (uint32_t slot = 0; slot < index.codes.rows(); ++slot) {
    if (!index.dead.contains(slot)) rows.append(index.rows.row(slot));
  }
  return rows;
}

double fresh_recall(const Index& index, const Rows& queries) {
  const Rows rows = staying(index);
  Index fresh(rows);
  fresh.bulk(rows.count());
  return fresh.recall(queries, 10, kNarrow);
}

void check_removed(const Index& index) {
  CHECK(check_graph(index.graph).empty());
  for (uint32_t slot = 0; slot < index.graph.rows(); ++slot) {
    CHECK(index.graph.removed().contains(slot) == index.dead.contains(slot));
    if (!index.dead.contains(slot)) CHECK_FALSE(index.graph.linked(slot).empty());
  }
}

}  // namespace

TEST_CASE("rows that are removed are gone, and the others are found as in a fresh build") {
  const Rows rows = some_rows(4000);
  const Rows queries = some_queries(100);
  for (const uint32_t one_of : {100u, 10u, 2u}) {
    INFO("one of " << one_of);
    Index index(rows);
    index.bulk(4000);
    for (uint32_t slot = 0; slot < 4000; ++slot) {
      if (random_below(5, slot, one_of) == 0) index.dead.insert(slot);
    }
    index.remove();
    check_removed(index);
    CHECK(index.recall(queries, 10, kNarrow) > fresh_recall(index, queries) - 0.015);
  }
}

TEST_CASE("whole clusters may be removed") {
  const Rows rows = some_rows(4000);
  const Rows queries = some_queries(100);
  Index index(rows);
  index.bulk(4000);
  for (uint32_t slot = 0; slot < 4000; ++slot) {
    if (cluster_of(slot) < kClusters / 2) index.dead.insert(slot);
  }
  index.remove();
  check_removed(index);
  CHECK(index.recall(queries, 10, kNarrow) > fresh_recall(index, queries) - 0.015);
}

TEST_CASE("all rows but a few may be removed") {
  const Rows rows = uniform_rows(1000, 8, 3);
  Index index(rows);
  index.bulk(1000);
  for (uint32_t slot = 0; slot < 1000; ++slot) {
    if (slot % 300 != 7) index.dead.insert(slot);
  }
  index.remove();
  check_removed(index);
  CHECK(index.search(rows.row(0), 100).size() == 4);
}

TEST_CASE("a graph whose rows were all replaced, step by step, is as good as a fresh one") {
  const uint32_t live = 3000;
  const Rows rows = some_rows(2 * live);
  const Rows queries = some_queries(100);
  for (const uint32_t percent : {5u, 50u}) {
    for (const bool by_cluster : {false, true}) {
      INFO(percent << " % a step, " << (by_cluster ? "cluster by cluster" : "at random"));
      Index index(rows);
      index.bulk(live);
      // The order in which the first rows go.
      std::vector<uint32_t> order(live);
      for (uint32_t i = 0; i < live; ++i) order[i] = i;
      std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        const auto key = [&](uint32_t row) {
          return std::pair(by_cluster ? cluster_of(row) : 0, mix64(row));
        };
        return key(a) < key(b);
      });
      const uint32_t step = live * percent / 100;
      for (uint32_t gone = 0; gone < live; gone += step) {
        for (uint32_t i = gone; i < gone + step; ++i) index.dead.insert(order[i]);
        index.remove();
        index.add(live + gone + step);
      }
      check_removed(index);
      CHECK(index.recall(queries, 10, kNarrow) > fresh_recall(index, queries) - 0.015);
    }
  }
}

TEST_CASE("removing does not depend on threads or budgets") {
  const Rows rows = some_rows(3000);
  const auto links = [&](unsigned workers, uint64_t budget_us) {
    StdThreadPool pool(workers);
    Index index(rows);
    index.bulk(3000);
    for (uint32_t slot = 0; slot < 3000; slot += 7) index.dead.insert(slot);
    index.remove(pool, budget_us);
    return index.all_links();
  };
  const auto expected = links(1, 0);
  CHECK(links(2, 1) == expected);
  CHECK(links(5, 300) == expected);
}

TEST_CASE("rows that are dead before they are linked never enter the graph") {
  const Rows rows = some_rows(2000);
  for (const bool bulk : {true, false}) {
    Index index(rows);
    if (!bulk) index.bulk(1000);
    for (uint32_t slot = 1000; slot < 1500; ++slot) index.dead.insert(slot);
    bulk ? index.bulk(2000) : index.add(2000);
    check_removed(index);
    CHECK(index.graph.removed().count() == 500);
  }
}

TEST_CASE("copies stay in one chain whichever of them are removed") {
  const Rows distinct = some_rows(1500);
  Rows rows = distinct;
  for (uint32_t i = 0; i < 300; ++i) rows.append(distinct.row(i % 3));  // a hundred copies of three
  struct Case {
    const char* what;
    bool first, some;
  };
  for (const auto& [what, first, some] :
       {Case{"the first", true, false}, Case{"some in the middle", false, true},
        Case{"both", true, true}}) {
    INFO(what);
    Index index(rows);
    index.bulk(1800);
    for (uint32_t copy = 0; copy < 3; ++copy) {
      if (first) index.dead.insert(copy);
      if (some) {
        for (uint32_t i = 30; i < 90; ++i) index.dead.insert(1500 + copy + 3 * i);
      }
    }
    index.dead.insert(700);
    index.remove();
    check_removed(index);
    // Every copy is found, and all but the first that stays are copies to those who link.
    const uint32_t live = 101 - (first ? 1 : 0) - (some ? 60 : 0);
    uint32_t hanging = 0;
    for (uint32_t slot = 1500; slot < 1800; slot += 3) {
      hanging += is_copy(index.graph, index.codes, slot);
    }
    CHECK(hanging == live - 1);
    const auto found = index.search(rows.row(0), 200);
    const auto same = [&](const Candidate& near) {
      return same_code(index.codes, near.slot, 0) && !index.dead.contains(near.slot);
    };
    CHECK(std::count_if(found.begin(), found.end(), same) == live);
    // And a new copy joins the chain.
    index.rows.append(distinct.row(0));
    index.add(1801);
    CHECK(check_graph(index.graph).empty());
    CHECK(is_copy(index.graph, index.codes, 1800));
  }
}

TEST_CASE("copies may be removed with everything else") {
  Rows rows{8, {}};
  const Rows two = uniform_rows(2, 8, 9);
  for (uint32_t i = 0; i < 600; ++i) rows.append(two.row(i % 2));
  Index index(rows);
  index.bulk(600);
  for (uint32_t slot = 0; slot < 590; ++slot) index.dead.insert(slot);
  index.remove();
  check_removed(index);
  CHECK(index.search(rows.row(0), 20).size() == 10);
}

TEST_CASE("nothing is removed from a graph whose links are damaged") {
  Index index(some_rows(1000));
  index.bulk(1000);
  index.graph.links(500)[0] = 1000;
  index.dead.insert(3);
  const auto remover = make_row_remover(index.graph, index.codes, kernels(), serial_pool(),
                                        index.options, index.dead);
  CHECK(remover->step(0).error().code == ErrorCode::kCorrupt);
  CHECK(index.graph.removed().count() == 0);
}
