// What ten declared fields cost a store of 100,000 x 128 whose records all have the metadata for
// them: storing, storing and linking, and searching without a filter, as ratios of medians to the
// same without declared fields, alternating. One thread.
//   bench_insert_fields [ROUNDS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "nearfield/database.h"

namespace {

using namespace nearfield;

constexpr uint32_t kRows = 100'000;
constexpr uint32_t kDimensions = 128;
constexpr uint32_t kCentres = 1000;
constexpr uint32_t kBatch = 1000;
constexpr uint32_t kQueries = 2000;

template <class T>
T need(Result<T> result) {
  if (!result) std::printf("%s\n", result.error().detail.c_str()), std::exit(1);
  return std::move(*result);
}

float value(uint64_t seed, uint64_t i) {
  return static_cast<float>(random_at(seed, i) >> 40) / 8388608.0F - 1.0F;
}

std::vector<float> clustered(uint32_t rows, uint32_t first) {
  std::vector<float> values(size_t{rows} * kDimensions);
  for (uint32_t row = 0; row < rows; ++row) {
    const uint64_t centre = random_below(3, first + row, kCentres);
    for (uint32_t d = 0; d < kDimensions; ++d) {
      values[size_t{row} * kDimensions + d] =
          value(1, centre * kDimensions + d) +
          0.5F * value(2, uint64_t{first + row} * kDimensions + d);
    }
  }
  return values;
}

std::string metadata_of(uint32_t row) {
  std::string text = "{";
  for (uint32_t i = 0; i < 5; ++i) {
    text += "\"tag" + std::to_string(i) + "\":\"value " +
            std::to_string(random_below(10 + i, row, 10u << (2 * i))) + "\",\"number" +
            std::to_string(i) + "\":" + std::to_string(random_below(20 + i, row, 100'000)) + ".5,";
  }
  text.back() = '}';
  return text;
}

std::vector<Field> ten_fields() {
  std::vector<Field> fields;
  for (int i = 0; i < 5; ++i) {
    fields.push_back({"tag" + std::to_string(i), FieldType::kTag});
    fields.push_back({"number" + std::to_string(i), FieldType::kNumber});
  }
  return fields;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class Work>
double seconds_of(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Times {
  std::vector<double> store, insert, search;
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  const auto vectors = clustered(kRows, 0);
  const auto queries = clustered(kQueries, kRows);
  std::vector<std::string> texts;
  for (uint32_t row = 0; row < kRows; ++row) texts.push_back(metadata_of(row));
  Times times[2];
  for (int round = 0; round < rounds; ++round) {
    for (const bool fields : {false, true}) {
      auto database = need(Database::open(std::make_unique<MemoryStorage>(), {}));
      auto* docs = need(database->collection("docs", {.dimensions = kDimensions}));
      if (fields && !docs->set_fields(ten_fields()).ok()) return 1;
      const double store = seconds_of([&] {
        std::vector<IdView> ids;
        for (uint32_t first = 0; first < kRows; first += kBatch) {
          ids.clear();
          for (uint32_t i = 0; i < kBatch; ++i) ids.emplace_back(int64_t{first + i});
          const std::vector<std::string_view> metadata(texts.begin() + first,
                                                       texts.begin() + first + kBatch);
          need(docs->upsert({.vectors = std::span(vectors).subspan(size_t{first} * kDimensions,
                                                                   size_t{kBatch} * kDimensions),
                             .ids = ids,
                             .metadata = metadata}));
        }
      });
      const double link = seconds_of([&] { need(docs->link()); });
      SearchScratch scratch;
      const double search = seconds_of([&] {
        for (uint32_t q = 0; q < kQueries; ++q) {
          need(docs->search(std::span(queries).subspan(size_t{q} * kDimensions, kDimensions), {},
                            scratch));
        }
      });
      times[fields].store.push_back(store);
      times[fields].insert.push_back(store + link);
      times[fields].search.push_back(search);
    }
  }
  const auto print = [&](const char* what, std::vector<double> Times::*of) {
    std::printf("%-24s %.3f x of the time without fields\n", what,
                median(times[1].*of) / median(times[0].*of));
  };
  print("store", &Times::store);
  print("store and link", &Times::insert);
  print("search, no filter", &Times::search);
}
