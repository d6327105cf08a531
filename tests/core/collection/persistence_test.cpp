// What was flushed comes back without computing anything; what was damaged is noticed.
#include <algorithm>

#include "fixture.h"
#include "store/store.h"

using namespace nearfield;
using namespace nearfield::test;

namespace {

// Small enough to cut at every byte, with all kinds of segments but a graph.
void fill_small(Database& database) {
  auto* docs = expect(database.collection("docs", {.dimensions = 3}));
  const std::vector<IdView> ids{int64_t{1}, std::string_view("two"), int64_t{3}};
  const std::vector<std::string_view> metadata{"{}", "", "[1]"};
  expect(docs->upsert({std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1}, ids, metadata}));
  expect(docs->remove(std::vector<IdView>{int64_t{3}}));
}

uint64_t total_bytes(MemoryStorage& storage) {
  uint64_t bytes = 0;
  for (const auto& [name, content] : storage.files()) bytes += content.size();
  return bytes;
}

}  // namespace

TEST_CASE("an empty database can be saved, opened and used") {  // c12, c18
  MemoryStorage storage;
  CHECK(
      Database::open(std::make_unique<BorrowedStorage>(storage), {.create = false}).error().code ==
      ErrorCode::kNotFound);
  auto database = open(storage);
  expect(database->flush());
  expect(database->collection("docs", {.dimensions = 2}));
  expect(database->flush());
  database = open(storage);
  auto* docs = expect(database->find("docs"));
  CHECK(docs->count() == 0);
  CHECK(nearest_ids(*docs, std::vector<float>{1, 1}, 3).empty());
  expect(docs->upsert({std::vector<float>{1, 1}, numbers(1)}));
  expect(database->flush());
  CHECK(expect(open(storage)->find("docs"))->count() == 1);
}

TEST_CASE("opening computes no distance and answers as before") {  // c13, c17
  for (const auto& [metric, row_type] :
       {std::pair(Metric::kCosine, RowType::kF32), std::pair(Metric::kL2, RowType::kF32),
        std::pair(Metric::kDot, RowType::kF32), std::pair(Metric::kCosine, RowType::kF16)}) {
    CAPTURE(metric_name(metric), row_type_name(row_type));
    MemoryStorage storage;
    const auto vectors = clustered_vectors(31, 5000, 20, 15, 0.5F);
    const auto queries = clustered_vectors(31, 200, 20, 15, 0.6F);
    std::vector<std::vector<Hit>> before;
    {
      auto database = open(storage);
      auto* docs = expect(
          database->collection("docs", {.dimensions = 20, .metric = metric, .row_type = row_type}));
      expect(docs->upsert({vectors, numbers(5000)}));
      link_all(*docs);
      expect(docs->upsert({std::vector<float>(20, 0.5F), numbers(1, 9999)}));  // one in the tail
      expect(docs->remove(numbers(50, 100)));
      before = expect(docs->search_batch(queries, {.k = 10}));
      CHECK(docs->stats().build_distances > 0);
      expect(database->flush());
    }
    auto database = open(storage);
    CHECK(database->info().warnings.empty());
    auto* docs = expect(database->find("docs"));
    CHECK(docs->stats().distance_computations == 0);
    CHECK(docs->options().row_type == row_type);
    CHECK(docs->stats().linked == 5000);
    CHECK(docs->count() == 4951);
    const auto after = expect(docs->search_batch(queries, {.k = 10}));
    REQUIRE(after.size() == before.size());
    for (size_t q = 0; q < after.size(); ++q) {
      REQUIRE(after[q].size() == before[q].size());
      for (size_t i = 0; i < after[q].size(); ++i) {
        CHECK(after[q][i].slot == before[q][i].slot);
        CHECK(after[q][i].distance == before[q][i].distance);
      }
    }
    CHECK(docs->stats().build_distances == 0);
    const auto report = expect(database->verify());
    CHECK(report.problems.empty());
    CHECK(report.rows == 4951);
    // It grows on: more rows, linked into the graph that came back.
    expect(docs->upsert({random_vectors(5, 2000, 20), numbers(2000, 20000)}));
    link_all(*docs);
    expect(database->flush());
    CHECK(expect(open(storage)->find("docs"))->stats().linked == 7001);
    CHECK(expect(open(storage)->verify()).problems.empty());
  }
}

