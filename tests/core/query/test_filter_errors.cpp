// Every way in which a filter is refused, with its sentence.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "query/filter.h"

using namespace nearfield;

namespace {

const std::vector<Field> kFields = {{"price", FieldType::kNumber},
                                    {"tag", FieldType::kTag},
                                    {"sku", FieldType::kKeyword},
                                    {"sold", FieldType::kBool},
                                    {"title", FieldType::kText}};

std::string refusal(const std::string& filter) {
  const auto parsed = Filter::parse(filter, kFields);
  if (parsed) return "accepted";
  CHECK(parsed.error().code == ErrorCode::kInvalidArgument);
  return parsed.error().detail;
}

std::string nested(unsigned levels, const std::string& open, const std::string& close) {
  std::string text;
  for (unsigned i = 0; i < levels; ++i) text += open;
  text += R"({"price":1})";
  for (unsigned i = 0; i < levels; ++i) text += close;
  return text;
}

}  // namespace

TEST_CASE("each refusal says what was wrong, where, and what was expected") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"(["a"])", R"(the filter has a list; expected an object such as {"field": value})"},
      {R"(7)", R"(the filter has a number; expected an object such as {"field": value})"},
      {R"({"$foo":1})",
       R"(the filter has the unknown operator "$foo" at $foo; expected $and, $or, $not, $id or the name of a field)"},
      {R"({"price":{"$foo":1}})",
       R"(the filter has the unknown operator "$foo" at price.$foo; expected $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists or $not)"},
      {R"({"price":{"low":1}})",
       R"(the filter has the unknown operator "low" at price.low; expected $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists or $not)"},
      {R"({"price":{}})",
       R"(the filter has an object without an operator at price; expected $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists or $not)"},
      {R"({"price":"cheap"})",
       R"(the filter has a string at price; expected a number, since "price" is a number field)"},
      {R"({"$and":[{},{"price":{"$gt":"9"}}]})",
       R"(the filter has a string at $and[1].price.$gt; expected a number)"},
      {R"({"$or":[{"tag":{"$in":["a",7]}}]})",
       R"(the filter has a number at $or[0].tag.$in[1]; expected a string, since "tag" is a tag field)"},
      {R"({"sku":{"$ne":true}})",
       R"(the filter has a boolean at sku.$ne; expected a string, since "sku" is a keyword field)"},
      {R"({"sold":1})",
       R"(the filter has a number at sold; expected true or false, since "sold" is a bool field)"},
      {R"({"price":null})",
       R"(the filter has null at price; expected a number, since "price" is a number field ($exists asks for missing ones))"},
      {R"({"tag":["a"]})",
       R"(the filter has a list at tag; expected a string, since "tag" is a tag field ($in takes a list))"},
      {R"({"other":{"$eq":{"a":1}}})",
       R"(the filter has an object at other.$eq; expected a string, a number, true or false)"},
      {R"({"tag":{"$gt":1}})",
       R"(the filter has the operator "$gt" on tag field "tag" at tag.$gt; expected $eq, $ne, $in, $nin, $exists or $not, since it compares numbers)"},
      {R"({"other":{"$lt":"a"}})", R"(the filter has a string at other.$lt; expected a number)"},
      {R"({"price":{"$in":7}})",
       R"(the filter has a number at price.$in; expected a list of values)"},
      {R"({"price":{"$exists":1}})",
       R"(the filter has a number at price.$exists; expected true or false)"},
      {R"({"price":{"$not":7}})",
       R"(the filter has a number at price.$not; expected an object of operators)"},
      {R"({"$not":[]})",
       R"(the filter has a list at $not; expected an object such as {"field": value})"},
      {R"({"$and":{}})", R"(the filter has an object at $and; expected a list of filters)"},
      {R"({"$or":[]})",
       R"(the filter has an empty list at $or; expected a list of at least one filter)"},
      {R"({"title":"x"})",
       R"(the filter has a condition on text field "title" at title; expected $exists, since text fields are for full text search)"},
      {R"({"title":{"$gt":1}})",
       R"(the filter has a condition on text field "title" at title.$gt; expected $exists, since text fields are for full text search)"},
      {R"({"$id":{"$gt":1}})",
       R"(the filter has the operator "$gt" at $id.$gt; expected $eq, $ne, $in, $nin or $not)"},
      {R"({"$id":1.5})",
       R"(the filter has a number that is no 64-bit integer at $id; expected an integer or a string)"},
      {R"({"$id":9223372036854775808})",
       R"(the filter has a number that is no 64-bit integer at $id; expected an integer or a string)"},
      {R"({"$id":18446744073709551615})",
       R"(the filter has a number that is no 64-bit integer at $id; expected an integer or a string)"},
      {R"({"$id":{"$in":[1,true]}})",
       R"(the filter has a boolean at $id.$in[1]; expected an integer or a string)"},
      {"", "the filter is not valid JSON at byte 0: The document is empty"},
      {R"({"a":1)",
       "the filter is not valid JSON at byte 6: Missing a comma or '}' after an object member"},
      {R"({"a":1} x)",
       "the filter is not valid JSON at byte 8: The document root must not be followed by other "
       "values"},
      {R"({"a":1e999})",
       "the filter is not valid JSON at byte 5: Number too big to be stored in double"},
      {std::string("{}\0{}", 5), "the filter is not valid JSON at byte 2: a zero byte"},
  };
  for (const auto& [filter, sentence] : cases) {
    INFO(filter);
    CHECK(refusal(filter) == sentence);
  }
}

TEST_CASE("what a filter may say") {
  for (const char* filter :
       {"{}", R"({"price":{"$in":[]}})", R"({"title":{"$exists":false}})",
        R"({"title":{"$not":{"$exists":true}}})", R"({"$id":{"$not":{"$in":[1,"a"]}}})",
        R"({"price":{"$gt":1,"$lt":2,"$exists":true},"tag":"a"})"}) {
    CHECK(refusal(filter) == "accepted");
  }
}

TEST_CASE("a filter nests at most 64 levels") {
  CHECK(refusal(nested(63, R"({"$not":)", "}")) == "accepted");
  CHECK(refusal(nested(64, R"({"$not":)", "}")).find("too many levels") != std::string::npos);
  CHECK(refusal(nested(63, R"({"$and":[)", "]}")) == "accepted");
  CHECK(refusal(nested(64, R"({"$and":[)", "]}")).find("; expected at most 64") !=
        std::string::npos);
  CHECK(refusal(nested(100'000, R"({"$or":[)", "]}")).find("nests deeper") != std::string::npos);
  CHECK(refusal(std::string(1'000'000, '[')).find("nests deeper") != std::string::npos);
}
