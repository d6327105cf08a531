// Opening, round trips, and what is refused.
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "sample.h"
#include "store/layout.h"
#include "store/manifest.h"
#include "support/faulty_storage.h"

namespace nearfield::test {
namespace {

ErrorCode open_error(Storage& storage, bool create = true) {
  const auto store = Store::open(storage, create);
  REQUIRE_FALSE(store.ok());
  REQUIRE_FALSE(store.error().detail.empty());
  return store.error().code;
}

// A manifest that a test can put one thing wrong into.
Manifest sound_manifest() {
  Manifest manifest;
  manifest.next_file = 3;
  manifest.next_collection = 2;
  manifest.files = {{1, 4096}, {2, 1000}};
  manifest.collections[1] = {"docs", bytes_of("state")};
  manifest.segments[{1, SegmentKind::kRows, 0}] = {10, 1, 128, 1000, 7};
  manifest.segments[{1, SegmentKind::kRows, 10}] = {10, 1, 1216, 1000, 8};
  manifest.segments[{1, SegmentKind::kIds, 0}] = {20, 2, 128, 872, 9};
  return manifest;
}

// The sentence with which both sides, encoder's and decoder's, refuse it.
std::string refusal(const Manifest& manifest) {
  const auto checked = check_manifest(manifest, "m");
  const auto decoded = decode_manifest(encode_manifest(manifest), "m");
  REQUIRE(checked.ok() == decoded.ok());
  if (checked.ok()) return "";
  REQUIRE(decoded.error().code == ErrorCode::kCorrupt);
  REQUIRE(decoded.error().detail == checked.error().detail);
  return checked.error().detail;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("an empty storage becomes a store of generation 0 and is not written to") {
  MemoryStorage storage;
  CHECK(open_error(storage, false) == ErrorCode::kNotFound);
  auto store = Store::open(storage, true);
  REQUIRE(store.ok());
  CHECK((*store)->manifest().generation == 0);
  CHECK(storage.files().empty());
  // Not even by a change that is dropped.
  { Store::Commit commit = (*store)->begin(); }
  CHECK(storage.files().empty());
}

TEST_CASE("a commit of nothing makes a store that opens") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  REQUIRE((*store)->begin().finish().ok());
  CHECK(storage.files().size() == 1);
  auto again = Store::open(storage, false);
  REQUIRE(again.ok());
  CHECK((*again)->manifest().generation == 1);
}

TEST_CASE("what is committed comes back, after every generation") {
  for (const uint64_t preferred : {uint64_t{1}, uint64_t{600}, uint64_t{4} << 20, UINT64_MAX}) {
    MemoryStorage storage(preferred);
    auto store = Store::open(storage, true);
    for (uint64_t version = 1; version <= 5; ++version) {
      write_sample(**store, version);
      const Contents now = contents(**store);
      CHECK(now.segments.size() == 4);
      CHECK(now.collections.at(1).second == noise(version, 20));
      CHECK(reopened(storage) == now);
      CHECK((*store)->manifest().generation == version);
    }
  }
}

TEST_CASE("payloads are aligned and parts follow one another") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  {
    Store::Commit commit = (*store)->begin();
    add_collection(commit, 1, "docs");
    const Bytes small = noise(1, 1000);
    const Bytes large = noise(2, layout::kLargePayload);
    const std::vector<std::span<const std::byte>> parts = {small, large, {}, small};
    REQUIRE(commit.put({1, SegmentKind::kIds, 0}, 3, small).ok());
    REQUIRE(commit.put({1, SegmentKind::kRows, 0}, 3, parts).ok());
    REQUIRE(commit.put({1, SegmentKind::kCodes, 0}, 3, small).ok());
    REQUIRE(commit.finish().ok());
    Bytes whole = small;
    whole.insert(whole.end(), large.begin(), large.end());
    whole.insert(whole.end(), small.begin(), small.end());
    CHECK(contents(**store).segments.at({1, SegmentKind::kRows, 0}).second == whole);
  }
  for (const auto& [key, ref] : (*store)->manifest().segments) {
    CHECK(ref.offset % (key.kind == SegmentKind::kRows ? layout::kPageBytes : 64) == 0);
    const auto payload = (*store)->load(key, ref);
    CHECK(reinterpret_cast<uintptr_t>(payload->data()) % 64 == 0);
  }
}

TEST_CASE("files are closed at the size that the storage prefers") {
  MemoryStorage storage(10'000);
  auto store = Store::open(storage, true);
  Store::Commit commit = (*store)->begin();
  add_collection(commit, 1, "docs");
  for (uint32_t i = 0; i < 20; ++i) {
    REQUIRE(commit.put({1, SegmentKind::kRows, i}, 1, noise(i, 1500)).ok());
  }
  REQUIRE(commit.put({1, SegmentKind::kRows, 20}, 1, noise(20, 30'000)).ok());
  REQUIRE(commit.finish().ok());
  CHECK(storage.files().size() == 6);
  for (const auto& [name, bytes] : storage.files()) {
    CHECK((bytes.size() <= 10'000 || bytes.size() == 30'000 + 128));
  }
  CHECK(reopened(storage).segments.size() == 21);
}

TEST_CASE("a segment put again with the same bytes is not written again") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  write_sample(**store, 1);
  const auto before = (*store)->manifest().segments;
  write_sample(**store, 1);
  CHECK((*store)->manifest().segments.begin()->second.file == before.begin()->second.file);
  CHECK(names_of_data(storage).size() == 1);
}

TEST_CASE("erased segments and dropped collections are gone") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  write_sample(**store, 1);
  {
    Store::Commit commit = (*store)->begin();
    commit.erase({1, SegmentKind::kIds, 0});
    commit.erase({2, SegmentKind::kSeeds, 0});
    commit.manifest().collections.erase(2);
    REQUIRE(commit.finish().ok());
  }
  CHECK(reopened(storage).segments.size() == 2);
  CHECK(reopened(storage).collections.size() == 1);
}

TEST_CASE("other files than ours are not taken for an empty store") {
  MemoryStorage storage;
  storage.files()["thesis.txt"] = bytes_of("words");
  CHECK(open_error(storage) == ErrorCode::kForeignFile);
  CHECK(open_error(storage, false) == ErrorCode::kForeignFile);
  CHECK(storage.files().size() == 1);

  storage.files() = {{"data-0000000001.nf", bytes_of("?")}};
  CHECK(open_error(storage) == ErrorCode::kCorrupt);

  for (const char* name :
       {"manifest-1.nf", "manifest-0000000000000000000x.nf", "manifest-18446744073709551615.nf",
        "data-99999999999.nf", "data-9999999999.nf", "data-000000001.nfx"}) {
    storage.files() = {{name, bytes_of("?")}};
    CHECK(open_error(storage) == ErrorCode::kForeignFile);
  }
}

TEST_CASE("a file that is not ours beside a store stays and is ignored") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  write_sample(**store, 1);
  storage.files()["readme.txt"] = bytes_of("hello");
  const Contents before = contents(**store);
  CHECK(reopened(storage) == before);
  write_sample(**store, 2);
  CHECK(storage.files().contains("readme.txt"));
}

TEST_CASE("a manifest of another program is foreign") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  write_sample(**store, 1);
  storage.files()[name_of_manifest(storage)] = bytes_of("PNG, or something else altogether");
  CHECK(open_error(storage) == ErrorCode::kForeignFile);
}

TEST_CASE(
    "later versions and unknown features are refused by name, even when older states lie by") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  write_sample(**store, 1);
  const auto older = storage.files();
  write_sample(**store, 2);
  Bytes& manifest = storage.files()[name_of_manifest(storage)];
  storage.files().insert(older.begin(), older.end());
  REQUIRE(Store::open(storage, true).ok());