TEST_CASE("many small flushes come back in order") {
  for (const RowType row_type : kRowTypes) {
    CAPTURE(row_type_name(row_type));
    MemoryStorage storage;
    const auto vectors = random_vectors(1, 400, 5);
    for (uint32_t row = 0; row < 400; ++row) {
      auto database = open(storage);
      auto* docs = expect(database->collection("docs", {.dimensions = 5, .row_type = row_type}));
      REQUIRE(docs->count() == row);
      const std::string id = "id" + std::to_string(row);
      const std::string metadata = std::to_string(row);
      const std::vector<std::string_view> metadatas{row % 3 == 0 ? std::string_view()
                                                                 : std::string_view(metadata)};
      expect(docs->upsert(
          {std::span(vectors).subspan(row * 5, 5),
           std::vector<IdView>{row % 2 == 0 ? IdView(std::string_view(id)) : IdView(int64_t{row})},
           metadatas}));
      expect(database->flush());
    }
    auto database = open(storage);
    auto* docs = expect(database->find("docs"));
    const auto kept = as_kept(vectors, row_type);
    for (uint32_t row = 0; row < 400; ++row) {
      const std::string id = "id" + std::to_string(row);
      const Record record =
          expect(docs->get(row % 2 == 0 ? IdView(std::string_view(id)) : IdView(int64_t{row})));
      CHECK(std::equal(record.vector.begin(), record.vector.end(), kept.begin() + row * 5));
      CHECK(record.metadata == (row % 3 == 0 ? "" : std::to_string(row)));
    }
    CHECK(expect(database->verify()).problems.empty());
    CHECK(storage.files().size() < 80);
  }
}

TEST_CASE("f16 rows take half the room") {
  uint64_t bytes[2];
  for (const RowType row_type : kRowTypes) {
    MemoryStorage storage;
    auto database = open(storage);
    auto* docs = expect(database->collection("docs", {.dimensions = 64, .row_type = row_type}));
    expect(docs->upsert({random_vectors(1, 900, 64), numbers(900)}));
    expect(database->flush());
    for (const auto& kind : database->info().bytes_by_kind) {
      if (kind.kind == "rows") bytes[static_cast<size_t>(row_type)] = kind.bytes;
    }
  }
  CHECK(bytes[0] == 900 * (64 * 4 + 4));  // values, and the scale of cosine
  CHECK(bytes[1] == 900 * (64 * 2 + 4));
}

TEST_CASE("a state record with another row type is refused") {
  for (const RowType row_type : kRowTypes) {
    for (const uint8_t written : {uint8_t{0}, uint8_t{1}, uint8_t{2}, uint8_t{255}}) {
      if (written == static_cast<uint8_t>(row_type)) continue;
      CAPTURE(row_type_name(row_type), written);
      MemoryStorage storage;
      {
        auto database = open(storage);
        auto* docs = expect(database->collection("docs", {.dimensions = 40, .row_type = row_type}));
        expect(docs->upsert({random_vectors(1, 10, 40), numbers(10)}));
        expect(database->flush());
      }
      {
        // With right checksums, as a later version or a hostile writer would leave it.
        const auto store = expect(Store::open(storage, false));
        auto commit = store->begin();
        commit.manifest().collections.begin()->second.state[5] = std::byte{written};
        expect(commit.finish());
      }
      const auto opened = Database::open(std::make_unique<BorrowedStorage>(storage), {});
      REQUIRE_FALSE(opened.ok());
      CHECK(opened.error().code == ErrorCode::kCorrupt);
      const std::string reason =
          written > 1 ? "unknown row type " + std::to_string(written) : "wrong length";
      CHECK(opened.error().detail.find(reason) != std::string::npos);
    }
  }
}

