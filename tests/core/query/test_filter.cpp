// Filters against an independent evaluator on the parsed JSON: random schemas, records and filters
// in all combinations of operators, declared and undeclared fields.
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "metadata/extractor.h"
#include "metadata/order.h"
#include "query/evaluate.h"

using namespace nearfield;
using json = nlohmann::json;

namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}
  uint32_t below(uint32_t bound) { return random_below(seed_, counter_++, bound); }
  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[below(static_cast<uint32_t>(choices.size()))];
  }

 private:
  uint64_t seed_;
  uint64_t counter_ = 0;
};

const std::vector<std::string> kNames = {"tag", "price", "flag", "sku", "a.b", "größe", "x.y.z"};
const std::vector<std::string> kTexts = {"", "a", "Zürich", "東京", "😀", "red", "a\"b\\c", "z\n"};
const std::vector<double> kNumbers = {-1e300, -2.5, -1, 0, 0.1, 1, 2, 3, 9007199254740993.0, 1e15};

FieldType type_of(const std::string& name) {
  static const std::map<std::string, FieldType> types = {
      {"tag", FieldType::kTag},     {"price", FieldType::kNumber}, {"flag", FieldType::kBool},
      {"sku", FieldType::kKeyword}, {"a.b", FieldType::kNumber},   {"größe", FieldType::kNumber},
      {"x.y.z", FieldType::kTag}};
  return types.at(name);
}

json random_scalar(FieldType type, Random& random) {
  if (type == FieldType::kNumber) return random.of(kNumbers);
  if (type == FieldType::kBool) return random.below(2) == 1;
  return random.of(kTexts);
}

void put(json& record, const std::string& name, const json& value, Random& random) {
  if (name.find('.') == std::string::npos || random.below(3) == 0) {
    record[name] = value;
    return;
  }
  json* at = &record;
  size_t begin = 0;
  for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', begin)) {
    at = &(*at)[name.substr(begin, dot - begin)];
    begin = dot + 1;
  }
  (*at)[name.substr(begin)] = value;
}

json random_record(Random& random, bool any_types) {
  json record = json::object();
  for (const std::string& name : kNames) {
    const FieldType type = any_types ? static_cast<FieldType>(random.below(3)) : type_of(name);
    switch (random.below(5)) {
      case 0: break;
      case 1: put(record, name, nullptr, random); break;
      case 2:
        if (type == FieldType::kTag || type == FieldType::kKeyword || any_types) {
          json list = json::array();
          for (uint32_t n = random.below(4); n > 0; --n)
            list.push_back(
                random_scalar(any_types ? static_cast<FieldType>(random.below(3)) : type, random));
          put(record, name, list, random);
          break;
        }
        [[fallthrough]];
      default: put(record, name, random_scalar(type, random), random);
    }
  }
  if (any_types && random.below(4) == 0) record[random.of(kNames)] = json::object({{"b", 1}});
  return record;
}

json random_id(Random& random) {
  const uint32_t slot = random.below(250);
  return slot % 2 == 0 ? json(slot) : json("id" + std::to_string(slot));
}

json random_operators(const std::string& name, Random& random, bool any_types, unsigned depth) {
  const auto type = [&] {
    return any_types ? static_cast<FieldType>(random.below(3)) : type_of(name);
  };
  const auto list = [&] {
    json values = json::array();
    for (uint32_t n = random.below(random.below(8) == 0 ? 15 : 4); n > 0; --n)
      values.push_back(random_scalar(type(), random));
    return values;
  };
  json out = json::object();
  for (uint32_t n = 1 + random.below(2); n > 0; --n) {
    switch (random.below(10)) {
      case 0: out["$eq"] = random_scalar(type(), random); break;
      case 1: out["$ne"] = random_scalar(type(), random); break;
      case 2: out["$in"] = list(); break;
      case 3: out["$nin"] = list(); break;
      case 4: out["$exists"] = random.below(2) == 1; break;
      case 5:
        if (depth > 0)
          out["$not"] = random_operators(name, random, any_types, depth - 1);
        else
          out["$exists"] = true;
        break;
      default:
        if (!any_types && type_of(name) != FieldType::kNumber) {
          out["$in"] = list();
        } else {
          out[random.of(std::vector<std::string>{"$gt", "$gte", "$lt", "$lte"})] =
              random.of(kNumbers);
        }
    }
  }
  return out;
}

