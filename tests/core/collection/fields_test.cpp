// Filters, full text and hybrid ranking through the collection: what is selected is what comes
// back, in every plan, after any change and after reopening.
#include <algorithm>
#include <set>

#include "fixture.h"
#include "store/store.h"

using namespace nearfield;
using namespace nearfield::test;

namespace {

constexpr uint32_t kDimensions = 24;
const std::vector<Field> kFields{{.name = "title", .type = FieldType::kText},
                                 {.name = "tag", .type = FieldType::kTag},
                                 {.name = "price", .type = FieldType::kNumber},
                                 {.name = "sale", .type = FieldType::kBool},
                                 {.name = "sku", .type = FieldType::kKeyword}};

// Row i costs i % 1000, is tagged by the cluster it lies in, and every third is on sale.
std::string metadata_of(uint32_t row, uint32_t centres) {
  return R"({"title":"word)" + std::to_string(row % 50) + " thing" + std::to_string(row % 7) +
         R"(","tag":"t)" + std::to_string(row % centres) + R"(","price":)" +
         std::to_string(row % 1000) + (row % 3 == 0 ? R"(,"sale":true)" : "") + R"(,"sku":"IT-)" +
         std::to_string(row) + R"(","other":{"deep":)" + std::to_string(row % 4) + "}}";
}

struct Shop {
  static constexpr uint32_t kCentres = 16;
  MemoryStorage storage;
  std::unique_ptr<Database> database;
  Collection* docs = nullptr;
  std::vector<float> vectors;
  uint32_t rows;

  explicit Shop(uint32_t count, bool with_fields = true) : rows(count) {
    database = open(storage);
    docs = expect(database->collection("docs", {.dimensions = kDimensions}));
    if (with_fields) expect(docs->set_fields(kFields));
    vectors = clustered_vectors(7, rows, kDimensions, kCentres, 0.4F);
    put(0, rows);
  }
  void put(uint32_t first, uint32_t count) {
    std::vector<std::string> texts;
    for (uint32_t i = 0; i < count; ++i) texts.push_back(metadata_of(first + i, kCentres));
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    expect(docs->upsert(
        {std::span(vectors).subspan(size_t{first} * kDimensions, size_t{count} * kDimensions),
         numbers(count, first), views}));
  }
  void reopen() {
    expect(database->flush());
    database = open(storage);
    docs = expect(database->find("docs"));
  }
  std::span<const float> vector(uint32_t row) const {
    return std::span(vectors).subspan(size_t{row} * kDimensions, kDimensions);
  }
};

std::vector<uint32_t> slots_of(const std::vector<Hit>& hits) {
  std::vector<uint32_t> slots;
  for (const Hit& hit : hits) slots.push_back(hit.slot);
  return slots;
}

std::vector<int64_t> ranked_ids(const Collection& docs, const RankOptions& options) {
  SearchScratch scratch;
  std::vector<int64_t> ids;
  for (const RankedHit& hit : expect(docs.rank(options, scratch)).hits)
    ids.push_back(docs.id_at(hit.slot).number());
  return ids;
}

std::vector<int64_t> by_text(const Collection& docs, std::string_view text, uint32_t k = 10) {
  return ranked_ids(docs, {.text = TextOptions{.query = text}, .search = {.k = k}});
}

}  // namespace

TEST_CASE("every plan gives k selected rows, and nearly all of the nearest") {  // c01, c02, c29
  Shop shop(12000);
  link_all(*shop.docs);
  shop.put(0, 600);  // replaced, and a tail
  std::vector<IdView> gone;
  for (int64_t id = 5000; id < 6500; ++id) gone.emplace_back(id);
  CHECK(expect(shop.docs->remove(gone)) == 1500);
  for (const char* filter :
       {R"({"price":{"$lt":1}})", R"({"price":{"$lt":20}})", R"({"price":{"$lt":100}})",
        R"({"price":{"$lt":400}})", R"({"price":{"$gte":100}})", R"({"tag":"t3"})",
        R"({"tag":{"$ne":"t3"}})", R"({"other.deep":2})"}) {
    const Selection selected = expect(shop.docs->select(filter));
    for (const auto plan :
         {std::optional<Plan>(), std::optional(Plan::kScan), std::optional(Plan::kCodeScan),
          std::optional(Plan::kBridgedWalk), std::optional(Plan::kWalk)}) {
      CAPTURE(filter, selected.count, plan ? plan_name(*plan) : "chosen");
      SearchScratch scratch;
      size_t found = 0;
      size_t wanted = 0;
      for (uint32_t q = 0; q < 60; ++q) {
        const auto query = shop.vector(q * 17);
        const auto truth = slots_of(expect(
            shop.docs->search(query, {.k = 10, .exact = true, .among = &selected}, scratch)));
        const auto hits =
            slots_of(expect(shop.docs->search(query, {.among = &selected, .plan = plan}, scratch)));
        REQUIRE(hits.size() == std::min<uint64_t>(10, selected.count));
        for (const uint32_t slot : hits) REQUIRE(selected.contains(slot));
        REQUIRE(std::set(hits.begin(), hits.end()).size() == hits.size());
        wanted += truth.size();
        found += static_cast<size_t>(std::count_if(hits.begin(), hits.end(), [&](uint32_t slot) {
          return std::find(truth.begin(), truth.end(), slot) != truth.end();
        }));
      }
      CHECK(static_cast<double>(found) >= 0.97 * static_cast<double>(wanted));
    }
  }
}

