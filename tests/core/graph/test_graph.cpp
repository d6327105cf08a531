#include <catch2/catch_test_macros.hpp>

#include <set>

#include "graph/nearest.h"
#include "graph/prune.h"
#include "graph/reachability.h"
#include "graph/reservoirs.h"
#include "graph_fixture.h"

using namespace nearfield;
using namespace nearfield::testing;

TEST_CASE("check_graph names what is wrong") {
  const Rows rows = uniform_rows(50, 8, 1);
  Index index(rows);
  index.bulk(50);
  REQUIRE(check_graph(index.graph).empty());
  uint32_t* links = index.graph.links(7);
  const uint32_t first = links[0];

  links[0] = 7;
  CHECK(check_graph(index.graph).size() >= 1);
  links[0] = 50;
  CHECK(check_graph(index.graph).size() >= 1);
  links[0] = links[1];
  CHECK(check_graph(index.graph).size() >= 1);
  links[0] = kNoLink;
  CHECK(check_graph(index.graph).size() >= 1);
  links[0] = first;
  CHECK(check_graph(index.graph).empty());

  index.graph.set_seeds({});
  CHECK(check_graph(index.graph, 3).size() == 3);
  index.graph.set_seeds({0, 99});
  CHECK(check_graph(index.graph).size() == 1);
}

TEST_CASE("links outside the graph are passed over") {  // c15
  const Rows rows = uniform_rows(600, 16, 2);
  Index index(rows);
  index.bulk(600);
  for (uint32_t slot = 0; slot < 600; ++slot) {
    index.graph.links(slot)[slot % 5] = 600 + slot * 1000003u % 0x7fff0000u;
  }
  index.graph.set_seeds({0, 5000000, 300}, {0, 1, 3});
  const auto found = index.search(rows.row(9), 100);
  CHECK(found.size() > 50);
  for (const Candidate& candidate : found) CHECK(candidate.slot < 600);
}

TEST_CASE("seeds survive encoding, and damaged bytes are refused") {
  const Rows rows = uniform_rows(3000, 16, 3);
  Index index(rows);
  index.bulk(3000);
  REQUIRE(index.graph.group_starts().size() > 2);
  const auto bytes = index.graph.encode_seeds();

  Graph other(32, kBlockShift);
  REQUIRE(other.decode_seeds(bytes));
  CHECK(other.encode_seeds() == bytes);

  for (size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(other.decode_seeds(std::span(bytes).first(size)));
  }
  auto longer = bytes;
  longer.push_back(std::byte{0});
  CHECK_FALSE(other.decode_seeds(longer));
  for (const size_t at : {3u, 7u, 31u}) {  // the counts and the first seed become huge
    auto damaged = bytes;
    damaged[at] = std::byte{0xff};
    CHECK_FALSE(other.decode_seeds(damaged));
  }
  auto damaged = bytes;
  damaged[bytes.size() - 8] ^= std::byte{0xff};  // the last start but one
  CHECK_FALSE(other.decode_seeds(damaged));
  CHECK(other.encode_seeds() == bytes);
}

TEST_CASE("the marks of 65,536 walks do not mix") {
  const Rows rows = uniform_rows(20, 8, 4);
  Index index(rows);
  index.bulk(20);
  const auto expected = index.search(rows.row(3), 20);
  REQUIRE(expected.size() == 20);
  index.scratch.epoch = 65530;  // as after so many walks; the first ones left the marks 1, 2, ...
  for (int i = 0; i < 20; ++i) CHECK(index.search(rows.row(3), 20) == expected);
}

TEST_CASE("nearest agrees with sorting") {
  std::vector<int32_t> distances;
  std::vector<Candidate> found;
  for (const uint32_t n : {1u, 5u, 16u, 31u, 32u, 33u, 100u, 1000u}) {
    for (const uint32_t range : {3u, 1000000u}) {  // many ties and few
      distances.clear();
      std::vector<Candidate> expected;
      for (uint32_t i = 0; i < n; ++i) {
        distances.push_back(static_cast<int32_t>(random_below(n, i, range)));
        if (i % 7 == 3) distances.back() = INT32_MAX;
        if (distances.back() != INT32_MAX) expected.push_back({distances.back(), i});
      }
      std::sort(expected.begin(), expected.end());
      for (const uint32_t count : {1u, 6u, 24u}) {
        nearest(distances, count, found);
        CHECK(found == Index::first(expected, count));
      }
    }
  }
}

