// Records come back as given; ids, replacing, deleting and counting.
#include <set>

#include "fixture.h"

using namespace nearfield;
using namespace nearfield::test;

TEST_CASE("records come back as they were given") {
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 3}));
  const std::vector<float> vectors{1, 2, 3, -4, 5.5F, 0, 0, 0, 0.25F};
  const std::vector<IdView> ids{int64_t{7}, std::string_view("7"), std::string_view("")};
  const std::vector<std::string_view> metadata{R"({"a":1})", "", R"("text")"};
  REQUIRE(expect(docs->upsert({vectors, ids, metadata})) == 3);

  for (const bool reopened : {false, true}) {
    CAPTURE(reopened);
    if (reopened) {
      expect(database->flush());
      database = open(storage);
      docs = expect(database->find("docs"));
    }
    REQUIRE(docs->count() == 3);
    const Record number = expect(docs->get(int64_t{7}));
    CHECK(number.id == Id(int64_t{7}));
    CHECK(number.vector == std::vector<float>{1, 2, 3});
    CHECK(number.metadata == R"({"a":1})");
    const Record text = expect(docs->get(std::string_view("7")));
    CHECK(text.id == Id(std::string("7")));
    CHECK(text.vector == std::vector<float>{-4, 5.5F, 0});
    CHECK(text.metadata.empty());
    const Record empty = expect(docs->get(std::string_view("")));
    CHECK(empty.id == Id(std::string()));
    CHECK(empty.metadata == R"("text")");
    CHECK(docs->get(int64_t{8}).error().code == ErrorCode::kNotFound);
    CHECK(docs->contains(int64_t{7}));
    CHECK_FALSE(docs->contains(int64_t{8}));
  }
}

TEST_CASE("integer ids keep all 64 bits and are never texts") {  // c40
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 1}));
  const std::vector<IdView> ids{INT64_MAX,
                                INT64_MIN,
                                int64_t{9007199254740993},
                                int64_t{-1},
                                std::string_view("9007199254740993"),
                                std::string_view("-1")};
  const std::vector<float> vectors{1, 2, 3, 4, 5, 6};
  REQUIRE(expect(docs->upsert({vectors, ids})) == 6);
  expect(database->flush());
  database = open(storage);
  docs = expect(database->find("docs"));
  for (size_t i = 0; i < ids.size(); ++i) {
    const Record record = expect(docs->get(ids[i]));
    CHECK(record.id == ids[i].to_id());
    CHECK(record.vector == std::vector<float>{vectors[i]});
  }
}

TEST_CASE("an id that is stored again is one record with the new vector") {  // c11
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 2, .metric = Metric::kL2}));
  REQUIRE(expect(docs->upsert({std::vector<float>{1, 1}, std::vector<IdView>{int64_t{1}}})) == 1);
  REQUIRE(expect(docs->upsert({std::vector<float>{5, 5}, std::vector<IdView>{int64_t{1}}})) == 0);
  for (const bool reopened : {false, true}) {
    CAPTURE(reopened);
    if (reopened) {
      expect(database->flush());
      database = open(storage);
      docs = expect(database->find("docs"));
    }
    CHECK(docs->count() == 1);
    CHECK(expect(docs->get(int64_t{1})).vector == std::vector<float>{5, 5});
    CHECK(nearest_ids(*docs, std::vector<float>{1, 1}, 5) == std::vector<int64_t>{1});
  }
}

TEST_CASE("of equal ids in one batch the last wins") {
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 1, .metric = Metric::kL2}));
  const std::vector<IdView> ids{int64_t{1}, int64_t{2}, int64_t{1}, int64_t{1}};
  REQUIRE(expect(docs->upsert({std::vector<float>{10, 20, 30, 40}, ids})) == 2);
  CHECK(docs->count() == 2);
  CHECK(expect(docs->get(int64_t{1})).vector == std::vector<float>{40});
}

TEST_CASE("deleted ids can be stored again at once") {  // c08, c09, c10
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 2, .metric = Metric::kL2}));
  const std::vector<float> three{1, 1, 2, 2, 3, 3};
  expect(docs->upsert({three, numbers(3, 1)}));
  REQUIRE(expect(docs->remove(std::vector<IdView>{int64_t{1}})) == 1);
  REQUIRE(expect(docs->upsert({std::vector<float>{1, 1}, numbers(1, 1)})) == 1);
  const auto found = nearest_ids(*docs, std::vector<float>{0, 0}, 3);
  CHECK(found == std::vector<int64_t>{1, 2, 3});

  for (int round = 0; round < 3; ++round) {
    REQUIRE(expect(docs->upsert({std::vector<float>{9, 9}, numbers(1, 42)})) == 1);
    REQUIRE(expect(docs->remove(std::vector<IdView>{int64_t{42}})) == 1);
    REQUIRE(expect(docs->remove(std::vector<IdView>{int64_t{42}})) == 0);
  }
  expect(docs->clear());
  CHECK(docs->count() == 0);

  const auto vectors = random_vectors(1, 500, 2);
  for (int round = 0; round < 2; ++round) {
    REQUIRE(expect(docs->upsert({vectors, numbers(500)})) == 500);
    REQUIRE(expect(docs->remove(numbers(500))) == 500);
    CHECK(docs->count() == 0);
    CHECK(nearest_ids(*docs, std::vector<float>{0, 0}, 10).empty());
  }
}

TEST_CASE("deleting the nearest brings up the next, for every k") {  // c06
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 2}));
  expect(docs->upsert({std::vector<float>{1, 0, 0.9F, 0.1F, 0, 1}, numbers(3)}));
  expect(docs->remove(std::vector<IdView>{int64_t{0}}));
  const std::vector<float> query{1, 0};
  CHECK(nearest_ids(*docs, query, 1) == std::vector<int64_t>{1});
  CHECK(nearest_ids(*docs, query, 3) == std::vector<int64_t>{1, 2});
}

TEST_CASE("collections of one database are independent") {
  MemoryStorage storage;
  auto database = open(storage);
  auto* a = expect(database->collection("a", {.dimensions = 1}));
  auto* b = expect(database->collection("b", {.dimensions = 2, .metric = Metric::kDot, .m = 8}));
  expect(a->upsert({std::vector<float>{1}, numbers(1)}));
  expect(b->upsert({std::vector<float>{1, 2, 3, 4}, numbers(2)}));
  CHECK(database->dirty());
  expect(database->flush());
  CHECK_FALSE(database->dirty());

  database = open(storage);
  CHECK(database->names() == std::vector<std::string>{"a", "b"});
  b = expect(database->find("b"));
  CHECK(b->options() == CollectionOptions{.dimensions = 2, .metric = Metric::kDot, .m = 8});  // c14
  CHECK(b->count() == 2);
  expect(database->drop("a"));
  CHECK(database->drop("a").error().code == ErrorCode::kNotFound);
  expect(database->flush());
  CHECK(open(storage)->names() == std::vector<std::string>{"b"});
}

TEST_CASE("going through all records meets every live one once") {
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 4}));
  expect(docs->upsert({random_vectors(3, 300, 4), numbers(300)}));
  for (int64_t id = 0; id < 300; id += 3) expect(docs->remove(std::vector<IdView>{id}));
  std::set<int64_t> seen;
  const auto rows = static_cast<uint32_t>(docs->stats().rows);
  for (uint32_t slot = docs->next_live(0); slot < rows; slot = docs->next_live(slot + 1)) {
    CHECK(seen.insert(docs->id_at(slot).number()).second);
  }
  CHECK(seen.size() == 200);
  CHECK_FALSE(seen.contains(0));
}
