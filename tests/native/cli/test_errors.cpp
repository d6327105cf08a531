// Bad input: one line on standard error, status 2, nothing created.
#include <chrono>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>

#include "run.h"

namespace {

std::string make_store(const TestFolder& folder) {
  const std::string file = folder.write_values("rows.f32", random_rows(8, 4));
  succeed({"import", folder.path("store"), "--from", file, "--dimensions", "4", "--metric", "l2"});
  return folder.path("store");
}

}  // namespace

TEST_CASE("faulty command lines") {
  fail(2, {"--help"}, {});
  fail(2, {"frobnicate", "--help"}, {"frobnicate"});
  fail(2, {"STORE", "nearfield import --help"}, {"import"});
  fail(2, {"--from"}, {"import", "store"});
  fail(2, {"--dimensions", "\"0\"", "1 to 16384"},
       {"import", "store", "--from", "a.f32", "--dimensions", "0"});
  fail(2, {"--dimensions", "\"many\""},
       {"import", "store", "--from", "a.f32", "--dimensions", "many"});
  fail(2, {"--metric", "\"hamming\"", "cosine, l2 or dot"},
       {"import", "store", "--from", "a.f32", "--metric", "hamming"});
  fail(2, {"--storage", "\"f64\"", "f32 or f16"},
       {"import", "store", "--from", "a.f32", "--storage", "f64"});
  fail(2, {"--m", "\"1\""}, {"import", "store", "--from", "a.f32", "--m", "1"});
  fail(2, {"--threads", "\"-1\""}, {"import", "store", "--from", "a.f32", "--threads", "-1"});
  fail(2, {"--k", "\"0\""}, {"search", "store", "--queries", "q.f32", "--k", "0"});
  fail(2, {"--k", "\"1e3\""}, {"search", "store", "--queries", "q.f32", "--k", "1e3"});
  fail(2, {"--exact", "--ef"}, {"search", "store", "--queries", "q.f32", "--exact", "--ef", "9"});
  for (const std::string share : {"0", "1", "1.5", "-0.5", "nan", "high"}) {
    fail(2, {"--recall", '"' + share + '"', "above 0 and below 1"},
         {"search", "store", "--queries", "q.f32", "--recall", share});
  }
  fail(2, {"--recall", "--ef"},
       {"search", "store", "--queries", "q.f32", "--recall", "0.9", "--ef", "9"});
  fail(2, {"--recall", "--exact"},
       {"search", "store", "--queries", "q.f32", "--recall", "0.9", "--exact"});
  fail(2, {"--queries", "--text", "--where"}, {"search", "store"});
  fail(2, {"--fields", "no JSON object"},
       {"import", "store", "--from", "q.csv", "--metric", "l2", "--fields", "title"});
  fail(2, {"--ids", "--where"}, {"delete", "store"});
  fail(2, {"--format"}, {"export", "store", "file"});
}

TEST_CASE("a missing store is named and not made") {
  const TestFolder folder;
  const std::string none = folder.path("none");
  const std::string file = folder.write("file.csv", "v0\n1\n");
  const std::vector<std::vector<std::string>> commands = {
      {"search", none, "--queries", file},
      {"get", none, "1"},
      {"delete", none, "--ids", file},
      {"info", none},
      {"verify", none},
      {"pack", none, folder.path("p")},
      {"export", none, folder.path("e"), "--format", "f32"}};
  for (const auto& command : commands) fail(2, {"no store at " + none}, command);
  CHECK_FALSE(folder.has("none"));
  CHECK_FALSE(folder.has("p"));
  CHECK_FALSE(folder.has("e"));
}

TEST_CASE("things that are no store") {
  const TestFolder folder;
  const std::string file = folder.write("file.csv", "v0\n1\n");
  fail(2, {"file.csv", "directory"}, {"info", file});
  std::filesystem::create_directory(folder.path("mine"));
  folder.write("mine/letter.txt", "dear all");
  const Outcome outcome =
      nearfield({"import", folder.path("mine"), "--from", file, "--metric", "l2"});
  CHECK(outcome.status != 0);
  CHECK(outcome.error_lines() == 1);
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(folder.path("mine"))) {
    ++files;
  }
  CHECK(files == 1);
  fail(2, {"no folder"}, {"import", folder.path("a/b/c"), "--from", file, "--metric", "l2"});
}

