// Files cut and bytes flipped: never a crash, never a wrong answer.
#include <catch2/catch_test_macros.hpp>

#include "sample.h"
#include "store/layout.h"
#include "store/manifest.h"

namespace nearfield::test {
namespace {

// Two generations lie in the storage, as when a commit is interrupted just before the old files are
// removed.
struct TwoGenerations {
  MemoryStorage storage;
  Contents older;
  Contents newer;
  MemoryStorage::Files older_files;

  TwoGenerations() {
    auto store = Store::open(storage, true);
    write_sample(**store, 1);
    older = contents(**store);
    older_files = storage.files();
    write_sample(**store, 2);
    newer = contents(**store);
  }
  MemoryStorage::Files both() const {
    MemoryStorage::Files files = older_files;
    for (const auto& [name, bytes] : const_cast<MemoryStorage&>(storage).files()) {
      files[name] = bytes;
    }
    return files;
  }
};

bool is_damage(ErrorCode code) {
  return code == ErrorCode::kCorrupt || code == ErrorCode::kForeignFile;
}

TEST_CASE("a store with a file cut at any byte is refused") {
  MemoryStorage storage;
  {
    auto store = Store::open(storage, true);
    write_sample(**store, 1);
  }
  const auto whole = storage.files();
  for (const auto& [name, bytes] : whole) {
    for (size_t size = 0; size < bytes.size(); ++size) {
      storage.files() = whole;
      storage.files()[name].resize(size);
      const auto store = Store::open(storage, true);
      REQUIRE_FALSE(store.ok());
      REQUIRE(store.error().code == ErrorCode::kCorrupt);
      REQUIRE(store.error().detail.find(name) != std::string::npos);
    }
    storage.files() = whole;
    storage.files().erase(name);
    const auto store = Store::open(storage, true);
    REQUIRE_FALSE(store.ok());
    REQUIRE(store.error().code == ErrorCode::kCorrupt);
  }
}

TEST_CASE("with the older generation beside it, a cut leads to the one or the other") {
  TwoGenerations two;
  const auto both = two.both();
  MemoryStorage storage;
  for (const auto& [name, bytes] : both) {
    const bool is_newer = !two.older_files.contains(name);
    for (size_t size = 0; size < bytes.size(); ++size) {
      storage.files() = both;
      storage.files()[name].resize(size);
      auto store = Store::open(storage, true);
      REQUIRE(store.ok());
      REQUIRE(contents(**store) == (is_newer ? two.older : two.newer));
      REQUIRE((*store)->recovery().empty() == !is_newer);
    }
  }
}

TEST_CASE("after a fall back the next commit goes on from the older state, under new names") {
  TwoGenerations two;
  MemoryStorage storage;
  storage.files() = two.both();
  const std::string newest = storage.files().rbegin()->first;
  storage.files()[newest].resize(100);
  auto store = Store::open(storage, true);
  REQUIRE(store.ok());
  REQUIRE((*store)->manifest().generation == 1);
  write_sample(**store, 3);
  CHECK((*store)->manifest().generation == 3);
  CHECK((*store)->recovery().empty());
  CHECK(storage.files().size() == (*store)->manifest().files.size() + 1);
  CHECK(reopened(storage) == contents(**store));
}

TEST_CASE("after a fall back the files of the newer generation keep their bytes until a commit") {
  TwoGenerations two;
  MemoryStorage storage;
  storage.files() = two.both();
  storage.files().rbegin()->second.resize(100);
  const auto before = storage.files();
  auto store = Store::open(storage, true);
  REQUIRE(store.ok());
  REQUIRE_FALSE((*store)->recovery().empty());
  {
    Store::Commit commit = (*store)->begin();
    REQUIRE(commit.put({1, SegmentKind::kDead, 0}, 5, noise(78, 10)).ok());
  }
  CHECK(storage.files() == before);
}

TEST_CASE("new files do not stand in for those that a newer manifest misses") {
  TwoGenerations two;
  MemoryStorage storage;
  storage.files() = two.both();
  const auto newest = std::prev(storage.files().end());
  const auto manifest = decode_manifest_file(newest->second, 2, newest->first);
  REQUIRE(manifest.ok());
  for (const auto& [number, length] : manifest->files) {
    storage.files().erase(layout::data_name(number));
  }
  auto store = Store::open(storage, true);
  REQUIRE(store.ok());
  REQUIRE((*store)->manifest().generation == 1);
  write_sample(**store, 2);
  for (const auto& [number, length] : (*store)->manifest().files) {
    CHECK(number >= manifest->next_file);
  }
  CHECK((*store)->manifest().generation == 3);
  CHECK(reopened(storage) == contents(**store));
}

TEST_CASE("broken files with the largest numbers do not use up the numbers") {
  for (const char* stray : {"manifest-18446744073709551614.nf", "manifest-18446744073709551613.nf",
                            "data-4294967294.nf", "data-4294967293.nf"}) {
    CAPTURE(stray);
    MemoryStorage storage;
    {
      auto store = Store::open(storage, true);
      write_sample(**store, 1);
    }
    storage.files()[stray] = {};
    for (uint64_t version = 2; version < 6; ++version) {
      auto store = Store::open(storage, true);
      REQUIRE(store.ok());
      write_sample(**store, version);
      CHECK((*store)->manifest().generation == version);
      CHECK((*store)->manifest().next_file < 100);
      CHECK(reopened(storage) == contents(**store));
    }
    CHECK_FALSE(storage.files().contains(stray));
  }
}

TEST_CASE("a commit is refused when the numbers are used up") {
  const auto refused = [](uint64_t generation, uint32_t next_file, const char* what) {
    MemoryStorage storage;
    Manifest manifest;
    manifest.next_file = next_file;
    const Bytes payload = encode_manifest(manifest);
    const auto header = layout::manifest_header(generation, 0, payload);
    Bytes& file = storage.files()[layout::manifest_name(generation)];
    file.assign(header.begin(), header.end());
    file.insert(file.end(), payload.begin(), payload.end());
    const auto before = storage.files();
    auto store = Store::open(storage, false);
    REQUIRE(store.ok());
    for (int i = 0; i < 2; ++i) {
      Store::Commit commit = (*store)->begin();
      add_collection(commit, 1, "docs");
      (void)commit.put({1, SegmentKind::kRows, 0}, 1, bytes_of("x"));
      const auto finished = commit.finish();
      REQUIRE_FALSE(finished.ok());
      CHECK(finished.error().code == ErrorCode::kInvalidArgument);
      CHECK(finished.error().detail.find(what) != std::string::npos);
    }
    CHECK(storage.files() == before);
  };
  refused(UINT64_MAX - 1, 1, "generations");
  refused(1, UINT32_MAX, "data files");
}

TEST_CASE("an interrupted first commit leaves an empty store") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  write_sample(**store, 1);
  const auto whole = storage.files();
  MemoryStorage scratch;
  // Generation 0 as the first commit writes it.
  {
    auto empty = Store::open(scratch, true);
    Store::Commit commit = (*empty)->begin();
    add_collection(commit, 1, "x");
    REQUIRE(commit.put({1, SegmentKind::kRows, 0}, 1, bytes_of("x")).ok());
    const Bytes origin = scratch.files().at(layout::manifest_name(0));
    // While it is written.
    for (size_t size = 0; size < origin.size(); ++size) {
      storage.files() = {{layout::manifest_name(0),
                          Bytes(origin.begin(), origin.begin() + static_cast<ptrdiff_t>(size))}};
      REQUIRE(reopened(storage) == Contents{});
      REQUIRE_FALSE(Store::open(storage, false).ok());
    }
    // While the data and then the first manifest are written.
    for (const auto& [name, bytes] : whole) {
      for (size_t size = 0; size < bytes.size(); ++size) {
        storage.files() = whole;
        storage.files()[layout::manifest_name(0)] = origin;
        storage.files()[name].resize(size);
        REQUIRE(reopened(storage) == Contents{});
      }
    }
    // Damaged later, with data beside it, it says nothing about the data.
    storage.files() = whole;
    storage.files().erase(name_of_manifest(storage));
    storage.files()[layout::manifest_name(0)] = Bytes(origin.begin(), origin.begin() + 70);
    const auto refused = Store::open(storage, true);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::kCorrupt);
    CHECK(refused.error().detail.find(layout::manifest_name(0)) != std::string::npos);
  }
}

