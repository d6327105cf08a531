// Fields, filters and texts on the command line.
#include <catch2/catch_test_macros.hpp>

#include "run.h"

namespace {

const char* const kFields = R"({"title":"text","tag":"tag","price":"number","sku":"keyword"})";

// A store of three products with fields.
std::string shop(const TestFolder& folder) {
  const std::string rows = folder.write(
      "rows.jsonl",
      R"({"id":1,"vector":[1,0],"metadata":{"title":"Wireless earbuds","tag":["audio","sale"],"price":79.5,"sku":"IT-500"}}
{"id":2,"vector":[0.9,0.1],"metadata":{"title":"Wired headphones","tag":"audio","price":120,"sku":"IT-501"}}
{"id":3,"vector":[0,1],"metadata":{"title":"東京タワー","tag":"travel"}}
)");
  const std::string store = folder.path("store");
  succeed({"import", store, "--from", rows, "--metric", "cosine", "--fields", kFields});
  return store;
}

std::vector<int32_t> ids(const TestFolder& folder, std::vector<std::string> arguments) {
  const std::string out = folder.path("ids.i32");
  arguments.insert(arguments.end(), {"--k", "3", "--ids", out});
  succeed(arguments);
  return read_values<int32_t>(out);
}

using Ids = std::vector<int32_t>;

}  // namespace

TEST_CASE("searches by filter, by text, and by both beside a vector") {
  const TestFolder folder;
  const std::string store = shop(folder);
  const std::string query = folder.write_values<float>("q.f32", {0, 1});
  CHECK(ids(folder, {"search", store, "--where", R"({"price":{"$lt":100}})"}) == Ids{1, -1, -1});
  CHECK(ids(folder, {"search", store, "--where", "{}", "--offset", "1"}) == Ids{2, 3, -1});
  CHECK(ids(folder, {"search", store, "--text", "it-501"}) == Ids{2, -1, -1});
  CHECK(ids(folder, {"search", store, "--text", "wire*", "--where", R"({"tag":"sale"})"}) ==
        Ids{1, -1, -1});
  CHECK(ids(folder, {"search", store, "--queries", query, "--where", R"({"tag":"audio"})"}) ==
        Ids{2, 1, -1});
  CHECK(ids(folder, {"search", store, "--queries", query, "--text", "東京"}).front() == 3);
  const Json answer =
      succeed({"search", store, "--queries", query, "--where", R"({"tag":"audio"})", "--json"})
          .json();
  CHECK(answer["matches"] == 2);
  CHECK(answer["plan"] == "scan");
  fail(2, {"--where", "$lx", "$lte"}, {"search", store, "--where", R"({"price":{"$lx":1}})"});
}

TEST_CASE("fields are shown and declared anew; a filter deletes") {
  const TestFolder folder;
  const std::string store = shop(folder);
  CHECK(succeed({"fields", store}).json() == Json::parse(kFields));
  CHECK(succeed({"info", store, "--json"}).json()["fields"] == Json::parse(kFields));
  fail(2, {"title", "expected a number"}, {"fields", store, "--set", R"({"title":"number"})"});
  succeed({"fields", store, "--set", R"({"title":{"type":"text","prefix":false}})"});
  CHECK(ids(folder, {"search", store, "--text", "wire*"}) == Ids{-1, -1, -1});
  fail(2, {"has fields"},
       {"import", store, "--from", folder.path("rows.jsonl"), "--fields", kFields});
  succeed({"delete", store, "--where", R"({"tag":"audio"})"});
  CHECK(ids(folder, {"search", store, "--where", "{}"}) == Ids{3, -1, -1});
  succeed({"verify", store});
}