TEST_CASE("import into a store of other options") {
  const TestFolder folder;
  const std::string store = make_store(folder);
  const std::string file = folder.path("rows.f32");
  fail(2, {"dimensions 4", "not 8"}, {"import", store, "--from", file, "--dimensions", "8"});
  fail(2, {"metric l2", "not dot"}, {"import", store, "--from", file, "--metric", "dot"});
  fail(2, {"m 16", "not 8"}, {"import", store, "--from", file, "--m", "8"});
  fail(2, {"storage f32", "not f16"}, {"import", store, "--from", file, "--storage", "f16"});
  fail(2, {"no file at"}, {"import", store, "--from", folder.path("missing.f32")});
  fail(2, {"--metric"}, {"import", folder.path("new"), "--from", file, "--dimensions", "4"});
  CHECK_FALSE(folder.has("new"));
  CHECK(succeed({"info", store, "--json"}).json().at("records") == 8);
}

TEST_CASE("values that f16 cannot hold") {
  const TestFolder folder;
  const std::string file = folder.write_values<float>("rows.f32", {1, 2, 3, 65505});
  fail(2, {"rows.f32", "row 1", "65505", "±65504"},
       {"import", folder.path("new"), "--from", file, "--dimensions", "2", "--metric", "l2",
        "--storage", "f16"});
  CHECK_FALSE(folder.has("new"));
}

TEST_CASE("a fault in the middle of a file leaves the store as it was") {
  const TestFolder folder;
  const std::string store = make_store(folder);
  fail(2, {"line 2"},
       {"import", store, "--from",
        folder.write("bad.jsonl", "{\"vector\":[1,2,3,4]}\n{\"vector\":[1]}\n")});
  CHECK(succeed({"info", store, "--json"}).json().at("records") == 8);
  succeed({"verify", store});
}

TEST_CASE("queries and ids that do not fit") {
  const TestFolder folder;
  const std::string store = make_store(folder);
  fail(2, {"multiple of 16"}, {"search", store, "--queries", folder.write("q.f32", "0123456789")});
  fail(2, {"2 dimensions", "expected 4"},
       {"search", store, "--queries",
        folder.write("q.fvecs", std::string("\2\0\0\0\0\0\0\0\0\0\0\0", 12))});
  fail(2, {"no rows"}, {"search", store, "--queries", folder.write("none.f32", "")});
  fail(2, {"no file"}, {"delete", store, "--ids", folder.path("missing")});
  fail(2, {"line 2", "64-bit"},
       {"delete", store, "--ids", folder.write("ids", "1\n99999999999999999999\n")});
  fail(2, {"line 1", "quote"}, {"delete", store, "--ids", folder.write("ids", "\"open\n")});
  fail(2, {"no record", "99"}, {"get", store, "99"});

  const std::string texts = folder.path("texts");
  succeed({"import", texts, "--metric", "l2", "--from",
           folder.write("a.jsonl", "{\"id\":\"a\",\"vector\":[1]}\n")});
  const std::string query = folder.write_values<float>("one.f32", {1.0f});
  fail(2, {"\"a\"", "--ids"}, {"search", texts, "--queries", query, "--ids", folder.path("out")});
  CHECK_FALSE(folder.has("out"));
  succeed({"import", folder.path("big"), "--metric", "l2", "--from",
           folder.write("b.jsonl", "{\"id\":2147483648,\"vector\":[1]}\n")});
  fail(2, {"2147483648", "--ids"},
       {"search", folder.path("big"), "--queries", query, "--ids", folder.path("out")});
}

TEST_CASE("links and devices are written through") {
  const TestFolder folder;
  const std::string store = make_store(folder);
  const std::string link = folder.path("link");
  folder.write("target", "old");
  std::filesystem::create_symlink(folder.path("target"), link);
  fail(2, {"--force"}, {"export", store, link, "--format", "f32"});
  succeed({"export", store, link, "--format", "f32", "--force"});
  CHECK(std::filesystem::is_symlink(link));
  CHECK(read_file(folder.path("target")) == read_file(folder.path("rows.f32")));
  CHECK(succeed({"export", store, "/dev/stdout", "--format", "f32"}).out ==
        read_file(folder.path("rows.f32")));
  std::filesystem::remove(link);
  std::filesystem::create_symlink("/dev/null", link);
  succeed({"pack", store, link});
  CHECK(std::filesystem::is_symlink(link));
}