TEST_CASE("a search among selected rows never costs more than about two scans") {
  Shop shop(8000);
  link_all(*shop.docs);
  // The queries lie in other clusters than what is selected.
  const Selection selected = expect(shop.docs->select(R"({"tag":{"$in":["t1","t2"]}})"));
  SearchScratch scratch;
  for (const Plan plan : {Plan::kBridgedWalk, Plan::kWalk}) {
    for (uint32_t q = 0; q < 32; ++q) {
      if (q % 16 == 1 || q % 16 == 2) continue;
      SearchStats stats;
      const auto hits = expect(
          shop.docs->search(shop.vector(q), {.among = &selected, .plan = plan}, scratch, &stats));
      CHECK(hits.size() == 10);
      CHECK(stats.distance_computations <= 3 * selected.count + 500);
    }
  }
}

TEST_CASE("a batch of queries answers as single ones do") {
  Shop shop(4000);
  link_all(*shop.docs);
  const Selection selected = expect(shop.docs->select(R"({"price":{"$lt":500}})"));
  const auto queries = std::span(shop.vectors).first(size_t{20} * kDimensions);
  for (const bool exact : {false, true}) {
    const SearchOptions options{.exact = exact, .among = &selected};
    const auto batch = expect(shop.docs->search_batch(queries, options));
    SearchScratch scratch;
    for (uint32_t q = 0; q < 20; ++q) {
      CHECK(slots_of(batch[q]) ==
            slots_of(expect(shop.docs->search(shop.vector(q), options, scratch))));
    }
  }
}

TEST_CASE("filters follow upserts, deletes, compaction and reopening") {
  Shop shop(3000);
  const auto count = [&](const char* filter) { return expect(shop.docs->select(filter)).count; };
  CHECK(count("") == 3000);
  CHECK(count(R"({"price":7})") == 3);
  CHECK(count(R"({"$id":{"$in":[5,6,99999]}})") == 2);  // c30
  CHECK(count(R"({"sku":"IT-77"})") == 1);
  CHECK(count(R"({"sale":true})") == 1000);
  CHECK(count(R"({"sale":true,"price":{"$lt":10}})") == 10);  // c31
  CHECK(expect(shop.docs->remove_selected(expect(shop.docs->select(R"({"sale":true})")))) == 1000);
  CHECK(count(R"({"sale":true})") == 0);
  CHECK(count(R"({"price":7})") == 2);
  shop.reopen();
  CHECK(count(R"({"price":7})") == 2);
  CHECK(shop.docs->stats().distance_computations == 0);
  // Most of the rest goes, so that rows move.
  CHECK(expect(shop.docs->remove_selected(
            expect(shop.docs->select(R"({"price":{"$gte":100}})")))) == 1800);
  CHECK(shop.docs->stats().rows == 200);
  CHECK(count(R"({"price":7})") == 2);
  CHECK(by_text(*shop.docs, "word7", 100).size() == count(R"({"title":{"$exists":true}})") / 50);
  shop.reopen();
  CHECK(count(R"({"price":{"$lt":50}})") == 100);
  CHECK(expect(shop.database->verify()).problems.empty());
}

