// kill_check: a program that stores batches is killed at random moments, again and again; whatever
// it acknowledged is there when the store is opened next.
//
// The child writes batches into a folder, flushes each and then reports its number through a pipe,
// so that the parent knows what was acknowledged before the signal.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "nearfield/database.h"
#include "posix_storage.h"

namespace {

using namespace nearfield;
namespace fs = std::filesystem;

constexpr const char* kHelp =
    "kill_check [--kills N] [--seed S]\n"
    "\n"
    "Kills a program that stores batches N times (30) at moments drawn from S (1), reopens the "
    "store\n"
    "each time and looks for every acknowledged batch, whole. The last line is\n"
    "\"kills: N, batches: N, violations: N\"; the status is 1 when there are violations.\n";

constexpr uint32_t kDimensions = 4;
constexpr int64_t kRows = 40;               // of a batch
constexpr int64_t kOldest = 60;             // batches that are kept; older ones are deleted
constexpr uint32_t kLongestLife = 120'000;  // microseconds

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "kill_check: %s\n", what.c_str());
  std::exit(2);
}

template <class T>
T take(Result<T> result, const char* what) {
  if (!result.ok()) fail(std::string(what) + ": " + result.error().detail);
  return std::move(result).value();
}

std::unique_ptr<Database> open(const std::string& folder) {
  auto storage = take(PosixStorage::open(folder, Access::kWrite), "the storage");
  return take(Database::open(std::move(storage), {}), "the store");
}

Collection& docs(Database& database) {
  Collection& collection =
      *take(database.collection("docs", {.dimensions = kDimensions}), "the collection");
  const Field fields[] = {{"batch", FieldType::kNumber}, {"text", FieldType::kText}};
  if (!collection.set_fields(fields).ok()) fail("the fields are refused");
  return collection;
}

// Batch `number`: its rows, and the batch that has become too old goes.
void store_batch(Collection& collection, int64_t number) {
  std::vector<float> vectors;
  std::vector<IdView> ids;
  const std::string text =
      R"({"batch":)" + std::to_string(number) + R"(,"text":"word)" + std::to_string(number) + "\"}";
  for (int64_t row = 0; row < kRows; ++row) {
    ids.emplace_back(number * kRows + row);
    for (uint32_t i = 0; i < kDimensions; ++i)
      vectors.push_back(static_cast<float>(random_below(7, ids.size() * kDimensions + i, 1000)));
  }
  const std::vector<std::string_view> metadata(ids.size(), text);
  (void)take(collection.upsert({vectors, ids, metadata}), "the upsert");
  std::vector<IdView> old;
  for (int64_t row = 0; row < kRows; ++row) old.emplace_back((number - kOldest) * kRows + row);
  (void)take(collection.remove(old), "the removal");
}

// Stores batches from `next` on until it is killed.
[[noreturn]] void be_child(const std::string& folder, int64_t next, int acknowledgements) {
  const auto database = open(folder);
  Collection& collection = docs(*database);
  for (;; ++next) {
    store_batch(collection, next);
    if (collection.wants_link() && !collection.link(500).ok()) fail("linking");
    if (!database->flush().ok()) fail("the flush");
    if (::write(acknowledgements, &next, sizeof next) != sizeof next) fail("the pipe");
  }
}

// Lets a child work for some time; returns the last batch that it acknowledged.
int64_t run_child(const std::string& folder, int64_t next, useconds_t life) {
  int ends[2];
  if (::pipe(ends) != 0) fail("no pipe");
  const pid_t child = ::fork();
  if (child < 0) fail("no process");
  if (child == 0) {
    ::close(ends[0]);
    be_child(folder, next, ends[1]);
  }
  ::close(ends[1]);
  ::usleep(life);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFSIGNALED(status)) fail("the program ended by itself");
  int64_t acknowledged = next - 1;
  int64_t number = 0;
  while (::read(ends[0], &number, sizeof number) == sizeof number) acknowledged = number;
  ::close(ends[0]);
  return acknowledged;
}

// What is wrong with the store, or nothing. It holds the batches up to `acknowledged`, or one more.
// `last` is set to the newest there.
std::string violation(const std::string& folder, int64_t acknowledged, int64_t& last) {
  const auto database = open(folder);
  const auto report = take(database->verify(), "verify");
  if (!report.problems.empty()) return "verify finds: " + report.problems.front();
  last = -1;
  if (database->names().empty()) return acknowledged < 0 ? "" : "the collection is gone";
  Collection& collection = **database->find("docs");
  const auto rows_of = [&](int64_t batch) {
    const std::string filter = R"({"batch":)" + std::to_string(batch) + "}";
    return static_cast<int64_t>(take(collection.select(filter), "a filter").count);
  };
  last = rows_of(acknowledged + 1) > 0 ? acknowledged + 1 : acknowledged;
  const int64_t first = std::max<int64_t>(0, last - kOldest + 1);
  for (int64_t batch = first; batch <= last; ++batch) {
    if (rows_of(batch) != kRows)
      return "batch " + std::to_string(batch) + " has " + std::to_string(rows_of(batch)) + " rows";
  }
  const auto expected = static_cast<uint64_t>((last - first + 1) * kRows);
  if (collection.count() != expected)
    return std::to_string(collection.count()) + " rows, expected " + std::to_string(expected);
  if (last >= 0) {
    SearchScratch scratch;
    const std::string word = "word" + std::to_string(last);
    RankOptions options;
    options.text = TextOptions{.query = word};
    if (take(collection.rank(options, scratch), "a text").text_matches != uint64_t{kRows})
      return "the words of the last batch are not all found";
  }
  return {};
}

std::optional<uint64_t> number_after(int count, char** arguments, std::string_view name) {
  for (int i = 1; i + 1 < count; ++i) {
    if (arguments[i] != name) continue;
    const std::string_view text = arguments[i + 1];
    uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) return value;
    fail(std::string(name) + " is followed by no number");
  }
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "--help") == 0) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  const uint64_t kills = number_after(count, arguments, "--kills").value_or(30);
  const uint64_t seed = number_after(count, arguments, "--seed").value_or(1);
  std::string folder = (fs::temp_directory_path() / "nearfield-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) fail("no temporary folder");

  uint64_t violations = 0;
  int64_t last = -1;
  for (uint64_t kill = 0; kill < kills && violations == 0; ++kill) {
    const int64_t acknowledged =
        run_child(folder + "/store", last + 1, 500 + random_below(seed, kill, kLongestLife));
    const std::string what = violation(folder + "/store", acknowledged, last);
    if (what.empty()) continue;
    ++violations;
    std::printf("violation after kill %llu: %s\n", static_cast<unsigned long long>(kill + 1),
                what.c_str());
  }
  fs::remove_all(folder);
  std::printf("kills: %llu, batches: %lld, violations: %llu\n",
              static_cast<unsigned long long>(kills), static_cast<long long>(last + 1),
              static_cast<unsigned long long>(violations));
  return violations == 0 ? 0 : 1;
}