TEST_CASE("files inside a store are left alone") {
  const TestFolder folder;
  const std::string store = make_store(folder);
  const std::string packed = folder.path("packed");
  fail(2, {"inside the store"}, {"pack", store, store + "/packed"});
  fail(2, {"inside the store"}, {"export", store, store + "/out", "--format", "f32"});
  succeed({"pack", store, packed});
  folder.write("store/letter.txt", "dear all");
  fail(2, {"letter.txt"}, {"unpack", packed, store, "--force"});
  CHECK(folder.has("store/letter.txt"));
  std::filesystem::remove(folder.path("store/letter.txt"));
  std::filesystem::create_symlink(store, folder.path("link"));
  succeed({"unpack", packed, folder.path("link"), "--force"});
  CHECK(std::filesystem::is_symlink(folder.path("link")));
  succeed({"verify", store});
}

TEST_CASE("places that cannot be") {
  const TestFolder folder;
  const std::string store = make_store(folder);
  const std::string file = folder.path("rows.f32");
  for (const std::string& place : {file + "/x", folder.path(std::string(300, 'x'))}) {
    fail(2, {"no store can be there"},
         {"import", place, "--from", file, "--dimensions", "4", "--metric", "l2"});
    fail(2, {"cannot be written"}, {"export", store, place, "--format", "f32"});
  }
  fail(2, {"--k", "possible"},
       {"search", store, "--queries", file, "--k", "2147483647", "--ids", folder.path("ids")});
  std::filesystem::create_directory(folder.path("foreign"));
  folder.write("foreign/manifest-00000000000000000001.nf", "something else");
  fail(2, {"foreign"}, {"delete", folder.path("foreign"), "--ids", folder.write("ids", "1\n")});
  CHECK_FALSE(folder.has("foreign/lock"));
  succeed({"delete", store, "--ids",
           folder.write("ids",
                        "\xef\xbb\xbf"
                        "1\n")});
  fail(2, {"no record"}, {"get", store, "1"});
}

TEST_CASE("reading changes nothing") {
  const TestFolder folder;
  const std::string store = make_store(folder);
  std::filesystem::remove(store + "/lock");
  succeed({"info", store});
  succeed({"search", store, "--queries", folder.path("rows.f32")});
  succeed({"verify", store});
  succeed({"get", store, "0"});
  CHECK_FALSE(folder.has("store/lock"));
}

TEST_CASE("a store that another program writes to") {
  const TestFolder folder;
  const std::string store = make_store(folder);
  const int descriptor = open((store + "/lock").c_str(), O_RDWR | O_CREAT, 0666);
  REQUIRE(flock(descriptor, LOCK_EX | LOCK_NB) == 0);
  fail(1, {"another program"}, {"import", store, "--from", folder.path("rows.f32")});
  fail(1, {"another program"}, {"delete", store, "--ids", folder.write("ids", "1\n")});
  succeed({"info", store});
  close(descriptor);
  succeed({"delete", store, "--ids", folder.path("ids")});
}

TEST_CASE("an interrupted import leaves nothing") {
  const TestFolder folder;
  const std::string file = folder.write_values("rows.f32", random_rows(60000, 64));
  const std::string store = folder.path("store");
  const std::string err = folder.path("err");
  const pid_t child = fork();
  if (child == 0) {
    const int descriptor = open(err.c_str(), O_WRONLY | O_CREAT, 0666);
    dup2(descriptor, STDERR_FILENO);
    execl(NEARFIELD_PROGRAM, "nearfield", "import", store.c_str(), "--from", file.c_str(),
          "--dimensions", "64", "--metric", "l2", "--threads", "1", nullptr);
    _exit(127);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(child, SIGINT);
  int raw = 0;
  waitpid(child, &raw, 0);
  REQUIRE(WIFEXITED(raw));
  CHECK(WEXITSTATUS(raw) == 130);
  CHECK(read_file(err) == "nearfield: interrupted; the store is as it was before\n");
  CHECK_FALSE(folder.has("store"));
}
