#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "posix_storage.h"
#include "scratch.h"
#include "store/store.h"

namespace nearfield {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> pattern(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 256);
  return bytes;
}

std::unique_ptr<PosixStorage> writable(const std::string& path) {
  auto storage = PosixStorage::open(path, Access::kWrite);
  if (!storage.ok()) FAIL(storage.error().detail);
  return std::move(storage).value();
}

void write_file(Storage& storage, std::string_view name, std::span<const std::byte> bytes,
                size_t step) {
  auto sink = storage.create(name);
  if (!sink.ok()) FAIL(sink.error().detail);
  for (size_t i = 0; i < bytes.size(); i += step) {
    REQUIRE((*sink)->append(bytes.subspan(i, std::min(step, bytes.size() - i))).ok());
  }
  REQUIRE((*sink)->finish().ok());
}

bool equal(const Buffer& buffer, std::span<const std::byte> bytes) {
  return std::equal(buffer.bytes().begin(), buffer.bytes().end(), bytes.begin(), bytes.end());
}

void write_store(Storage& storage, uint8_t value) {
  auto store = Store::open(storage, true);
  if (!store.ok()) FAIL(store.error().detail);
  Store::Commit commit = (*store)->begin();
  commit.manifest().collections[1] = {"docs", {}};
  commit.manifest().next_collection = 2;
  const std::vector<std::byte> rows(100'000, std::byte{value});
  REQUIRE(commit.put({1, SegmentKind::kRows, 0}, 10, rows).ok());
  REQUIRE(commit.finish().ok());
}

std::byte first_byte(Storage& storage) {
  auto store = Store::open(storage, false);
  if (!store.ok()) FAIL(store.error().detail);
  const auto& [key, ref] = *(*store)->manifest().segments.begin();
  auto payload = (*store)->load(key, ref);
  REQUIRE(payload.ok());
  return *payload->data();
}

TEST_CASE("files come back as they were written, whatever the size of the appends") {
  const Scratch scratch;
  const auto storage = writable(scratch / "db");
  const auto bytes = pattern(700'000);
  for (const size_t step : {1000u, 262'144u, 262'145u, 700'000u}) {
    write_file(*storage, "a", bytes, step);
    CHECK(*storage->size("a") == bytes.size());
    const auto read = storage->read("a", 0, bytes.size());
    REQUIRE(read.ok());
    CHECK(equal(*read, bytes));
  }
  REQUIRE(storage->sync().ok());
  const auto part = storage->read("a", 64, 100);
  REQUIRE(part.ok());
  CHECK(equal(*part, std::span(bytes).subspan(64, 100)));
  CHECK(reinterpret_cast<uintptr_t>(part->data()) % 64 == 0);
  CHECK(storage->read("a", 700'000, 0).ok());
  CHECK(storage->read("a", 700'000, 1).error().code == ErrorCode::kCorrupt);
  CHECK(storage->read("a", UINT64_MAX, 2).error().code == ErrorCode::kCorrupt);
  CHECK(storage->read("a", 2, UINT64_MAX).error().code == ErrorCode::kCorrupt);
  CHECK(storage->read("b", 0, 0).error().code == ErrorCode::kNotFound);
  CHECK(storage->size("b").error().code == ErrorCode::kNotFound);
  write_file(*storage, "empty", {}, 1);
  CHECK(storage->read("empty", 0, 0).ok());
}

TEST_CASE("reads share one mapping, writing to it reaches no file, and it outlives the file") {
  const Scratch scratch;
  const auto storage = writable(scratch / "db");
  const auto bytes = pattern(10'000);
  write_file(*storage, "a", bytes, 10'000);
  auto one = storage->read("a", 0, 10'000);
  auto two = storage->read("a", 128, 10);
  REQUIRE((one.ok() && two.ok()));
  CHECK(two->data() == one->data() + 128);
  one->data()[0] ^= std::byte{0xff};
  std::ifstream file(scratch / "db/a", std::ios::binary);
  CHECK(file.get() == std::to_integer<int>(bytes[0]));

  REQUIRE(storage->remove("a").ok());
  REQUIRE(storage->remove("a").ok());  // already gone is no error
  CHECK(two->data()[9] == bytes[137]);
  write_file(*storage, "a", std::span(bytes).first(5), 5);
  CHECK(*storage->size("a") == 5);
  CHECK(storage->read("a", 0, 5).ok());
  CHECK(two->data()[9] == bytes[137]);
}

TEST_CASE("a missing directory reads as empty and is made by the first file") {
  const Scratch scratch;
  const std::string path = scratch / "db";
  const auto storage = writable(path);
  CHECK(storage->list()->empty());
  CHECK(storage->sync().ok());
  CHECK_FALSE(fs::exists(path));
  CHECK(Store::open(*storage, false).error().code == ErrorCode::kNotFound);
  write_store(*storage, 1);
  CHECK(storage->list()->size() == 2);
  const auto reader = PosixStorage::open(scratch / "none", Access::kRead);
  REQUIRE(reader.ok());
  CHECK((*reader)->list()->empty());
  CHECK_FALSE(fs::exists(scratch / "none"));

  const auto orphan = writable(scratch / "no/such/parent");
  const auto created = orphan->create("a");
  REQUIRE_FALSE(created.ok());
  CHECK(created.error().detail.find("no/such/parent") != std::string::npos);
}

TEST_CASE("a store lasts") {
  const Scratch scratch;
  write_store(*writable(scratch / "db"), 7);
  write_store(*writable(scratch / "db/"), 8);
  CHECK(first_byte(*writable(scratch / "db")) == std::byte{8});
}

TEST_CASE("files that a system leaves about are not listed") {
  const Scratch scratch;
  fs::create_directory(scratch / "db");
  std::ofstream(scratch / "db/.DS_Store") << "x";
  const auto storage = writable(scratch / "db");
  CHECK(fs::exists(scratch / "db/lock"));
  CHECK(storage->list()->empty());
  write_store(*storage, 1);
}

TEST_CASE("a second writer is turned away until the first is gone; readers are not") {  // c22
  const Scratch scratch;
  const std::string path = scratch / "db";
  auto storage = writable(path);
  CHECK(PosixStorage::open(path, Access::kWrite).ok());  // nothing there to lock yet
  write_store(*storage, 1);
  const auto second = PosixStorage::open(path, Access::kWrite);
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == ErrorCode::kLocked);
  CHECK(second.error().detail.find(path) != std::string::npos);

  // Another program, not only another object.
  const pid_t child = ::fork();
  if (child == 0) {
    const auto other = PosixStorage::open(path, Access::kWrite);
    ::_exit(!other.ok() && other.error().code == ErrorCode::kLocked ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);

  const auto reader = PosixStorage::open(path, Access::kRead);
  REQUIRE(reader.ok());
  CHECK(first_byte(**reader) == std::byte{1});
  storage.reset();
  CHECK(PosixStorage::open(path, Access::kWrite).ok());
}

TEST_CASE("two writers that both saw nothing: the second is told when it begins to write") {
  const Scratch scratch;
  const auto one = writable(scratch / "db");
  const auto two = writable(scratch / "db");
  write_store(*one, 1);
  CHECK(two->create("a").error().code == ErrorCode::kLocked);
}

TEST_CASE("a reader keeps what it has mapped while a writer replaces the files") {
  const Scratch scratch;
  const auto writer = writable(scratch / "db");
  write_store(*writer, 1);
  const auto reader = PosixStorage::open(scratch / "db", Access::kRead);
  const auto store = Store::open(**reader, false);
  REQUIRE(store.ok());
  const auto& [key, ref] = *(*store)->manifest().segments.begin();
  const auto payload = (*store)->load(key, ref);
  REQUIRE(payload.ok());
  write_store(*writer, 2);
  CHECK(payload->data()[99'999] == std::byte{1});
  CHECK(first_byte(**reader) == std::byte{2});
}

TEST_CASE("a storage opened for reading changes nothing") {
  const Scratch scratch;
  write_store(*writable(scratch / "db"), 1);
  const auto reader = PosixStorage::open(scratch / "db", Access::kRead);
  REQUIRE(reader.ok());
  CHECK((*reader)->create("a").error().code == ErrorCode::kReadOnly);
  CHECK((*reader)->remove("a").error().code == ErrorCode::kReadOnly);
}

TEST_CASE("a directory without write permission opens for reading only") {
  const Scratch scratch;
  const std::string path = scratch / "db";
  write_store(*writable(path), 1);
  fs::remove(scratch / "db/lock");
  ::chmod(path.c_str(), 0555);
  ::chmod((scratch / ".").c_str(), 0755);
  // Permissions do not bind root, so a child looks at it as somebody else.
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(9);
    const auto reader = PosixStorage::open(path, Access::kRead);
    if (!reader.ok() || first_byte(**reader) != std::byte{1}) ::_exit(1);
    const auto writer = PosixStorage::open(path, Access::kWrite);
    if (writer.ok() || writer.error().code != ErrorCode::kIo) ::_exit(2);
    if (writer.error().detail.find("Permission denied") == std::string::npos) ::_exit(3);
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  ::chmod(path.c_str(), 0755);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a file in place of the directory is refused") {
  const Scratch scratch;
  std::ofstream(scratch / "db") << "x";
  for (const Access access : {Access::kRead, Access::kWrite}) {
    const auto storage = PosixStorage::open(scratch / "db", access);
    REQUIRE_FALSE(storage.ok());
    CHECK(storage.error().code == ErrorCode::kInvalidArgument);
  }
}

TEST_CASE("a write that the system refuses is reported, and the store stays as it was") {
  const Scratch scratch;
  write_store(*writable(scratch / "db"), 1);
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {50'000, 50'000};  // less than the rows
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(9);
    auto storage = PosixStorage::open(scratch / "db", Access::kWrite);
    auto store = Store::open(**storage, false);
    Store::Commit commit = (*store)->begin();
    const std::vector<std::byte> rows(100'000, std::byte{2});
    (void)commit.put({1, SegmentKind::kRows, 0}, 10, rows);
    const auto finished = commit.finish();
    ::_exit(!finished.ok() && finished.error().code == ErrorCode::kIo &&
                    finished.error().detail.find("data-") != std::string::npos
                ? 0
                : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(first_byte(*writable(scratch / "db")) == std::byte{1});
}

TEST_CASE("a file anywhere replaces an old one") {
  const Scratch scratch;
  const std::string path = scratch / "pack";
  std::ofstream(path) << "an older, longer file";
  auto sink = create_posix_file(path);
  REQUIRE(sink.ok());
  REQUIRE((*sink)->append(pattern(10)).ok());
  REQUIRE((*sink)->finish().ok());
  CHECK(fs::file_size(path) == 10);
  CHECK_FALSE(create_posix_file(scratch / "no/pack").ok());
}

TEST_CASE("a store that another program made in the meantime is not overwritten") {
  const Scratch scratch;
  const std::string path = scratch / "db";
  const auto late = writable(path);
  CHECK(late->list()->empty());
  auto store = Store::open(*late, true);
  write_store(*writable(path), 1);  // and that program is gone
  const auto before = late->list();
  for (int i = 0; i < 2; ++i) {  // trying again is no way round
    Store::Commit commit = (*store)->begin();
    commit.manifest().collections[1] = {"docs", {}};
    commit.manifest().next_collection = 2;
    const auto put = commit.put({1, SegmentKind::kRows, 0}, 1, pattern(100));
    REQUIRE_FALSE(put.ok());
    CHECK(put.error().code == ErrorCode::kLocked);
    CHECK(put.error().detail.find(path) != std::string::npos);
  }
  CHECK(late->remove((*before)[0]).ok());  // not ours: it stays
  CHECK(late->list()->size() == before->size());
  write_store(*writable(path), 2);  // others may
  CHECK(first_byte(*writable(path)) == std::byte{2});
}

TEST_CASE("a file that was still being written when it was mapped is mapped again") {
  const Scratch scratch;
  fs::create_directory(scratch / "db");
  const auto reader = PosixStorage::open(scratch / "db", Access::kRead);
  REQUIRE(reader.ok());
  std::ofstream(scratch / "db/a") << "hello";
  const auto half = (*reader)->read("a", 0, 5);
  REQUIRE(half.ok());
  std::ofstream(scratch / "db/a", std::ios::app) << " world";
  const auto whole = (*reader)->read("a", 0, 11);
  REQUIRE(whole.ok());
  CHECK(std::memcmp(whole->data(), "hello world", 11) == 0);
  CHECK((*reader)->read("a", 0, 12).error().code == ErrorCode::kCorrupt);
  CHECK(std::memcmp(half->data(), "hello", 5) == 0);
}

TEST_CASE("verify, pack and tidying see the file, not what was written into its mapping") {
  const Scratch scratch;
  const auto storage = writable(scratch / "db");
  auto store = Store::open(*storage, true);
  REQUIRE(store.ok());
  const SegmentKey rows{1, SegmentKind::kRows, 0};
  const SegmentKey links{1, SegmentKind::kLinks, 0};
  const auto kept = pattern(100);
  {
    Store::Commit commit = (*store)->begin();
    commit.manifest().collections[1] = {"docs", {}};
    commit.manifest().next_collection = 2;
    REQUIRE(commit.put(rows, 10, pattern(10'000)).ok());
    REQUIRE(commit.put(links, 10, kept).ok());
    REQUIRE(commit.finish().ok());
  }
  auto payload = (*store)->load(links, (*store)->manifest().segments.at(links));
  REQUIRE(payload.ok());
  payload->data()[3] ^= std::byte{1};

  CHECK((*store)->verify()->problems.empty());
  auto sink = create_posix_file(scratch / "pack");
  REQUIRE(sink.ok());
  CHECK((*store)->pack(**sink).ok());
  const uint32_t first_file = (*store)->manifest().segments.at(links).file;
  {
    Store::Commit commit = (*store)->begin();
    REQUIRE(commit.put(rows, 10, pattern(9'999)).ok());
    REQUIRE(commit.finish().ok());
  }
  CHECK((*store)->manifest().segments.at(links).file != first_file);  // copied
  CHECK((*store)->verify()->problems.empty());
  payload = (*store)->load(links, (*store)->manifest().segments.at(links));
  REQUIRE(payload.ok());
  CHECK(equal(*payload, kept));
}

}  // namespace
}  // namespace nearfield