TEST_CASE("verify finds an f16 row that is not finite") {
  MemoryStorage storage;
  {
    auto database = open(storage);
    auto* docs = expect(database->collection(
        "docs", {.dimensions = 3, .metric = Metric::kL2, .row_type = RowType::kF16}));
    expect(docs->upsert({std::vector<float>{1, 2, 3, 4, 5, 6}, numbers(2)}));
    expect(database->flush());
  }
  {
    const auto store = expect(Store::open(storage, false));
    const auto segments = store->manifest().segments;
    const auto rows = std::find_if(segments.begin(), segments.end(), [](const auto& segment) {
      return segment.first.kind == SegmentKind::kRows;
    });
    REQUIRE(rows != segments.end());
    const Buffer payload = expect(store->load(rows->first, rows->second));
    std::vector<std::byte> bytes(payload.bytes().begin(), payload.bytes().end());
    bytes[64 + 2] = std::byte{0x00};  // infinity at position 1 of row 1
    bytes[64 + 3] = std::byte{0x7c};
    auto commit = store->begin();
    expect(commit.put(rows->first, rows->second.rows, bytes));
    expect(commit.finish());
  }
  auto database = open(storage);
  const auto problems = expect(database->verify()).problems;
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].find("row 1 has infinity at position 1") != std::string::npos);
}

TEST_CASE("adding and deleting for ever takes no more room than once") {  // c07
  MemoryStorage storage;
  auto database = open(storage);
  auto* docs = expect(database->collection("docs", {.dimensions = 1536}));
  const auto vectors = random_vectors(1, 500, 1536);
  uint64_t most_memory = 0;
  uint64_t most_bytes = 0;
  for (int round = 0; round < 40; ++round) {
    expect(docs->upsert({vectors, numbers(500, round * 500)}));
    CHECK(nearest_ids(*docs, std::span(vectors).first(1536), 10).size() == 10);
    expect(database->flush());
    if (round < 2) {
      most_memory = std::max(most_memory, docs->stats().memory_bytes);
      most_bytes = std::max(most_bytes, total_bytes(storage));
    }
    CHECK(docs->stats().memory_bytes <= most_memory);
    CHECK(total_bytes(storage) <= most_bytes + 65536);
    expect(docs->remove(numbers(500, round * 500)));
    expect(database->flush());
  }
  // Also when some rows always stay and the others come and go.
  expect(docs->upsert({vectors, numbers(500, -500)}));
  for (int round = 0; round < 20; ++round) {
    expect(docs->upsert({vectors, numbers(500)}));
    expect(docs->remove(numbers(500)));
    expect(database->flush());
    CHECK(docs->count() == 500);
    CHECK(docs->stats().rows <= 2600);
    CHECK(total_bytes(storage) <= 2600 * 1536 * 4 * 2);
  }
  CHECK(expect(open(storage)->find("docs"))->count() == 500);
}

