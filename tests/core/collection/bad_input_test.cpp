// Bad input gets an error that says what was wrong and what was expected, and changes nothing.
#include <algorithm>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>

#include "fixture.h"

using namespace nearfield;
using namespace nearfield::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a vector of another length names both lengths") {  // c35
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 3}));
  expect(docs->upsert({std::vector<float>{1, 2, 3}, numbers(1)}));
  SearchScratch scratch;
  const auto searched = docs->search(std::vector<float>(384), {}, scratch);
  REQUIRE_FALSE(searched.ok());
  CHECK(searched.error().code == ErrorCode::kDimensionMismatch);
  CHECK_THAT(searched.error().detail, ContainsSubstring("384") && ContainsSubstring("3"));
  const auto stored = docs->upsert({std::vector<float>(384), numbers(1, 5)});
  CHECK(stored.error().code == ErrorCode::kDimensionMismatch);
  CHECK(docs->search_batch(std::vector<float>(7), {}).error().code ==
        ErrorCode::kDimensionMismatch);
  CHECK(docs->count() == 1);
}

TEST_CASE("a batch with one bad number is refused whole and its row is named") {  // c36
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 2}));
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity(), 2e15F}) {
    const std::vector<float> vectors{1, 2, 3, 4, 5, bad};
    const auto stored = docs->upsert({vectors, numbers(3)});
    REQUIRE_FALSE(stored.ok());
    CHECK(stored.error().code == ErrorCode::kNotFinite);
    CHECK_THAT(stored.error().detail,
               ContainsSubstring("row 2") && ContainsSubstring("position 1"));
    CHECK(docs->count() == 0);
    SearchScratch scratch;
    const std::vector<float> query{bad, 0};
    CHECK(docs->search(query, {}, scratch).error().code == ErrorCode::kNotFinite);
    CHECK(docs->search_batch(query, {}).error().code == ErrorCode::kNotFinite);
  }
}

TEST_CASE("a value that f16 cannot hold is refused and nothing is lost") {  // c41
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection(
      "docs", {.dimensions = 2, .metric = Metric::kL2, .row_type = RowType::kF16}));
  expect(docs->upsert({std::vector<float>{kLargestHalf, -kLargestHalf}, numbers(1)}));
  for (const float bad : {65504.01F, -65519.0F, 1e6F, std::numeric_limits<float>::infinity()}) {
    const auto stored = docs->upsert({std::vector<float>{1, 2, 3, bad}, numbers(2)});
    REQUIRE_FALSE(stored.ok());
    CHECK(stored.error().code == ErrorCode::kNotFinite);
    CHECK_THAT(stored.error().detail, ContainsSubstring("row 1 of the batch (id 1)") &&
                                          ContainsSubstring("position 1") &&
                                          ContainsSubstring("±65504, the range of f16"));
    CHECK(docs->count() == 1);
    CHECK(expect(docs->get(int64_t{0})).vector == std::vector<float>{kLargestHalf, -kLargestHalf});
  }
  // A query is not rounded, so it may have any value.
  CHECK(nearest_ids(*docs, std::vector<float>{1e6F, 0}, 1) == std::vector<int64_t>{0});
}

TEST_CASE("k and ef must be at least 1 and may be as large as anyone likes") {
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 2}));
  const std::vector<float> query{1, 0};
  SearchScratch scratch;
  CHECK(expect(docs->search(query, {}, scratch))
            .empty());  // an empty collection answers with nothing
  CHECK(docs->search(query, {.k = 0}, scratch).error().code == ErrorCode::kInvalidArgument);
  CHECK(docs->search(query, {.ef = 0}, scratch).error().code == ErrorCode::kInvalidArgument);
  for (const double recall : {0.0, 1.0, -0.5, 2.0, std::nan("")}) {
    CHECK(docs->search(query, {.recall = recall}, scratch).error().code ==
          ErrorCode::kInvalidArgument);
  }
  expect(docs->upsert({random_vectors(1, 2000, 2), numbers(2000)}));
  link_all(*docs);
  for (const uint32_t k : {1U, 10U, 1999U, 2000U, 1000000U, UINT32_MAX}) {
    for (const uint32_t ef : {1U, 100U, UINT32_MAX}) {
      CAPTURE(k, ef);
      CHECK(nearest_ids(*docs, query, k, ef).size() == std::min(k, 2000U));
    }
  }
}