TEST_CASE("a manifest that has grown, or goes by another name, is refused") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  write_sample(**store, 1);
  const std::string name = name_of_manifest(storage);
  storage.files()[name].push_back(std::byte{0});
  const auto grown = Store::open(storage, true);
  REQUIRE_FALSE(grown.ok());
  CHECK(grown.error().detail.find("cut or grown") != std::string::npos);

  storage.files()[name].pop_back();
  auto node = storage.files().extract(name);
  node.key() = layout::manifest_name(8);
  storage.files().insert(std::move(node));
  const auto renamed = Store::open(storage, true);
  REQUIRE_FALSE(renamed.ok());
  CHECK(renamed.error().code == ErrorCode::kCorrupt);
}

TEST_CASE("every flipped byte of a manifest is noticed") {
  MemoryStorage storage;
  {
    auto store = Store::open(storage, true);
    write_sample(**store, 1);
  }
  Bytes& manifest = storage.files()[name_of_manifest(storage)];
  for (std::byte& byte : manifest) {
    for (const int bits : {0x01, 0x80, 0xff}) {
      byte ^= static_cast<std::byte>(bits);
      const auto store = Store::open(storage, true);
      REQUIRE_FALSE(store.ok());
      REQUIRE(is_damage(store.error().code));
      byte ^= static_cast<std::byte>(bits);
    }
  }
  REQUIRE(Store::open(storage, true).ok());
}