  const Bytes sound = manifest;
  manifest[8] = std::byte{2};
  reseal_header(manifest);
  auto refused = Store::open(storage, true);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kNewerVersion);
  CHECK(contains(refused.error().detail, "version 2"));
  CHECK(contains(refused.error().detail, "version 1"));

  manifest = sound;
  manifest[12] = std::byte{4};
  reseal_header(manifest);
  refused = Store::open(storage, true);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kNewerVersion);
  CHECK(contains(refused.error().detail, "0x4"));

  manifest = sound;
  manifest[16] = std::byte{4};  // a feature that may be ignored
  reseal_header(manifest);
  auto accepted = Store::open(storage, true);
  REQUIRE(accepted.ok());
  CHECK((*accepted)->recovery().empty());
}

TEST_CASE("a manifest whose numbers contradict each other is refused with a sentence") {
  CHECK(refusal(sound_manifest()).empty());
  const SegmentKey rows{1, SegmentKind::kRows, 0};
  const auto with = [&](auto change) {
    Manifest manifest = sound_manifest();
    change(manifest, manifest.segments[rows]);
    return refusal(manifest);
  };
  const auto refused = [&](std::string_view part, auto change) {
    const std::string sentence = with(change);
    INFO(sentence);
    CHECK(contains(sentence, part));
  };
  refused("numbers below 2", [](Manifest& m, SegmentRef&) { m.next_file = 2; });
  refused("numbers below 1", [](Manifest& m, SegmentRef&) { m.next_collection = 1; });
  refused("name of 0 bytes", [](Manifest& m, SegmentRef&) { m.collections[1].name = ""; });
  refused("name of 256 bytes",
          [](Manifest& m, SegmentRef&) { m.collections[1].name = std::string(256, 'x'); });
  refused("two collections", [](Manifest& m, SegmentRef&) {
    m.next_collection = 3;
    m.collections[2] = m.collections[1];
  });
  refused("file not listed", [](Manifest&, SegmentRef& r) { r.file = 9; });
  refused("unknown kind", [](Manifest& m, SegmentRef& r) {
    m.segments[{1, static_cast<SegmentKind>(999), 0}] = r;
  });
  refused("no listed collection", [](Manifest& m, SegmentRef& r) {
    m.segments[{5, SegmentKind::kDead, 0}] = r;
  });
  refused("offset 64,", [](Manifest&, SegmentRef& r) { r.offset = 64; });
  refused("offset 132", [](Manifest&, SegmentRef& r) { r.offset = 132; });
  refused("inside the file's 4096", [](Manifest&, SegmentRef& r) { r.length = 4096; });
  refused("inside the file's", [](Manifest&, SegmentRef& r) { r.length = UINT64_MAX - 127; });
  refused("inside the file's", [](Manifest&, SegmentRef& r) { r.offset = UINT64_MAX - 63; });
  refused("overlap", [](Manifest&, SegmentRef& r) { r.length = 1025; });  // into the next header
  refused("same rows", [](Manifest&, SegmentRef& r) { r.rows = 11; });
  refused("past the last row", [](Manifest&, SegmentRef& r) { r.rows = UINT32_MAX; });
  refused("past the last row", [](Manifest& m, SegmentRef& r) {
    m.segments[{1, SegmentKind::kDead, 0x7ffffff8}] = r;
  });
}

