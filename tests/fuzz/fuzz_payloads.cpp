// Segments and state records with arbitrary changes but right checksums: what a hostile file can
// hold. Whatever opens must be searchable, readable, linkable and storable without a crash.
#include <fuzzer/FuzzedDataProvider.h>

#include <memory>

#include "base/random.h"
#include "nearfield/database.h"
#include "store/store.h"
#include "support/borrowed_storage.h"

using namespace nearfield;

namespace {

constexpr uint32_t kDimensions = 3;
constexpr uint32_t kRows = 1100;  // enough for a graph

void make_sample(MemoryStorage& storage, const CollectionOptions& options);

std::vector<Field> fields() {
  return {{"t", FieldType::kTag},
          {"n", FieldType::kNumber},
          {"b", FieldType::kBool},
          {"x", FieldType::kText},
          {"k", FieldType::kKeyword}};
}

// Databases with every kind of segment, made once: of each metric, and of f16 rows.
constexpr size_t kSamples = 4;
const MemoryStorage::Files& sample(size_t which) {
  static const auto make = [](Metric metric, RowType row_type) {
    MemoryStorage storage;
    make_sample(storage, {.dimensions = kDimensions, .metric = metric, .row_type = row_type});
    return storage.files();
  };
  static const MemoryStorage::Files files[kSamples] = {
      make(Metric::kCosine, RowType::kF32), make(Metric::kL2, RowType::kF32),
      make(Metric::kDot, RowType::kF32), make(Metric::kCosine, RowType::kF16)};
  return files[which];
}

void require(bool holds) {
  if (!holds) __builtin_trap();
}

void make_sample(MemoryStorage& storage, const CollectionOptions& options) {
  auto database = Database::open(std::make_unique<test::BorrowedStorage>(storage), {});
  require(database.ok());
  auto docs = (*database)->collection("docs", options);
  require(docs.ok());
  require((*docs)->set_fields(fields()).ok());
  std::vector<float> vectors;
  std::vector<std::string> texts;
  std::vector<std::string> values;
  for (uint32_t i = 0; i < kRows * kDimensions; ++i)
    vectors.push_back(static_cast<float>(random_below(1, i, 1000)) - 500);
  for (uint32_t i = 0; i < kRows; ++i) texts.push_back("id" + std::to_string(i));
  std::vector<IdView> ids;
  for (uint32_t i = 0; i < kRows; ++i)
    ids.push_back(i % 2 == 0 ? IdView(int64_t{i}) : IdView(std::string_view(texts[i])));
  for (uint32_t i = 0; i < kRows; ++i) {
    values.push_back(R"({"t":["a","b)" + std::to_string(i % 5) + R"("],"n":)" + std::to_string(i) +
                     R"(,"b":true,"x":"some words )" + std::to_string(i % 9) + R"(","k":"IT-)" +
                     std::to_string(i % 50) + "\"}");
  }
  const std::vector<std::string_view> metadata(values.begin(), values.end());
  require((*docs)->upsert({vectors, ids, metadata}).ok());
  require((*docs)->link(0).ok());
  require((*docs)->remove(std::vector<IdView>{int64_t{0}, int64_t{2}}).ok());
  require((*database)->flush().ok());
}

void patch(std::vector<std::byte>& bytes, FuzzedDataProvider& input) {
  if (bytes.empty()) return;
  switch (input.ConsumeIntegralInRange(0, 3)) {
    case 0: bytes.resize(input.ConsumeIntegralInRange<size_t>(0, bytes.size())); break;
    case 1: bytes.insert(bytes.end(), input.ConsumeIntegralInRange(1, 64), std::byte{0xff}); break;
    default: {
      size_t at = input.ConsumeIntegralInRange<size_t>(0, bytes.size() - 1);
      for (const uint8_t byte : input.ConsumeBytes<uint8_t>(input.ConsumeIntegralInRange(1, 16))) {
        if (at < bytes.size()) bytes[at++] = std::byte{byte};
      }
    }
  }
}

