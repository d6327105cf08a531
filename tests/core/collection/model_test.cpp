// One thousand random operations and reopens against a plain map: never a difference.
#include <algorithm>
#include <map>

#include "fixture.h"

using namespace nearfield;
using namespace nearfield::test;

namespace {

struct Model {
  std::vector<float> vector;
  std::string metadata;
};

void compare(Collection& collection, const std::map<Id, Model>& model) {
  REQUIRE(collection.count() == model.size());
  for (const auto& [id, expected] : model) {
    const Record record = expect(collection.get(id));
    REQUIRE(record.id == id);
    REQUIRE(record.vector == expected.vector);
    REQUIRE(record.metadata == expected.metadata);
  }
}

// The exact answer of the model: distances, nearest first.
std::vector<double> model_distances(const std::map<Id, Model>& model, Metric metric,
                                    std::span<const float> query) {
  std::vector<double> distances;
  for (const auto& [id, expected] : model) {
    distances.push_back(exact_distance(metric, query.data(), expected.vector.data(),
                                       static_cast<uint32_t>(query.size())));
  }
  std::sort(distances.begin(), distances.end());
  return distances;
}

}  // namespace

TEST_CASE("one thousand random operations against a map") {
  constexpr uint32_t kDimensions = 6;
  for (const uint64_t seed : {1ULL, 2ULL, 3ULL, 4ULL, 5ULL, 6ULL}) {
    CAPTURE(seed);
    const Metric metric = static_cast<Metric>(seed % 3);
    const RowType row_type = seed <= 3 ? RowType::kF32 : RowType::kF16;
    const CollectionOptions options{
        .dimensions = kDimensions, .metric = metric, .row_type = row_type};
    uint64_t counter = 0;
    const auto draw = [&](uint32_t bound) { return random_below(seed, counter++, bound); };
    const auto draw_id = [&]() -> Id {
      const uint32_t number = draw(1500);
      if (draw(2) == 0) return int64_t{number} - 700;
      return std::to_string(number);
    };
    MemoryStorage storage(4096);
    auto database = open(storage);
    auto* docs = expect(database->collection("docs", options));
    std::map<Id, Model> model;
    std::map<Id, Model> flushed;
    SearchScratch scratch;
    for (int operation = 0; operation < 1000; ++operation) {
      CAPTURE(operation);
      const uint32_t kind = draw(100);
      if (kind < 45) {
        const uint32_t rows = 1 + draw(draw(10) == 0 ? 400 : 8);
        const auto vectors =
            random_vectors(seed + 1000, rows, kDimensions, static_cast<uint32_t>(counter));
        std::vector<Id> ids;
        std::vector<std::string> texts;
        for (uint32_t row = 0; row < rows; ++row) {
          ids.push_back(draw_id());
          texts.push_back(draw(2) == 0 ? "" : "{\"n\":" + std::to_string(draw(1000)) + "}");
        }
        size_t added = 0;
        for (uint32_t row = 0; row < rows; ++row) {
          added += model.contains(ids[row]) ? 0 : 1;
          const float* vector = vectors.data() + size_t{row} * kDimensions;
          model[ids[row]] = {as_kept({vector, vector + kDimensions}, row_type), texts[row]};
        }
        REQUIRE(expect(docs->upsert({vectors, std::vector<IdView>(ids.begin(), ids.end()),
                                     std::vector<std::string_view>(texts.begin(), texts.end())})) ==
                added);
      } else if (kind < 70) {
        std::vector<Id> ids;
        for (uint32_t i = draw(draw(12) == 0 ? 500 : 6); i > 0; --i) ids.push_back(draw_id());
        size_t removed = 0;
        for (const Id& id : ids) removed += model.erase(id);
        REQUIRE(expect(docs->remove(std::vector<IdView>(ids.begin(), ids.end()))) == removed);
      } else if (kind < 85) {
        const auto query =
            random_vectors(seed + 2000, 1, kDimensions, static_cast<uint32_t>(operation));
        const auto expected = model_distances(model, metric, query);
        const uint32_t k = 1 + draw(20);
        const auto hits = expect(docs->search(query, {.k = k, .exact = draw(2) == 0}, scratch));
        REQUIRE(hits.size() == std::min<size_t>(k, model.size()));
        for (size_t i = 0; i < hits.size(); ++i) {
          REQUIRE(model.contains(docs->id_at(hits[i].slot).to_id()));
          // A walk may miss; it never invents: the i-th hit is no nearer than the exact i-th.
          REQUIRE(hits[i].distance >= expected[i] - 1e-4);
        }
      } else if (kind < 90) {
        const uint64_t budget_us = draw(2) == 0 ? 0 : 50;
        (void)expect(draw(4) == 0 ? docs->compact(budget_us) : docs->link(budget_us));
      } else if (kind < 95) {
        expect(database->flush());
        flushed = model;
      } else if (kind < 99) {
        // Leave without a flush or with one: what was flushed is there, and nothing else.
        if (draw(2) == 0) {
          expect(database->flush());
          flushed = model;
        }
        database = open(storage);
        docs = expect(database->collection("docs", options));
        model = flushed;
        compare(*docs, model);
      } else {
        expect(docs->clear());
        model.clear();
      }
      if (operation % 50 == 0) compare(*docs, model);
    }
    compare(*docs, model);
    expect(database->flush());
    database = open(storage);
    compare(*expect(database->find("docs")), model);
    CHECK(expect(database->verify()).problems.empty());
  }
}