TEST_CASE("a reservoir keeps the smallest, whatever the order") {
  std::vector<std::vector<Candidate>> offers;
  for (uint32_t i = 0; i < 30; ++i) {
    std::vector<Candidate> offer;
    for (uint32_t j = 0; j < 8; ++j) {
      const uint32_t slot = random_below(9, i * 8 + j, 60);
      offer.push_back({static_cast<int32_t>(random_below(10, slot, 25)), slot});
    }
    std::sort(offer.begin(), offer.end());
    offer.erase(std::unique(offer.begin(), offer.end()), offer.end());
    offers.push_back(offer);
  }
  std::vector<Candidate> expected;
  for (const auto& offer : offers) expected.insert(expected.end(), offer.begin(), offer.end());
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  expected.resize(16);
  for (uint32_t turn = 0; turn < 30; ++turn) {
    std::rotate(offers.begin(), offers.begin() + 1, offers.end());
    Reservoirs reservoirs(16);
    REQUIRE(reservoirs.resize(1).ok());
    for (const auto& offer : offers) reservoirs.offer(0, offer);
    const auto kept = reservoirs.candidates(0);
    CHECK(std::vector<Candidate>(kept.begin(), kept.end()) == expected);
  }
}

TEST_CASE("pruning keeps what must be kept and links in different directions") {
  // On a line: 0 at 0, the others at 10, 11, ..., and one on the other side.
  Rows rows{1, {50, 60, 61, 62, 63, 41}};
  Index index(rows);
  encode(index.codes, rows, 6);
  const std::vector<Candidate> candidates{{81, 5}, {100, 1}, {121, 2}, {144, 3}, {169, 4}};
  uint32_t out[4];
  uint64_t distances = 0;
  REQUIRE(robust_prune(index.codes, kernels(), candidates, nullptr, 4, out, distances) == 2);
  CHECK(out[0] == 5);
  CHECK(out[1] == 1);
  const uint8_t keep[] = {0, 0, 0, 0, 1};
  REQUIRE(robust_prune(index.codes, kernels(), candidates, keep, 2, out, distances) == 2);
  CHECK(out[0] == 5);
  CHECK(out[1] == 4);
}

TEST_CASE("a row in the middle does not take the place of all other links") {
  // Row 0 among candidates in 16 directions, and one in the middle that is nearer to each.
  Rows rows{16, std::vector<float>(16 * 18, 64)};
  for (uint32_t i = 0; i < 17; ++i) rows.values[i * 16 + i % 16] += i == 16 ? -50 : 50;
  Index index(rows);
  encode(index.codes, rows, 18);
  std::vector<Candidate> candidates{{2500, 17}};
  for (uint32_t i = 1; i < 17; ++i) candidates.push_back({i == 16 ? 10000 : 5000, i});
  uint32_t out[32];
  uint64_t distances = 0;
  // The middle, then a layer of all others but the opposite one, which these do occlude.
  CHECK(robust_prune(index.codes, kernels(), candidates, nullptr, 32, out, distances) == 16);
  CHECK(out[0] == 17);
  CHECK(std::set<uint32_t>(out, out + 16).size() == 16);
  // With few places one link is a quarter of them.
  CHECK(robust_prune(index.codes, kernels(), candidates, nullptr, 4, out, distances) == 1);
}

TEST_CASE("rows that were cut off are linked again") {
  const Rows rows = uniform_rows(2000, 16, 6);
  Index index(rows);
  index.bulk(2000);
  const std::vector<uint32_t> seeds(index.graph.seeds().begin(), index.graph.seeds().end());
  for (uint32_t slot = 0; slot < 2000; ++slot) {  // nobody links to every eleventh row any more
    uint32_t* links = index.graph.links(slot);
    uint32_t* end = std::remove_if(links, links + 32, [](uint32_t to) { return to % 11 == 0; });
    std::fill(end, links + 32, kNoLink);
  }
  index.graph.set_seeds({1, 2, 3});
  REQUIRE_FALSE(check_graph(index.graph).empty());
  uint64_t distances = 0;
  restore_reachability(index.graph, index.codes, kernels(), index.scratch, distances);
  CHECK(check_graph(index.graph).empty());
  CHECK(index.graph.seeds().size() < 10);
}