json random_filter(Random& random, bool any_types, unsigned depth) {
  json out = json::object();
  for (uint32_t n = 1 + random.below(2); n > 0; --n) {
    const uint32_t kind = random.below(depth == 0 ? 6 : 10);
    if (kind < 4) {
      const std::string& name = random.of(kNames);
      out[name] = random_operators(name, random, any_types, 2);
    } else if (kind == 4) {
      const std::string& name = random.of(kNames);
      out[name] = random_scalar(type_of(name), random);
    } else if (kind == 5) {
      json ids = json::array();
      for (uint32_t i = random.below(60); i > 0; --i) ids.push_back(random_id(random));
      switch (random.below(4)) {
        case 0: out["$id"] = {{"$in", ids}}; break;
        case 1: out["$id"] = {{"$nin", ids}}; break;
        case 2: out["$id"] = {{"$ne", random_id(random)}}; break;
        default: out["$id"] = random_id(random);
      }
    } else if (kind == 6) {
      out["$not"] = random_filter(random, any_types, depth - 1);
    } else {
      json list = json::array();
      for (uint32_t i = 1 + random.below(3); i > 0; --i)
        list.push_back(random_filter(random, any_types, depth - 1));
      out[kind == 7 ? "$and" : "$or"] = list;
    }
  }
  return out;
}

// The naive evaluator. Values of a member: a flat list; none for null, missing and [].
std::vector<json> values_of(const json& record, const std::string& name) {
  const json* at = &record;
  if (record.contains(name)) {
    at = &record[name];
  } else {
    size_t begin = 0;
    while (true) {
      const size_t dot = name.find('.', begin);
      const std::string step = name.substr(begin, dot - begin);
      if (!at->is_object() || !at->contains(step)) return {};
      at = &(*at)[step];
      if (dot == std::string::npos) break;
      begin = dot + 1;
    }
  }
  if (at->is_null()) return {};
  if (at->is_array()) return at->get<std::vector<json>>();
  return {*at};
}

bool same(const json& a, const json& b) {
  if (a.is_number() && b.is_number()) return a.get<double>() == b.get<double>();
  return a.type() == b.type() && a == b;
}

bool holds(const std::vector<json>& values, const std::string& op, const json& operand) {
  const auto any = [&](auto test) { return std::any_of(values.begin(), values.end(), test); };
  if (op == "$eq") return any([&](const json& value) { return same(value, operand); });
  if (op == "$ne") return !holds(values, "$eq", operand);
  if (op == "$in")
    return any([&](const json& value) {
      return std::any_of(operand.begin(), operand.end(),
                         [&](const json& wanted) { return same(value, wanted); });
    });
  if (op == "$nin") return !holds(values, "$in", operand);
  if (op == "$exists") return values.empty() != operand.get<bool>();
  if (op == "$not") {
    for (const auto& [inner, wanted] : operand.items()) {
      if (!holds(values, inner, wanted)) return true;
    }
    return false;
  }
  return any([&](const json& value) {
    if (!value.is_number()) return false;
    const double number = value.get<double>();
    const double bound = operand.get<double>();
    return op == "$gt"    ? number > bound
           : op == "$gte" ? number >= bound
           : op == "$lt"  ? number < bound
                          : number <= bound;
  });
}

bool naive(const json& filter, const json& record, const json& id) {
  for (const auto& [key, operand] : filter.items()) {
    bool match = true;
    if (key == "$and" || key == "$or") {
      const auto test = [&](const json& part) { return naive(part, record, id); };
      match = key == "$and" ? std::all_of(operand.begin(), operand.end(), test)
                            : std::any_of(operand.begin(), operand.end(), test);
    } else if (key == "$not") {
      match = !naive(operand, record, id);
    } else {
      const std::vector<json> values = key == "$id" ? std::vector{id} : values_of(record, key);
      if (operand.is_object()) {
        for (const auto& [op, wanted] : operand.items()) match = match && holds(values, op, wanted);
      } else {
        match = holds(values, "$eq", operand);
      }
    }
    if (!match) return false;
  }
  return true;
}

// Records with their columns.
struct Table final : FilterSource {
  std::vector<Field> fields;
  Columns columns;
  std::vector<std::string> metadata;
  std::vector<json> records;
  std::vector<json> ids;
  SlotSet dead;
  mutable uint32_t rows_read = 0;