TEST_CASE("what does not fit the fields is refused whole and named") {
  Shop shop(10);
  const auto put = [&](std::string_view metadata) {
    const std::vector<std::string_view> texts{R"({"price":1})", metadata};
    auto stored =
        shop.docs->upsert({std::vector<float>(2 * kDimensions, 1), numbers(2, 100), texts});
    REQUIRE_FALSE(stored.ok());
    CHECK(stored.error().code == ErrorCode::kInvalidArgument);
    CHECK(shop.docs->count() == 10);
    CHECK(expect(shop.docs->select(R"({"price":1})")).count == 1);
    return stored.error().detail;
  };
  CHECK(put(R"({"price":"9"})") == "row 1: field \"price\" is a string; expected a number");
  CHECK(put("[1]").starts_with("row 1: "));
  CHECK(put(R"({"title":7})").starts_with("row 1: field \"title\""));
  CHECK_FALSE(shop.docs->select(R"({"price":{"$lx":1}})").ok());
  CHECK_FALSE(shop.docs->select(R"({"price":{"$lt":"1"}})").ok());
  CHECK_FALSE(shop.docs->facets("price", {}, 3).ok());
  CHECK_FALSE(shop.docs->order({}, "title", false, 0, 3).ok());
  CHECK_FALSE(shop.docs->order({}, "nothing", false, 0, 3).ok());
  SearchScratch scratch;
  const FieldWeight wrong[] = {{"price", 1}};
  CHECK_FALSE(shop.docs->rank({.text = TextOptions{.query = "x", .fields = wrong}}, scratch).ok());
}

TEST_CASE("fields are declared, dropped and read anew without the vectors") {
  Shop shop(500, false);
  CHECK(expect(shop.docs->select(R"({"price":7})")).count == 1);  // undeclared: row by row
  expect(shop.docs->remove(numbers(100)));
  expect(shop.docs->set_fields(kFields));
  CHECK(expect(shop.docs->select(R"({"price":107})")).count == 1);
  CHECK(by_text(*shop.docs, "it-250") == std::vector<int64_t>{250});
  shop.reopen();
  CHECK(std::ranges::equal(shop.docs->fields(), kFields));
  CHECK(by_text(*shop.docs, "it-250") == std::vector<int64_t>{250});

  std::vector<Field> other(kFields.begin() + 2, kFields.end());
  other.back().type = FieldType::kTag;
  expect(shop.docs->set_fields(other));
  CHECK(expect(shop.docs->select(R"({"sku":"IT-250","price":250})")).count == 1);
  SearchScratch scratch;
  CHECK_FALSE(shop.docs->rank({.text = TextOptions{.query = "it-250"}}, scratch).ok());
  const auto wrong =
      shop.docs->set_fields(std::vector<Field>{{.name = "tag", .type = FieldType::kBool}});
  CHECK_FALSE(wrong.ok());
  CHECK(std::ranges::equal(shop.docs->fields(), other));
  shop.reopen();
  CHECK(std::ranges::equal(shop.docs->fields(), other));
  CHECK(expect(shop.docs->select(R"({"sku":"IT-250","price":250})")).count == 1);
  expect(shop.docs->set_fields({}));
  shop.reopen();
  CHECK(shop.docs->fields().empty());
  CHECK(expect(shop.database->verify()).problems.empty());
}

TEST_CASE("a churned collection ranks texts as a fresh one does") {
  Shop shop(900);
  shop.put(100, 300);
  expect(shop.docs->remove(numbers(200, 350)));
  shop.reopen();
  shop.put(420, 60);
  Shop fresh(0);
  fresh.vectors = shop.vectors;
  for (uint32_t slot = shop.docs->next_live(0); slot < shop.docs->stats().rows;
       slot = shop.docs->next_live(slot + 1)) {
    fresh.put(static_cast<uint32_t>(shop.docs->id_at(slot).number()), 1);
  }
  SearchScratch scratch;
  for (const char* text :
       {"word3", "word3 thing2", "\"word3 thing3\"", "wor*", "it-33", "thing1 IT-500"}) {
    CAPTURE(text);
    const RankOptions options{.text = TextOptions{.query = text}, .search = {.k = 50}};
    const auto a = expect(shop.docs->rank(options, scratch));
    const auto b = expect(fresh.docs->rank(options, scratch));
    CHECK(a.text_matches == b.text_matches);
    REQUIRE(a.hits.size() == b.hits.size());
    for (size_t i = 0; i < a.hits.size(); ++i) {
      CHECK(a.hits[i].score == b.hits[i].score);
      CHECK(shop.docs->id_at(a.hits[i].slot) == fresh.docs->id_at(b.hits[i].slot));
    }
  }
}

