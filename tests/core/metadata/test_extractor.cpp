// Values of declared fields out of metadata, and every refusal.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "metadata/extractor.h"

using namespace nearfield;

namespace {

const std::vector<Field> kFields = {{"tag", FieldType::kTag},      {"price", FieldType::kNumber},
                                    {"sold", FieldType::kBool},    {"title", FieldType::kText},
                                    {"sku", FieldType::kKeyword},  {"author.name", FieldType::kTag},
                                    {"author", FieldType::kNumber}};

// "a|b" of strings, numbers and booleans as they print.
std::string values(const Extractor& extractor, size_t field) {
  std::string out;
  for (const MetadataValue& value : extractor.values(field)) {
    if (!out.empty()) out += '|';
    if (value.kind == MetadataValue::Kind::kString) out += value.text;
    if (value.kind == MetadataValue::Kind::kNumber) out += std::to_string(value.number);
    if (value.kind == MetadataValue::Kind::kBool) out += value.flag ? "true" : "false";
  }
  return out;
}

std::string refusal(const std::string& metadata) {
  Extractor extractor(kFields);
  const auto read = extractor.read(metadata);
  if (read) return "accepted";
  CHECK(read.error().code == ErrorCode::kInvalidArgument);
  return read.error().detail;
}

}  // namespace

TEST_CASE("one parse takes the values of all fields") {
  Extractor extractor(kFields);
  REQUIRE(extractor
              .read(R"({"x":[{"tag":"no"}],"tag":["a","b"],"price":-1.5e2,"sold":false,)"
                    R"("title":"Z\u00fcrich \ud83d\ude00","sku":"IT-500","author":{"name":"Eco"}})")
              .ok() == false);  // author is a number field
  REQUIRE(extractor
              .read(R"({"x":[{"tag":"no"}],"tag":["a","b"],"price":-1.5e2,"sold":false,)"
                    R"("title":"Z\u00fcrich \ud83d\ude00","sku":"IT-500","author.name":"Eco"})")
              .ok());
  CHECK(values(extractor, 0) == "a|b");
  CHECK(values(extractor, 1) == "-150.000000");
  CHECK(values(extractor, 2) == "false");
  CHECK(values(extractor, 3) == "Zürich 😀");
  CHECK(values(extractor, 4) == "IT-500");
  CHECK(values(extractor, 5) == "Eco");
  REQUIRE(extractor.read(R"({"tag":null,"sku":[]})").ok());
  for (size_t field = 0; field < kFields.size(); ++field) CHECK(extractor.values(field).empty());
  REQUIRE(extractor.read("").ok());
  CHECK(extractor.values(0).empty());
}

TEST_CASE("the whole name goes first, the last of equal names counts") {
  const std::vector<Field> fields = {{"a.b", FieldType::kTag}, {"a.b.c", FieldType::kTag}};
  Extractor extractor(fields);
  const auto read = [&](const char* metadata) {
    INFO(metadata);
    REQUIRE(extractor.read(metadata).ok());
    return values(extractor, 0) + "," + values(extractor, 1);
  };
  CHECK(read(R"({"a":{"b":"x"}})") == "x,");
  CHECK(read(R"({"a.b":"w","a":{"b":"x"}})") == "w,");
  CHECK(read(R"({"a":{"b":7},"a.b":"w"})") == "w,");
  CHECK(read(R"({"a":{"b":"x"},"a.b":null})") == ",");
  CHECK(read(R"({"a":{"b":"x"},"a":{"c":1}})") == ",");
  CHECK(read(R"({"a":{"b":"x"},"a":7})") == ",");
  CHECK(read(R"({"a":{"b":7,"b":["y","z"]}})") == "y|z,");
  CHECK(read(R"({"a":[{"b":"x"}]})") == ",");
  CHECK(read(R"({"a.b.c":"d"})") == ",d");
  CHECK(read(R"({"a.b":{"c":"no"},"a":{"b":{"c":"d"}},"a.b":null})") == ",d");
}

TEST_CASE("values of other types are refused") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"price":"9"})", R"(field "price" is a string; expected a number)"},
      {R"({"price":[9]})", R"(field "price" is a list; expected a number)"},
      {R"({"price":true})", R"(field "price" is a boolean; expected a number)"},
      {R"({"tag":7})", R"(field "tag" is a number; expected a string or a list of strings)"},
      {R"({"tag":{}})", R"(field "tag" is an object; expected a string or a list of strings)"},
      {R"({"sku":["a",7]})",
       R"(field "sku" is a list with a number; expected a string or a list of strings)"},
      {R"({"title":[null]})",
       R"(field "title" is a list with null; expected a string or a list of strings)"},
      {R"({"tag":[["a"]]})",
       R"(field "tag" is a list with a list; expected a string or a list of strings)"},
      {R"({"sold":0})", R"(field "sold" is a number; expected true or false)"},
      {R"([])", "the metadata is not a JSON object"},
      {R"("x")", "the metadata is not a JSON object"},
      {R"({"tag":"a")",
       "the metadata is not valid JSON at byte 10: Missing a comma or '}' after an object member"},
      {R"({"price":1e999})",
       "the metadata is not valid JSON at byte 9: Number too big to be stored in double"},
      {std::string("{}\0", 3), "the metadata is not valid JSON at byte 2: a zero byte"},
      {R"({"price":null,"tag":[]})", "accepted"},
  };
  for (const auto& [metadata, sentence] : cases) {
    INFO(metadata);
    CHECK(refusal(metadata) == sentence);
  }
}

TEST_CASE("metadata that nests very deeply is read") {
  Extractor extractor(kFields);
  const size_t depth = 300'000;
  REQUIRE(
      extractor
          .read("{\"x\":" + std::string(depth, '[') + std::string(depth, ']') + ",\"tag\":\"a\"}")
          .ok());
  CHECK(values(extractor, 0) == "a");
  REQUIRE_FALSE(extractor.read("{\"tag\":" + std::string(depth, '[')).ok());
  CHECK(extractor.values(0).empty());
}
