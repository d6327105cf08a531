// What is asked of the disk, and when: fsync, as this program is linked, passes here.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "nearfield/database.h"
#include "posix_storage.h"
#include "scratch.h"

namespace fs = std::filesystem;

namespace {

struct Synced {
  std::string path;
  std::vector<std::string> beside;  // names in its folder at that time
};
std::vector<Synced> synced;
int refused = 0;  // of the next calls, by how many the last one is refused; 0: none

std::string path_of(int descriptor) {
  return fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor)).string();
}

}  // namespace

// The names that the linker's option --wrap gives.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" int __real_fsync(int descriptor);
extern "C" int __wrap_fsync(int descriptor);

extern "C" int __wrap_fsync(int descriptor) {
  if (refused > 0 && --refused == 0) {
    errno = EIO;
    return -1;
  }
  Synced call{path_of(descriptor), {}};
  fs::path folder = call.path;
  if (!fs::is_directory(folder)) folder = folder.parent_path();
  for (const auto& entry : fs::directory_iterator(folder))
    call.beside.push_back(entry.path().filename().string());
  synced.push_back(std::move(call));
  return __real_fsync(descriptor);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace nearfield {
namespace {

std::unique_ptr<Database> open(const std::string& path, Durability durability) {
  auto storage = PosixStorage::open(path, Access::kWrite, durability);
  REQUIRE(storage.ok());
  auto database = Database::open(std::move(storage).value(), {});
  REQUIRE(database.ok());
  return std::move(database).value();
}

Result<void> add_row(Database& database, int64_t id) {
  auto docs = database.collection("docs", {.dimensions = 2});
  REQUIRE(docs.ok());
  const std::vector<float> vector = {1, 2};
  const std::vector<IdView> ids = {id};
  REQUIRE((*docs)->upsert({vector, ids}).ok());
  return database.flush();
}

// The place of the first call for a path that ends so, or the number of calls.
size_t place(const std::string& end, size_t from = 0) {
  const auto found = std::find_if(synced.begin() + static_cast<ptrdiff_t>(from), synced.end(),
                                  [&](const Synced& call) { return call.path.ends_with(end); });
  return static_cast<size_t>(found - synced.begin());
}

bool beside(const Synced& call, const std::string& name) {
  return std::find(call.beside.begin(), call.beside.end(), name) != call.beside.end();
}

constexpr const char* kFirst = "manifest-00000000000000000001.nf";
constexpr const char* kSecond = "manifest-00000000000000000002.nf";

TEST_CASE("a flush syncs data, then names, then writes the manifest and syncs it and its name") {
  const Scratch scratch;
  const auto database = open(scratch / "store", Durability::kFull);
  REQUIRE(add_row(*database, 1).ok());
  synced.clear();
  REQUIRE(add_row(*database, 2).ok());
  const size_t data = place("data-0000000002.nf");
  const size_t data_name = place("/store", data);
  const size_t manifest = place(kSecond, data_name);
  const size_t manifest_name = place("/store", manifest);
  REQUIRE(manifest_name < synced.size());
  CHECK_FALSE(beside(synced[data], kSecond));
  CHECK_FALSE(beside(synced[data_name], kSecond));
  CHECK(beside(synced[manifest], kFirst));  // the old state stays until the new one is durable
  CHECK(beside(synced[manifest_name], kFirst));
  CHECK(beside(synced[manifest_name], "data-0000000001.nf"));
  CHECK_FALSE(fs::exists(fs::path(scratch / "store") / kFirst));
}

TEST_CASE("the folder of a new store is synced in the one that it is in") {
  const Scratch scratch;
  const auto database = open(scratch / "store", Durability::kFull);
  synced.clear();
  REQUIRE(add_row(*database, 1).ok());
  REQUIRE_FALSE(synced.empty());
  CHECK(synced.front().path == fs::path(scratch / "store").parent_path());
  CHECK(beside(synced.front(), "store"));
}

TEST_CASE("without durability nothing is synced, and a later program reads it all") {
  const Scratch scratch;
  synced.clear();
  REQUIRE(add_row(*open(scratch / "store", Durability::kNone), 1).ok());
  REQUIRE(add_row(*open(scratch / "store", Durability::kNone), 2).ok());
  CHECK(synced.empty());
  const auto database = open(scratch / "store", Durability::kFull);
  CHECK((*database->find("docs"))->count() == 2);
  CHECK(database->verify()->problems.empty());
}

TEST_CASE("whichever fsync fails, the flush does and the old state is there; the next succeeds") {
  for (int n = 1; n <= 4; ++n) {
    CAPTURE(n);
    const Scratch scratch;
    auto database = open(scratch / "store", Durability::kFull);
    REQUIRE(add_row(*database, 1).ok());
    refused = n;
    const auto flushed = add_row(*database, 2);
    refused = 0;
    REQUIRE_FALSE(flushed.ok());
    CHECK(flushed.error().code == ErrorCode::kIo);
    CHECK((*database->find("docs"))->count() == 2);  // in memory
    auto reader = PosixStorage::open(scratch / "store", Access::kRead);
    REQUIRE(reader.ok());
    const auto old = Database::open(std::move(reader).value(), {.read_only = true});
    REQUIRE(old.ok());
    CHECK((*(*old)->find("docs"))->count() == 1);
    REQUIRE(database->flush().ok());
    database.reset();
    CHECK((*open(scratch / "store", Durability::kFull)->find("docs"))->count() == 2);
  }
}

}  // namespace
}  // namespace nearfield