TEST_CASE("a file cut at any byte is noticed or is the last whole state") {  // c16
  MemoryStorage storage;
  {
    auto database = open(storage);
    fill_small(*database);
    expect(database->flush());
  }
  const auto whole = storage.files();
  size_t refused = 0;
  for (const auto& [name, bytes] : whole) {
    for (size_t length = 0; length < bytes.size();
         length += length < 4096 && length > 256 ? 13 : 1) {
      storage.files() = whole;
      storage.files()[name].resize(length);
      auto opened = Database::open(std::make_unique<BorrowedStorage>(storage), {});
      CAPTURE(name, length);
      REQUIRE_FALSE(opened.ok());
      const ErrorCode code = opened.error().code;
      CHECK((code == ErrorCode::kCorrupt || code == ErrorCode::kForeignFile));
      ++refused;
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("a changed byte is noticed or harmless") {
  MemoryStorage storage;
  {
    auto database = open(storage);
    fill_small(*database);
    expect(database->flush());
  }
  const auto whole = storage.files();
  size_t refused = 0;
  for (const auto& [name, bytes] : whole) {
    for (size_t at = 0; at < bytes.size(); ++at) {
      storage.files() = whole;
      storage.files()[name][at] ^= std::byte{0x41};
      auto opened = Database::open(std::make_unique<BorrowedStorage>(storage), {});
      CAPTURE(name, at);
      if (!opened.ok()) {
        ++refused;
        continue;
      }
      // What opens in spite of it holds what was stored: the byte was padding.
      auto* docs = expect((*opened)->find("docs"));
      REQUIRE(docs->count() == 2);
      CHECK(expect(docs->get(int64_t{1})).vector == std::vector<float>{1, 0, 0});
      CHECK(expect(docs->get(int64_t{1})).metadata == "{}");
      CHECK(expect(docs->get(std::string_view("two"))).vector == std::vector<float>{0, 1, 0});
    }
  }
  CHECK(refused > 500);
}

TEST_CASE("a damaged graph costs a rebuild and no record") {
  MemoryStorage storage;
  const auto vectors = random_vectors(1, 3000, 8);
  {
    auto database = open(storage);
    auto* docs = expect(database->collection("docs", {.dimensions = 8}));
    expect(docs->upsert({vectors, numbers(3000)}));
    link_all(*docs);
    expect(database->flush());
  }
  // Find a link segment by its content: the graph's first row of links.
  const auto whole = storage.files();
  bool damaged_graph = false;
  for (const auto& [name, bytes] : whole) {
    for (size_t at = bytes.size() / 2; at < bytes.size(); at += bytes.size() / 20) {
      storage.files() = whole;
      storage.files()[name][at] ^= std::byte{0x11};
      auto opened = Database::open(std::make_unique<BorrowedStorage>(storage), {});
      if (!opened.ok() || (*opened)->info().warnings.empty()) continue;
      damaged_graph = true;
      auto* docs = expect((*opened)->find("docs"));
      CHECK(docs->count() == 3000);
      CHECK(docs->stats().linked == 0);
      CHECK(docs->wants_link());
      link_all(*docs);
      CHECK(docs->stats().linked == 3000);
      expect((*opened)->flush());
      CHECK(open(storage)->info().warnings.empty());
    }
  }
  CHECK(damaged_graph);
}

TEST_CASE("a packed database unpacks to the same answers") {
  for (const RowType row_type : kRowTypes) {
    CAPTURE(row_type_name(row_type));
    MemoryStorage storage;
    auto database = open(storage);
    auto* docs = expect(database->collection("docs", {.dimensions = 10, .row_type = row_type}));
    expect(docs->upsert({random_vectors(1, 2000, 10), numbers(2000)}));
    link_all(*docs);
    expect(database->flush());
    MemoryStorage packed;
    {
      auto sink = expect(packed.create("store.nfpack"));
      expect(database->pack(*sink));
      expect(sink->finish());
    }
    MemoryStorage other(1u << 16);
    expect(Database::unpack(packed, "store.nfpack", other));
    CHECK(Database::unpack(packed, "store.nfpack", other).error().code ==
          ErrorCode::kAlreadyExists);
    auto copy = open(other);
    auto* same = expect(copy->find("docs"));
    CHECK(same->stats().distance_computations == 0);
    CHECK(expect(copy->verify()).problems.empty());
    const auto queries = random_vectors(2, 50, 10);
    for (uint32_t q = 0; q < 50; ++q) {
      const std::span<const float> query(queries.data() + q * 10, 10);
      CHECK(nearest_ids(*same, query, 10, 60) == nearest_ids(*docs, query, 10, 60));
    }
  }
}