TEST_CASE("every flipped byte of a data file, save padding, is found by load and by verify") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  write_sample(**store, 1);
  const auto& segments = (*store)->manifest().segments;
  Bytes& data = storage.files()[names_of_data(storage).front()];
  for (size_t i = 0; i < data.size(); ++i) {
    size_t holders = i < 64 ? 1 : 0;  // of the file header only verify() speaks
    const SegmentKey* hit = nullptr;
    for (const auto& [key, ref] : segments) {
      if (i >= ref.offset - 64 && i < ref.offset + ref.length) {
        hit = &key;
        ++holders;
      }
    }
    data[i] ^= std::byte{0x10};
    const auto report = (*store)->verify();
    REQUIRE(report.ok());
    REQUIRE(report->problems.size() == holders);
    REQUIRE(report->segments == segments.size());
    for (const auto& [key, ref] : segments) {
      const auto payload = (*store)->load(key, ref);
      REQUIRE(payload.ok() == (hit == nullptr || key != *hit));
      if (!payload.ok()) REQUIRE(payload.error().code == ErrorCode::kCorrupt);
    }
    data[i] ^= std::byte{0x10};
  }
}

TEST_CASE("verify names kind, collection, rows and file, and goes on after a damaged segment") {
  MemoryStorage storage(1);  // a file for each segment
  auto store = Store::open(storage, true);
  write_sample(**store, 1);
  auto report = (*store)->verify();
  REQUIRE(report.ok());
  CHECK(report->problems.empty());
  CHECK(report->segments == 4);
  CHECK(report->bytes == 300 + 97 + 64);
  CHECK(report->rows == 7);

  const SegmentRef rows = (*store)->manifest().segments.at({1, SegmentKind::kRows, 5});
  const SegmentRef ids = (*store)->manifest().segments.at({1, SegmentKind::kIds, 0});
  storage.files()[layout::data_name(rows.file)][rows.offset + 3] ^= std::byte{1};
  storage.files().erase(layout::data_name(ids.file));
  report = (*store)->verify();
  REQUIRE(report.ok());
  REQUIRE(report->problems.size() == 3);  // the file that is missing, its segment, the other one
  CHECK(report->problems[1].find("rows 5..6 of rows of collection \"docs\" in " +
                                 layout::data_name(rows.file)) != std::string::npos);
  CHECK(report->problems[2].find("rows 0..4 of ids of collection \"docs\" in " +
                                 layout::data_name(ids.file)) != std::string::npos);
}

}  // namespace
}  // namespace nearfield::test