// Columns and postings.
void use_fields(Collection& docs, SearchScratch& scratch) {
  const auto everything = docs.select("");
  require(everything.ok());
  for (const char* filter : {R"({"t":"a","n":{"$lt":500}})", R"({"b":true,"k":{"$ne":"IT-7"}})",
                             R"({"x":{"$exists":false},"t":{"$in":["b1","b2"]}})"}) {
    if (const auto selected = docs.select(filter); selected.ok()) {
      require(selected->count <= everything->count);
      (void)docs.order(*selected, "n", true, 2, 5);
      (void)docs.order(*selected, "t", false, 0, 5);
      (void)docs.facets("t", *selected, 5);
    }
  }
  for (const char* text : {"words", "\"some words\" 3", "it-7 wor*"}) {
    RankOptions options;
    options.text = TextOptions{.query = text};
    const auto ranking = docs.rank(options, scratch);
    if (!ranking.ok()) continue;
    for (const RankedHit& hit : ranking->hits) (void)docs.highlight(hit.slot, "x", text);
  }
}

void use(Storage& storage) {
  auto opened = Database::open(std::make_unique<test::BorrowedStorage>(storage), {});
  if (!opened.ok()) return;
  auto database = std::move(opened).value();
  (void)database->verify();
  for (const std::string& name : database->names()) {
    Collection& docs = **database->find(name);
    SearchScratch scratch;
    const std::vector<float> query(docs.options().dimensions, 1.0F);
    const SearchOptions ways[] = {{.k = 5}, {.k = 5, .ef = 20}, {.k = 5, .exact = true}};
    for (const SearchOptions& options : ways) {
      auto hits = docs.search(query, options, scratch);
      if (!hits.ok()) continue;
      for (const Hit& hit : *hits) {
        (void)docs.get(docs.id_at(hit.slot));
        (void)docs.metadata_at(hit.slot);
      }
    }
    use_fields(docs, scratch);
    (void)docs.remove(std::vector<IdView>{int64_t{4}, std::string_view("id5")});
    (void)docs.upsert({query, std::vector<IdView>{int64_t{-1}}});
    if (docs.options().dimensions == kDimensions) (void)docs.link(0);
  }
  (void)database->flush();
  for (const std::string& name : database->names()) (void)(*database->find(name))->set_fields({});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider input(data, size);
  MemoryStorage storage;
  storage.files() = sample(input.ConsumeIntegralInRange<size_t>(0, kSamples - 1));
  auto store = Store::open(storage, false);
  require(store.ok());
  auto commit = (*store)->begin();
  const auto segments = (*store)->manifest().segments;
  for (int changes = input.ConsumeIntegralInRange(1, 6); changes > 0; --changes) {
    const size_t which = input.ConsumeIntegralInRange<size_t>(0, segments.size());
    if (which == segments.size()) {
      for (auto& [number, collection] : commit.manifest().collections)
        patch(collection.state, input);
      continue;
    }
    const auto& [key, ref] = *std::next(segments.begin(), static_cast<ptrdiff_t>(which));
    auto payload = (*store)->load(key, ref);
    require(payload.ok());
    std::vector<std::byte> bytes(payload->bytes().begin(), payload->bytes().end());
    patch(bytes, input);
    SegmentKey place = key;
    uint32_t rows = ref.rows;
    if (input.ConsumeIntegralInRange(0, 9) == 0)
      place.first_row = input.ConsumeIntegral<uint32_t>();
    if (input.ConsumeIntegralInRange(0, 9) == 0) rows = input.ConsumeIntegral<uint32_t>();
    if (input.ConsumeIntegralInRange(0, 9) == 0) commit.erase(key);
    if (!commit.put(place, rows, bytes).ok()) return 0;
  }
  if (commit.finish().ok()) use(storage);
  return 0;
}