TEST_CASE("counts that the bytes cannot hold are refused before anything is reserved") {
  const Bytes sound = encode_manifest(sound_manifest());
  for (const size_t offset : {8u, 12u, 16u, 20u}) {
    Bytes payload = sound;
    std::memset(payload.data() + offset, 0xff, 4);
    const auto decoded = decode_manifest(payload, "m");
    REQUIRE_FALSE(decoded.ok());
    CHECK(decoded.error().code == ErrorCode::kCorrupt);
  }
  for (size_t size = 0; size < sound.size(); ++size) {
    CHECK_FALSE(decode_manifest(std::span(sound).first(size), "m").ok());
  }
  Bytes grown = sound;
  grown.push_back(std::byte{0});
  CHECK_FALSE(decode_manifest(grown, "m").ok());
}

TEST_CASE("what would be refused on reading is not written") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  write_sample(**store, 1);
  const Contents before = contents(**store);
  {
    Store::Commit commit = (*store)->begin();
    REQUIRE(commit.put({1, SegmentKind::kRows, 4}, 1, noise(1, 10)).ok());  // 0..4 is there
    const auto finished = commit.finish();
    REQUIRE_FALSE(finished.ok());
    CHECK(finished.error().code == ErrorCode::kInvalidArgument);
  }
  CHECK(contents(**store) == before);
  CHECK(reopened(storage) == before);
  CHECK(names_of_data(storage).size() == 1);
}

TEST_CASE("a storage that fails to read is not called corrupt, nor passed over") {
  MemoryStorage memory;
  {
    auto store = Store::open(memory, true);
    write_sample(**store, 1);
  }
  FaultyStorage storage(memory);
  REQUIRE(Store::open(storage, true).ok());
  const uint64_t calls = storage.calls();
  for (uint64_t call = 1; call <= calls; ++call) {
    storage.fail(call, 1, ErrorCode::kIo);
    CHECK(open_error(storage) == ErrorCode::kIo);
  }
}

TEST_CASE("a mapping storage leaves headers and checksums to verify") {
  MemoryStorage memory;
  FaultyStorage storage(memory);
  storage.pretend_to_map();
  auto store = Store::open(storage, true);
  write_sample(**store, 1);
  const auto [key, ref] = *(*store)->manifest().segments.begin();
  Bytes& data = memory.files()[names_of_data(memory).front()];
  data[ref.offset] ^= std::byte{1};
  CHECK((*store)->load(key, ref).ok());
  CHECK((*store)->verify()->problems.size() == 1);
  data[ref.offset] ^= std::byte{1};
  data[ref.offset - 64] ^= std::byte{1};
  CHECK((*store)->load(key, ref).ok());
  CHECK((*store)->verify()->problems.size() == 1);
  data.resize(ref.offset + ref.length - 1);  // as nobody does while a store is open
  CHECK((*store)->load(key, ref).error().code == ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace nearfield::test
