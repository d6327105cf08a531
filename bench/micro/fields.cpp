// What fields cost: microseconds per row of taking and appending ten fields, and per filter over
// 100,000 rows.
//   bench_fields
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "metadata/extractor.h"
#include "metadata/order.h"
#include "query/evaluate.h"

namespace {

using namespace nearfield;

constexpr uint32_t kRows = 100'000;
constexpr unsigned kShift = 12;

// Ends the program: a benchmark of something that failed would print nonsense.
template <class T>
T need(Result<T> result) {
  if (!result) std::printf("%s\n", result.error().detail.c_str()), std::exit(1);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// The least time of a few rounds, in microseconds.
double microseconds(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  double best = 1e300;
  for (int round = 0; round < 9; ++round) {
    const auto start = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return best;
}

std::vector<Field> ten_fields() {
  std::vector<Field> fields;
  for (int i = 0; i < 5; ++i) {
    fields.push_back({"tag" + std::to_string(i), FieldType::kTag});
    fields.push_back({"number" + std::to_string(i), FieldType::kNumber});
  }
  return fields;
}

std::vector<std::string> records() {
  std::vector<std::string> all;
  for (uint32_t row = 0; row < kRows; ++row) {
    std::string text = "{";
    for (uint32_t i = 0; i < 5; ++i) {
      const uint32_t kind = random_below(i, row, 10u << (2 * i));  // from 10 to 2,560 tags
      text += "\"tag" + std::to_string(i) + "\":\"value " + std::to_string(kind) + "\",\"number" +
              std::to_string(i) + "\":" + std::to_string(random_below(9 + i, row, 100'000)) + ".5,";
    }
    text += "\"other\":" + std::to_string(row % 100) + "}";
    all.push_back(std::move(text));
  }
  return all;
}

class Source final : public FilterSource {
 public:
  explicit Source(const std::vector<std::string>& texts) : texts_(texts) {}
  std::string_view metadata_at(uint32_t slot) const override { return texts_[slot]; }
  Result<std::optional<uint32_t>> find_id(IdView) const override {
    return std::optional<uint32_t>();
  }

 private:
  const std::vector<std::string>& texts_;
};

Columns fill(const std::vector<Field>& fields, const std::vector<std::string>& texts) {
  Columns columns;
  for (const Field& field : fields) {
    columns.emplace_back(field.type, kShift);
    need(columns.back().reserve(kRows));
  }
  Extractor extractor(fields);
  for (const std::string& text : texts) {
    need(extractor.read(text));
    for (size_t i = 0; i < columns.size(); ++i) columns[i].append(extractor.values(i));
  }
  return columns;
}

}  // namespace

int main() {
  const std::vector<Field> fields = ten_fields();
  const std::vector<std::string> texts = records();
  const double extract = microseconds([&] {
    Extractor extractor(fields);
    for (const std::string& text : texts) need(extractor.read(text));
  });
  std::printf("%-60s %10.3f us a row\n", "extract ten fields", extract / kRows);
  Columns columns;
  const double both = microseconds([&] { columns = fill(fields, texts); });
  std::printf("%-60s %10.3f us a row\n", "extract and append ten fields", both / kRows);

  const Source source(texts);
  const Bitmap live = Bitmap::live(kRows, {});
  std::string many = R"({"number0":{"$in":[)";
  for (int i = 0; i < 100; ++i) many += std::to_string(i * 100) + ".5,";
  many += "0]}}";
  for (const std::string& text :
       {std::string(R"({"number0":500.5})"), std::string(R"({"number0":{"$lt":1000}})"),
        std::string(R"({"number0":{"$gte":1000,"$lt":2000}})"), many,
        std::string(R"({"tag0":"value 3"})"), std::string(R"({"tag4":"value 3"})"),
        std::string(R"({"tag2":{"$in":["value 3","value 5","value 7"]}})"),
        std::string(R"({"tag0":{"$ne":"value 3"}})"), std::string(R"({"tag0":{"$exists":true}})"),
        std::string(R"({"tag0":"value 3","number0":{"$lt":1000}})"), std::string(R"({"other":7})"),
        std::string(R"({"other":7,"number0":{"$lt":1000}})")}) {
    const Filter filter = need(Filter::parse(text, fields));
    uint32_t found = 0;
    const double time =
        microseconds([&] { found = need(evaluate(filter, columns, live, source)).count(); });
    std::printf("%-60.60s %10.1f us, %u rows\n", text.c_str(), time, found);
  }
  std::printf("%-60s %10.1f us\n", "parse {\"tag0\":\"value 3\",\"number0\":{\"$lt\":1000}}",
              microseconds([&] {
                (void)Filter::parse(R"({"tag0":"value 3","number0":{"$lt":1000}})", fields);
              }));
  std::printf("%-60s %10.1f us\n", "order by number0, first 10",
              microseconds([&] { (void)order_by(columns[1], live, false, 0, 10); }));
  std::printf("%-60s %10.1f us\n", "order by tag4, first 10",
              microseconds([&] { (void)order_by(columns[8], live, false, 0, 10); }));
  std::printf("%-60s %10.1f us\n", "facets of tag0",
              microseconds([&] { (void)columns[0].tags()->facets(live, 10); }));
  std::printf("%-60s %10.1f us\n", "facets of tag4",
              microseconds([&] { (void)columns[8].tags()->facets(live, 10); }));
}