TEST_CASE("hybrid pages stay full and do not overlap, with half of the rows gone") {  // c34
  Shop shop(1600);
  link_all(*shop.docs);
  std::vector<IdView> odd;
  for (int64_t id = 1; id < 1600; id += 2) odd.emplace_back(id);
  expect(shop.docs->remove(odd));
  for (const Fusion fusion : {Fusion::kReciprocalRank, Fusion::kWeights}) {
    std::set<int64_t> seen;
    RankOptions options{.vector = shop.vector(4),
                        .text = TextOptions{.query = "word4 thing4"},
                        .search = {.k = 50},
                        .fusion = fusion};
    for (; options.offset < 800; options.offset += 50) {
      const auto page = ranked_ids(*shop.docs, options);
      REQUIRE(page.size() == 50);
      seen.insert(page.begin(), page.end());
    }
    CHECK(seen.size() == 800);
    CHECK(ranked_ids(*shop.docs, options).empty());
  }
  // The row that is best by both is first.
  CHECK(ranked_ids(*shop.docs, {.vector = shop.vector(4), .text = TextOptions{.query = "it-4"}})
            .front() == 4);
  // What matches the text, nearest first.
  const auto reranked = ranked_ids(*shop.docs, {.vector = shop.vector(4),
                                                .text = TextOptions{.query = "word4"},
                                                .search = {.k = 100},
                                                .fusion = Fusion::kRerank});
  CHECK(reranked.size() == 32);
  CHECK(reranked.front() == 4);
}

TEST_CASE("pages of a filter alone are ordered by a field; facets count") {
  Shop shop(1000);
  const Selection selected = expect(shop.docs->select(R"({"price":{"$lt":100}})"));
  const auto page = expect(shop.docs->order(selected, "price", true, 10, 5));
  std::vector<int64_t> ids;
  for (const uint32_t slot : page) ids.push_back(shop.docs->id_at(slot).number());
  CHECK(ids == std::vector<int64_t>{89, 88, 87, 86, 85});
  CHECK(expect(shop.docs->order(selected, "", false, 98, 5)) == std::vector<uint32_t>{98, 99});
  const auto facets = expect(shop.docs->facets("tag", selected, 3));
  REQUIRE(facets.size() == 3);
  CHECK(facets[0].value == "t0");
  CHECK(facets[0].count == 7);
}

TEST_CASE("damaged fields are read again from the metadata") {
  Shop shop(700);
  expect(shop.database->flush());
  const auto whole = shop.storage.files();
  const auto store = expect(Store::open(shop.storage, false));
  size_t damaged = 0;
  for (const auto& [key, ref] : store->manifest().segments) {
    if (!needs_fields(key.kind)) continue;
    char name[32];
    std::snprintf(name, sizeof name, "data-%010u.nf", ref.file);
    shop.storage.files() = whole;
    auto& file = shop.storage.files().at(name);
    file[ref.offset + ref.length / 2] ^= std::byte{0x10};
    auto database = open(shop.storage);
    CHECK(database->info().warnings.size() == 1);
    auto* docs = expect(database->find("docs"));
    CHECK(docs->count() == 700);
    if (key.kind == SegmentKind::kFields) {
      CHECK(docs->fields().empty());
    } else {
      CHECK(expect(docs->select(R"({"tag":"t3","price":{"$lt":100}})")).count == 7);
      CHECK(by_text(*docs, "it-33") == std::vector<int64_t>{33});
    }
    expect(database->flush());
    database = open(shop.storage);
    CHECK(database->info().warnings.empty());
    CHECK(expect(database->verify()).problems.empty());
    ++damaged;
  }
  CHECK(damaged >= 7);
}

TEST_CASE("a flush writes of texts and columns what changed") {
  Shop shop(6000);
  link_all(*shop.docs);
  expect(shop.database->flush());
  std::set<std::string> before;
  for (const auto& [name, bytes] : shop.storage.files()) before.insert(name);
  uint64_t stored = shop.database->info().bytes;
  shop.put(17, 1);
  expect(shop.database->flush());
  uint64_t written = 0;
  for (const auto& [name, bytes] : shop.storage.files()) {
    if (!before.contains(name)) written += bytes.size();
  }
  CHECK(written < stored / 20);
}

TEST_CASE("highlights name what was found") {
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 1}));
  expect(docs->set_fields(std::vector<Field>{{.name = "t", .type = FieldType::kText}}));
  const std::vector<std::string_view> metadata{
      R"({"t":["no such","Das große Straßenfest, groß"]})"};
  expect(docs->upsert({std::vector<float>{1}, numbers(1), metadata}));
  const auto found = expect(docs->highlight(0, "t", "GROSSE stras*"));
  REQUIRE(found.size() == 1);
  std::vector<std::string> parts;
  for (const auto& [begin, end] : found[0].ranges)
    parts.push_back(found[0].text.substr(begin, end - begin));
  CHECK(parts == std::vector<std::string>{"große", "Straßenfest"});
}