  explicit Table(std::vector<Field> declared) : fields(std::move(declared)) {
    for (const Field& field : fields) columns.emplace_back(field.type, 6);
  }
  void add(const json& record) {
    Extractor extractor(fields);
    records.push_back(record);
    metadata.push_back(record.dump());
    const auto slot = static_cast<uint32_t>(ids.size());
    ids.push_back(slot % 2 == 0 ? json(slot) : json("id" + std::to_string(slot)));
    const auto read = extractor.read(metadata.back());
    INFO(metadata.back());
    REQUIRE(read.ok());
    for (size_t i = 0; i < fields.size(); ++i) {
      REQUIRE(columns[i].reserve(slot + 1).ok());
      columns[i].append(extractor.values(i));
    }
  }
  Bitmap live() const { return Bitmap::live(static_cast<uint32_t>(records.size()), dead); }
  std::string_view metadata_at(uint32_t slot) const override {
    ++rows_read;
    return metadata[slot];
  }
  Result<std::optional<uint32_t>> find_id(IdView id) const override {
    for (uint32_t slot = 0; slot < ids.size(); ++slot) {
      if (dead.contains(slot)) continue;
      if (id.is_text() ? ids[slot] == json(id.text()) : ids[slot] == json(id.number()))
        return std::optional(slot);
    }
    return std::optional<uint32_t>();
  }
};

std::vector<Field> random_fields(Random& random) {
  std::vector<Field> fields;
  for (const std::string& name : kNames) {
    if (random.below(2) == 0) fields.push_back({name, type_of(name)});
  }
  return fields;
}

Bitmap matches(const std::string& text, const Table& table) {
  INFO(text);
  const auto filter = Filter::parse(text, table.fields);
  if (!filter) FAIL(filter.error().detail);
  auto found = evaluate(*filter, table.columns, table.live(), table);
  REQUIRE(found.ok());
  return std::move(*found);
}

void compare(const json& filter, const Table& table) {
  const Bitmap found = matches(filter.dump(), table);
  INFO(filter.dump());
  for (uint32_t slot = 0; slot < table.records.size(); ++slot) {
    INFO(slot << " " << table.metadata[slot]);
    REQUIRE(found.contains(slot) ==
            (!table.dead.contains(slot) && naive(filter, table.records[slot], table.ids[slot])));
  }
}

}  // namespace

TEST_CASE("filters match what a naive evaluator matches, for any schema") {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    Table table(random_fields(random));
    const uint32_t rows = random.below(300);
    for (uint32_t i = 0; i < rows; ++i) table.add(random_record(random, false));
    for (uint32_t i = 0; i < rows; ++i) {
      if (random.below(5) == 0) table.dead.insert(i);
    }
    for (int i = 0; i < 60; ++i) compare(random_filter(random, false, 3), table);
  }
}

TEST_CASE("undeclared members of any types match what a naive evaluator matches") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed + 1000);
    Table table({});
    for (uint32_t i = 0; i < 150; ++i) table.add(random_record(random, true));
    for (int i = 0; i < 60; ++i) compare(random_filter(random, true, 3), table);
  }
}

TEST_CASE("every pair of operators joined in every way") {
  Random random(7);
  const std::vector<std::string> leaves = {R"({"tag":{"$eq":"a"}})",
                                           R"({"tag":{"$ne":"a"}})",
                                           R"({"price":{"$gt":1}})",
                                           R"({"price":{"$gte":1}})",
                                           R"({"price":{"$lt":1}})",
                                           R"({"price":{"$lte":1}})",
                                           R"({"sku":{"$in":["a","red"]}})",
                                           R"({"sku":{"$nin":["Zürich"]}})",
                                           R"({"flag":{"$exists":true}})",
                                           R"({"flag":{"$exists":false}})",
                                           R"({"flag":true})",
                                           R"({"$id":{"$in":[2,"id3",4]}})",
                                           R"({"$id":{"$nin":[2,"id3"]}})",
                                           R"({"a.b":{"$in":[]}})",
                                           R"({"tag":"東京"})",
                                           R"({"tag":{"$not":{"$in":["😀"]}}})"};
  for (const auto& fields :
       {std::vector<Field>{},
        std::vector<Field>{{"tag", FieldType::kTag}, {"price", FieldType::kNumber}},
        std::vector<Field>{{"sku", FieldType::kKeyword},
                           {"flag", FieldType::kBool},
                           {"tag", FieldType::kTag},
                           {"price", FieldType::kNumber},
                           {"a.b", FieldType::kNumber}}}) {
    Table table(fields);
    for (int i = 0; i < 130; ++i) table.add(random_record(random, false));
    for (const std::string& a : leaves) {
      for (const std::string& b : leaves) {
        const json one = json::parse(a);
        const json two = json::parse(b);
        compare({{"$and", {one, two}}}, table);
        compare({{"$or", {one, two}}}, table);
        compare({{"$and", {one, {{"$not", two}}}}}, table);
        compare({{"$not", {{"$or", {one, two}}}}}, table);
      }
    }
  }
}

