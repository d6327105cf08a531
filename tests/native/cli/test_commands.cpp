// What every command does when all is well.
#include <algorithm>
#include <cmath>
#include <map>

#include <catch2/catch_test_macros.hpp>

#include "run.h"

namespace {

constexpr size_t kDimensions = 16;

std::vector<std::string> import_new(const std::string& store, const std::string& file) {
  return {"import",   store,    "--from", file, "--dimensions", std::to_string(kDimensions),
          "--metric", "cosine", "--json"};
}

// A store of `rows` random rows, "store" in the folder; the rows are "rows.f32".
std::string make_store(const TestFolder& folder, size_t rows) {
  const std::string file = folder.write_values("rows.f32", random_rows(rows, kDimensions));
  succeed(import_new(folder.path("store"), file));
  return folder.path("store");
}

std::vector<int32_t> search_ids(const TestFolder& folder, const std::string& store,
                                const std::string& queries, std::vector<std::string> more) {
  const std::string out = folder.path("found.i32");
  std::vector<std::string> arguments = {"search", store, "--queries", queries, "--ids", out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  succeed(arguments);
  return read_values<int32_t>(out);
}

}  // namespace

TEST_CASE("commands that write take a durability, which changes nothing of what is stored") {
  const TestFolder folder;
  const std::string rows = folder.write_values("rows.f32", random_rows(10, kDimensions));
  const std::string ids = folder.write("ids", "3\n");
  const std::string pack = folder.path("pack");
  std::map<std::string, std::string> packed;
  for (const std::string word : {"full", "none"}) {
    const std::string store = folder.path(word);
    auto import = import_new(store, rows);
    import.insert(import.end(), {"--durability", word});
    succeed(import);
    succeed({"delete", store, "--ids", ids, "--durability", word});
    succeed({"compact", store, "--durability", word});
    succeed({"fields", store, "--set", R"({"t":"tag"})", "--durability", word});
    succeed({"pack", store, pack, "--force"});
    packed[word] = read_file(pack);
    succeed({"unpack", pack, store, "--force", "--durability", word});
    succeed({"verify", store});
  }
  CHECK(packed["full"] == packed["none"]);
  fail(2, {"--durability", "half", "full or none"},
       {"delete", folder.path("full"), "--ids", ids, "--durability", "half"});
}

TEST_CASE("import and search find what a scan finds") {
  const TestFolder folder;
  const std::string file = folder.write_values("rows.f32", random_rows(3000, kDimensions));
  const std::string store = folder.path("store");
  const Json report = succeed(import_new(store, file)).json();
  CHECK(report.at("records") == 3000);
  CHECK(report.at("imported") == 3000);
  CHECK(report.at("peak_rss_bytes") > 3000 * kDimensions * 4);
  CHECK(report.at("bytes") > 3000 * kDimensions * 4);
  CHECK(report.at("load_seconds") > 0);
  CHECK(report.contains("build_seconds"));

  const std::string queries = folder.write_values("queries.f32", random_rows(50, kDimensions, 2));
  const auto exact = search_ids(folder, store, queries, {"--exact"});
  const auto walked = search_ids(folder, store, queries, {"--ef", "200", "--threads", "2"});
  REQUIRE(exact.size() == 500);
  REQUIRE(walked.size() == 500);
  size_t same = 0;
  for (size_t i = 0; i < 50; ++i) {
    for (size_t j = 0; j < 10; ++j) {
      same += std::count(&exact[i * 10], &exact[i * 10] + 10, walked[i * 10 + j]) > 0 ? 1 : 0;
    }
  }
  CHECK(same >= 490);

  const auto computed = [&](const char* option, const char* value) {
    return succeed({"search", store, "--queries", queries, "--json", option, value})
        .json()
        .at("distance_computations")
        .get<uint64_t>();
  };
  CHECK(computed("--recall", "0.8") < computed("--recall", "0.99"));
  CHECK(computed("--ef", "20") < computed("--ef", "200"));

  const Json measured =
      succeed({"search", store, "--queries", queries, "--json", "--k", "5"}).json();
  CHECK(measured.at("queries") == 50);
  CHECK(measured.at("k") == 5);
  CHECK(measured.at("ef").is_null());
  CHECK(measured.at("recall") == 0.98);
  CHECK(measured.at("threads") == 1);
  CHECK(measured.at("rows_min") == 5);
  CHECK(measured.at("distance_computations") > 0);
  for (const char* name : {"seconds", "qps", "p50_us", "p99_us", "open_ms"}) {
    CHECK(measured.at(name) > 0);
  }
  const std::string table = succeed({"search", store, "--queries", queries}).out;
  CHECK(table.find("query 0\n") != std::string::npos);
  CHECK(table.find("45 queries more") != std::string::npos);
}

TEST_CASE("fewer records than k: all of them, then -1") {
  const TestFolder folder;
  const std::string store = make_store(folder, 3);
  const auto ids = search_ids(folder, store, folder.path("rows.f32"), {"--k", "5"});
  REQUIRE(ids.size() == 15);
  CHECK(ids[0] == 0);
  CHECK(ids[3] == -1);
  CHECK(ids[4] == -1);
}

TEST_CASE("the number of threads does not show in the store") {
  const TestFolder folder;
  const std::string file = folder.write_values("rows.f32", random_rows(2000, kDimensions));
  std::map<std::string, std::string> files[2];
  for (const int i : {0, 1}) {
    auto arguments = import_new(folder.path(std::to_string(i)), file);
    arguments.insert(arguments.end(), {"--threads", i == 0 ? "1" : "3"});
    succeed(arguments);
    for (const auto& entry : std::filesystem::directory_iterator(folder.path(std::to_string(i)))) {
      files[i][entry.path().filename()] = read_file(entry.path());
    }
  }
  CHECK(files[0] == files[1]);
}

TEST_CASE("appending continues the row numbers and needs no options") {
  const TestFolder folder;
  const std::string store = make_store(folder, 10);
  const std::string more = folder.write_values("more.f32", random_rows(5, kDimensions, 3));
  const Json report = succeed({"import", store, "--from", more, "--json"}).json();
  CHECK(report.at("records") == 15);
  CHECK(report.at("imported") == 5);
  CHECK(report.at("replaced") == 0);
  succeed({"get", store, "14"});

  // With a hole in the numbers, no existing record is replaced.
  succeed({"delete", store, "--ids", folder.write("ids", "3\n")});
  CHECK(succeed({"import", store, "--from", more, "--json"}).json().at("records") == 19);
  succeed({"get", store, "19"});

  const std::string same =
      folder.write("same.jsonl", "{\"id\":0,\"vector\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}\n");
  const Json replaced = succeed({"import", store, "--from", same, "--json"}).json();
  CHECK(replaced.at("records") == 19);
  CHECK(replaced.at("replaced") == 1);
}

TEST_CASE("deleting removes exactly the listed ids, by type") {
  const TestFolder folder;
  const std::string store = folder.path("store");
  succeed({"import", store, "--metric", "l2", "--from",
           folder.write("a.jsonl",
                        "{\"id\":7,\"vector\":[1]}\n{\"id\":\"7\",\"vector\":[2]}\n"
                        "{\"id\":\"a b\",\"vector\":[3]}\n{\"id\":8,\"vector\":[4]}\n")});
  const Json report =
      succeed({"delete", store, "--ids", folder.write("ids", "\"7\"\r\n\na b\n99\n"), "--json"})
          .json();
  CHECK(report.at("deleted") == 2);
  CHECK(report.at("records") == 2);
  succeed({"get", store, "7"});
  fail(2, {"no record", "\"7\""}, {"get", store, "7", "--text-id"});
  fail(2, {"no record", "\"a b\""}, {"get", store, "a b"});
  const auto ids =
      search_ids(folder, store, folder.write_values<float>("q.f32", {3.0f}), {"--k", "2"});
  CHECK(ids == std::vector<int32_t>{8, 7});
}

TEST_CASE("compact gives back the room of deleted rows and keeps the answers") {
  const TestFolder folder;
  const std::string store = make_store(folder, 3000);
  std::string ids;
  for (int id = 0; id < 300; ++id) ids += std::to_string(10 * id) + "\n";
  succeed({"delete", store, "--ids", folder.write("ids", ids)});
  const std::string queries = folder.write_values("q.f32", random_rows(20, kDimensions, 9));
  const auto before = search_ids(folder, store, queries, {"--k", "5", "--exact"});
  CHECK(succeed({"info", store, "--json"}).json().at("graph").at("rows") == 3000);
  const Json report = succeed({"compact", store, "--json"}).json();
  CHECK(report.at("removed") == 300);
  CHECK(report.at("records") == 2700);
  CHECK(report.at("bytes") < report.at("bytes_before"));
  CHECK(succeed({"info", store, "--json"}).json().at("graph").at("linked") == 2700);
  CHECK(search_ids(folder, store, queries, {"--k", "5", "--exact"}) == before);
  succeed({"verify", store});
  CHECK(succeed({"compact", store, "--json"}).json().at("removed") == 0);
  fail(2, {"no-store"}, {"compact", folder.path("no-store")});
}

TEST_CASE("info describes the store") {
  const TestFolder folder;
  const std::string store = make_store(folder, 2000);
  const Json info = succeed({"info", store, "--json"}).json();
  CHECK(info.at("records") == 2000);
  CHECK(info.at("dimensions") == kDimensions);
  CHECK(info.at("metric") == "cosine");
  CHECK(info.at("storage") == "f32");
  CHECK(info.at("bytes") > 0);
  CHECK(info.at("bytes_by_kind").is_object());
  CHECK(info.at("format_version") >= 1);
  CHECK(info.at("graph").at("m") == 16);
  CHECK(info.at("graph").at("ef_construction") == 200);
  CHECK(info.at("graph").at("linked") == 2000);
  CHECK(info.at("collections").contains("default"));
  CHECK(succeed({"info", store}).out.find("2,000") != std::string::npos);
}

TEST_CASE("f16 rows: rounded, smaller, and found") {
  const TestFolder folder;
  const std::string file = folder.write_values("rows.f32", random_rows(2000, 64));
  for (const char* storage : {"f32", "f16"}) {
    succeed({"import", folder.path(storage), "--from", file, "--dimensions", "64", "--metric",
             "cosine", "--storage", storage});
    CHECK(succeed({"info", folder.path(storage), "--json"}).json().at("storage") == storage);
    succeed({"verify", folder.path(storage)});
  }
  const auto row_bytes = [&](const char* storage) -> size_t {
    const Json info = succeed({"info", folder.path(storage), "--json"}).json();
    return info.at("bytes_by_kind").at("rows");
  };
  CHECK(row_bytes("f32") - row_bytes("f16") == 2000 * 64 * 2);
  CHECK(succeed({"info", folder.path("f16")}).out.find("kept as f16") != std::string::npos);

  succeed({"export", folder.path("f16"), folder.path("out.f32"), "--format", "f32"});
  const auto given = read_values<float>(file);
  const auto kept = read_values<float>(folder.path("out.f32"));
  REQUIRE(kept.size() == given.size());
  CHECK(kept != given);
  for (size_t i = 0; i < kept.size(); ++i) {
    REQUIRE(std::abs(kept[i] - given[i]) <= std::abs(given[i]) / 2048 + 0x1p-25f);
  }
  // Rows that are rounded already stay as they are.
  succeed({"import", folder.path("again"), "--from", folder.path("out.f32"), "--dimensions", "64",
           "--metric", "cosine", "--storage", "f16"});
  succeed({"export", folder.path("again"), folder.path("again.f32"), "--format", "f32"});
  CHECK(read_values<float>(folder.path("again.f32")) == kept);

  const auto ids = search_ids(folder, folder.path("f16"), file, {"--k", "1", "--ef", "200"});
  size_t itself = 0;
  for (size_t i = 0; i < ids.size(); ++i) itself += ids[i] == static_cast<int32_t>(i) ? 1 : 0;
  CHECK(itself >= 1990);
}

TEST_CASE("several collections in one store") {
  const TestFolder folder;
  const std::string store = make_store(folder, 10);
  succeed({"import", store, "--collection", "other", "--metric", "l2", "--from",
           folder.write("b.csv", "v0,v1\n1,2\n")});
  CHECK(succeed({"info", store, "--json"}).json().at("collections").size() == 2);
  CHECK(succeed({"info", store, "--collection", "other", "--json"}).json().at("dimensions") == 2);
  succeed({"get", store, "0", "--collection", "other"});
  fail(2, {"several", "default, other"}, {"get", store, "0"});
  fail(2, {"\"third\"", "default, other"}, {"get", store, "0", "--collection", "third"});
}

TEST_CASE("pack and unpack give the same store") {
  const TestFolder folder;
  const std::string store = make_store(folder, 1500);
  const std::string file = folder.path("store.pack");
  succeed({"pack", store, file});
  fail(2, {"exists", "--force"}, {"pack", store, file});
  succeed({"pack", store, file, "--force"});

  const std::string copy = folder.path("copy");
  succeed({"unpack", file, copy});
  fail(2, {"exists", "--force"}, {"unpack", file, copy});
  succeed({"unpack", file, copy, "--force"});
  succeed({"verify", copy});
  CHECK(search_ids(folder, store, folder.path("rows.f32"), {}) ==
        search_ids(folder, copy, folder.path("rows.f32"), {}));

  std::filesystem::create_directory(folder.path("mine"));
  folder.write("mine/letter.txt", "dear all");
  fail(2, {"mine"}, {"unpack", file, folder.path("mine"), "--force"});
  CHECK(folder.has("mine/letter.txt"));
  fail(2, {"rows.f32"}, {"unpack", folder.path("rows.f32"), folder.path("new")});
  CHECK_FALSE(folder.has("new"));
  const std::string whole = read_file(file);
  fail(2, {"cut.pack"},
       {"unpack", folder.write("cut.pack", whole.substr(0, whole.size() - 100)), copy, "--force"});
  succeed({"verify", copy});
}

TEST_CASE("export gives back what was imported") {
  const TestFolder folder;
  const std::string store = make_store(folder, 20);
  const std::string f32 = folder.path("out.f32");
  succeed({"export", store, f32, "--format", "f32"});
  CHECK(read_file(f32) == read_file(folder.path("rows.f32")));
  fail(2, {"exists", "--force"}, {"export", store, f32, "--format", "f32"});

  succeed({"export", store, folder.path("out.npy"), "--format", "npy"});
  succeed(
      {"import", folder.path("from npy"), "--from", folder.path("out.npy"), "--metric", "cosine"});

  const std::string records = folder.path("records");
  const std::string lines =
      "{\"id\":\"z\",\"vector\":[0.1,-2.5e-08],\"metadata\":{\"b\":1,\"a\":\"ü\"}}\n"
      "{\"id\":-3,\"vector\":[1,2]}\n";
  succeed({"import", records, "--metric", "dot", "--from", folder.write("in.jsonl", lines)});
  succeed({"delete", records, "--ids", folder.write("ids", "nothing\n")});
  succeed({"export", records, folder.path("out.jsonl"), "--format", "jsonl"});
  CHECK(read_file(folder.path("out.jsonl")).find("\"metadata\":{\"b\":1,\"a\":\"ü\"}") !=
        std::string::npos);
  succeed({"import", folder.path("again"), "--metric", "dot", "--from", folder.path("out.jsonl")});
  CHECK(succeed({"get", folder.path("again"), "z", "--json"}).out ==
        succeed({"get", records, "z", "--json"}).out);
}

TEST_CASE("verify accepts a good store and reports a damaged one") {
  const TestFolder folder;
  const std::string store = make_store(folder, 2000);
  const Json good = succeed({"verify", store, "--json"}).json();
  CHECK(good.at("ok") == true);
  CHECK(good.at("rows") == 2000);
  CHECK(good.at("problems").empty());

  // A byte in the middle of the largest file.
  std::filesystem::path largest;
  for (const auto& entry : std::filesystem::directory_iterator(store)) {
    if (largest.empty() || entry.file_size() > std::filesystem::file_size(largest)) largest = entry;
  }
  std::string bytes = read_file(largest);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  folder.write("store/" + largest.filename().string(), bytes);
  fail(1, {"damaged"}, {"verify", store});
  const Outcome report = nearfield({"verify", store, "--json"});
  CHECK(report.status == 1);
  CHECK(report.json().at("ok") == false);
  CHECK(report.json().at("problems").size() >= 1);
}

TEST_CASE("kernels and help") {
  const Json kernels = succeed({"kernels", "--json"}).json();
  CHECK(std::count(kernels.at("available").begin(), kernels.at("available").end(),
                   kernels.at("in_use")) == 1);
  CHECK(succeed({"--version"}).out.starts_with("nearfield "));
  CHECK(succeed({"--help"}).out.find("import") != std::string::npos);
  for (const char* command : {"import", "search", "get", "delete", "compact", "info", "verify",
                              "pack", "unpack", "export", "kernels"}) {
    CHECK(succeed({command, "--help"}).out.find("Usage") != std::string::npos);
  }
}