TEST_CASE("options out of range are refused and name the range") {
  MemoryStorage storage;
  auto database = open(storage);
  const auto refused = [&](const CollectionOptions& options, const char* expected) {
    const auto made = database->collection("docs", options);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == ErrorCode::kInvalidArgument);
    CHECK_THAT(made.error().detail, ContainsSubstring(expected));
  };
  refused({.dimensions = 0}, "dimensions is 0; expected 1 to 16384");
  refused({.dimensions = 16385}, "16385");
  refused({.dimensions = 2, .row_type = static_cast<RowType>(2)}, "row type");
  refused({.dimensions = 2, .m = 1}, "m is 1");
  refused({.dimensions = 2, .m = 65}, "m is 65");
  refused({.dimensions = 2, .ef_construction = 1}, "efConstruction is 1");
  CHECK(database->collection("", {.dimensions = 2}).error().code == ErrorCode::kInvalidArgument);
  CHECK(database->collection(std::string(256, 'x'), {.dimensions = 2}).error().code ==
        ErrorCode::kInvalidArgument);
  CHECK(database->names().empty());

  expect(database->collection("docs", {.dimensions = 2}));
  const auto other = database->collection("docs", {.dimensions = 3});
  CHECK(other.error().code == ErrorCode::kOptionsMismatch);
  CHECK_THAT(other.error().detail, ContainsSubstring("dimensions 2") && ContainsSubstring("3"));
  CHECK(database->collection("docs", {.dimensions = 2, .metric = Metric::kL2}).error().code ==
        ErrorCode::kOptionsMismatch);
  const auto halves = database->collection("docs", {.dimensions = 2, .row_type = RowType::kF16});
  REQUIRE_FALSE(halves.ok());
  CHECK(halves.error().code == ErrorCode::kOptionsMismatch);
  CHECK_THAT(halves.error().detail, ContainsSubstring("storage f32") && ContainsSubstring("f16"));
}

TEST_CASE("ids and metadata have limits") {
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 1}));
  const std::vector<float> one{1};
  const std::string longest(kMaxIdBytes, 'x');
  const std::string longer(kMaxIdBytes + 1, 'x');
  CHECK(docs->upsert({one, std::vector<IdView>{std::string_view(longest)}}).ok());
  CHECK(docs->upsert({one, std::vector<IdView>{std::string_view(longer)}}).error().code ==
        ErrorCode::kInvalidId);
  const std::string huge(kMaxMetadataBytes + 1, ' ');
  CHECK(docs->upsert({one, numbers(1), std::vector<std::string_view>{huge}}).error().code ==
        ErrorCode::kInvalidArgument);
  CHECK(docs->upsert({one, numbers(1), std::vector<std::string_view>{"1", "2"}}).error().code ==
        ErrorCode::kInvalidArgument);
  CHECK(docs->count() == 1);
}

TEST_CASE("zero vectors under cosine are at distance 1 from everything") {  // c37
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 3}));
  expect(docs->upsert({std::vector<float>{1, 0, 0, 0, 0, 0, 0.9F, 0.1F, 0}, numbers(3, 1)}));
  SearchScratch scratch;
  const std::vector<float> query{1, 0, 0};
  CHECK(nearest_ids(*docs, query, 2) == std::vector<int64_t>{1, 3});
  const auto all = expect(docs->search(query, {.k = 3}, scratch));
  CHECK(all[2].distance == 1);
  // A zero query is equally far from all, so the first rows answer; a tiny vector counts as zero.
  for (const float tiny : {0.0F, 1e-20F, 1e-38F}) {
    const auto hits = expect(docs->search(std::vector<float>{tiny, 0, 0}, {.k = 3}, scratch));
    REQUIRE(hits.size() == 3);
    for (uint32_t i = 0; i < 3; ++i) {
      CHECK(hits[i].distance == 1);
      CHECK(hits[i].slot == i);
    }
  }
}

TEST_CASE("zero rows among others leave the others alone") {  // c38, smaller
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 16}));
  auto vectors = random_vectors(5, 5000, 16);
  std::fill(vectors.begin(), vectors.begin() + 100 * 16, 0.0F);
  expect(docs->upsert({vectors, numbers(5000)}));
  link_all(*docs);
  const auto queries = random_vectors(6, 50, 16);
  for (uint32_t q = 0; q < 50; ++q) {
    const std::span<const float> query(queries.data() + q * 16, 16);
    const auto found = nearest_ids(*docs, query, 10, 200);
    CHECK(found.size() == 10);
    for (const int64_t id : found) CHECK(id >= 100);
  }
}

TEST_CASE("a database opened for reading refuses every change") {
  MemoryStorage storage;
  {
    auto database = open(storage);
    auto* docs = expect(database->collection("docs", {.dimensions = 1}));
    expect(docs->upsert({std::vector<float>{1}, numbers(1)}));
    expect(database->flush());
  }
  const auto before = storage.files();
  auto database = open(storage, {.read_only = true});
  auto* docs = expect(database->find("docs"));
  CHECK(docs->upsert({std::vector<float>{2}, numbers(1)}).error().code == ErrorCode::kReadOnly);
  CHECK(docs->remove(numbers(1)).error().code == ErrorCode::kReadOnly);
  CHECK(docs->clear().error().code == ErrorCode::kReadOnly);
  CHECK(docs->link(0).error().code == ErrorCode::kReadOnly);
  CHECK(database->drop("docs").error().code == ErrorCode::kReadOnly);
  CHECK(database->collection("new", {.dimensions = 1}).error().code == ErrorCode::kReadOnly);
  CHECK(nearest_ids(*docs, std::vector<float>{1}, 1) == std::vector<int64_t>{0});
  expect(database->flush());
  CHECK(storage.files() == before);
}

TEST_CASE("an unknown kernel set is refused with the names that exist") {
  const auto opened = Database::open(std::make_unique<MemoryStorage>(), {.kernels = "mmx"});
  REQUIRE_FALSE(opened.ok());
  CHECK_THAT(opened.error().detail, ContainsSubstring("scalar"));
}