TEST_CASE("undeclared conditions are asked only of rows that the declared ones allow") {
  Table table({{"n", FieldType::kNumber}});
  for (int i = 0; i < 200; ++i)
    table.add({{"n", i}, {"color", i % 2 == 0 ? "red" : "blue"}, {"m", i}});
  CHECK(matches(R"({"color":"red","m":{"$gt":100},"n":{"$gte":98,"$lt":108}})", table).count() ==
        3);
  CHECK(table.rows_read == 10);  // each once, though two members are asked for
  table.rows_read = 0;
  CHECK(matches(R"({"$or":[{"color":"red"},{"n":{"$lt":100}}]})", table).count() == 150);
  CHECK(table.rows_read == 100);
  table.rows_read = 0;
  CHECK(matches(R"({"n":5})", table).count() == 1);
  CHECK(table.rows_read == 0);
}

TEST_CASE("one more condition never gives more rows") {  // c31
  Random random(31);
  Table table({{"tag", FieldType::kTag}, {"price", FieldType::kNumber}});
  for (int i = 0; i < 300; ++i) table.add(random_record(random, false));
  for (int i = 0; i < 200; ++i) {
    const json a = random_filter(random, false, 2);
    const json b = random_filter(random, false, 2);
    Bitmap both = matches(json{{"$and", {a, b}}}.dump(), table);
    CHECK(both.subtract(matches(a.dump(), table)).empty());
  }
}

TEST_CASE("values of any script are found") {  // c32
  for (const bool declared : {true, false}) {
    Table table(declared ? std::vector<Field>{{"city", FieldType::kTag}} : std::vector<Field>{});
    for (const char* city : {"Zürich", "東京", "😀", "Zurich", "大阪"}) table.add({{"city", city}});
    CHECK(matches(R"({"city":"Zürich"})", table).count() == 1);
    CHECK(matches(R"({"city":"\u6771\u4eac"})", table).count() == 1);  // 東京
    CHECK(matches(R"({"city":{"$in":["\ud83d\ude00","大阪"]}})", table).count() == 2);
  }
}

TEST_CASE("an empty filter matches every live record") {
  Table table({});
  for (int i = 0; i < 70; ++i) table.add({{"i", i}});
  table.dead.insert(3);
  CHECK(matches("{}", table) == table.live());
  CHECK(matches(R"({"$not":{}})", table).empty());
  CHECK(matches(R"({"$id":3.0})", table).empty());
  CHECK(matches(R"({"$id":4.0})", table).count() == 1);
}

TEST_CASE("ids of 64 bits keep all their digits") {
  Table table({});
  const int64_t largest = std::numeric_limits<int64_t>::max();
  for (const int64_t id : {largest, largest - 1, -largest - 1, -largest}) {
    table.add({{"i", 1}});
    table.ids.back() = id;
  }
  for (uint32_t slot = 0; slot < 4; ++slot) {
    const Bitmap found = matches(json{{"$id", table.ids[slot]}}.dump(), table);
    CHECK((found.count() == 1 && found.contains(slot)));
  }
}

TEST_CASE("records without metadata, or with broken metadata, have no values") {
  Table table({});
  table.add({{"a", 1}});
  table.add({{"a", 1}});
  table.add({{"a", 1}});
  table.metadata[1] = "";
  table.metadata[2] = "{\"a\":1";
  CHECK(matches(R"({"a":1})", table).count() == 1);
  CHECK(matches(R"({"a":{"$ne":1}})", table).count() == 2);
}
