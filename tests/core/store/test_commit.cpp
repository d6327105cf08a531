// Commits that fail, and the files that commits leave behind.
#include <catch2/catch_test_macros.hpp>

#include "sample.h"
#include "store/layout.h"
#include "support/borrowed_storage.h"
#include "support/faulty_storage.h"

namespace nearfield::test {
namespace {

// As write_sample(), but may fail; what it puts differs in two segments from the sample.
Result<void> try_change(Store& store) {
  Store::Commit commit = store.begin();
  add_collection(commit, 1, "docs");
  NEARFIELD_TRY(commit.put({1, SegmentKind::kRows, 0}, 5, noise(77, 700)));
  NEARFIELD_TRY(commit.put({1, SegmentKind::kDead, 0}, 5, noise(78, 10)));
  return commit.finish();
}

void fail_everywhere(bool with_old_state, uint64_t preferred, uint64_t failures) {
  bool succeeded = false;
  for (uint64_t call = 1; !succeeded; ++call) {
    INFO("call " << call << ", " << failures << " failures");
    MemoryStorage memory(preferred);
    FaultyStorage storage(memory);
    auto store = Store::open(storage, true);
    if (with_old_state) write_sample(**store, 1);
    const Contents before = contents(**store);

    storage.fail(call, failures);
    const auto changed = try_change(**store);
    succeeded = storage.calls() < call;  // the failure was never reached
    storage.heal();

    if (changed.ok()) {
      REQUIRE(contents(**store).segments.contains({1, SegmentKind::kDead, 0}));
      REQUIRE(reopened(memory) == contents(**store));
    } else {
      REQUIRE(changed.error().code == ErrorCode::kQuota);
      REQUIRE(contents(**store) == before);
      const Contents after = reopened(memory);
      // Only where the storage refuses to take the new manifest back may the new state be seen: it
      // is whole then.
      if (failures == 1 || !after.segments.contains({1, SegmentKind::kDead, 0})) {
        REQUIRE(after == before);
      }
      REQUIRE(try_change(**store).ok());
      REQUIRE(reopened(memory) == contents(**store));
    }
    // After one more commit nothing is left of any of it.
    write_sample(**store, 5);
    REQUIRE(memory.files().size() == (*store)->manifest().files.size() + 1);
    REQUIRE(reopened(memory) == contents(**store));
  }
}

TEST_CASE("a commit that fails at any call leaves the old state, and a later one works") {
  for (const uint64_t preferred : {uint64_t{1}, uint64_t{4} << 20}) {
    for (const uint64_t failures : {uint64_t{1}, uint64_t{2}, UINT64_MAX}) {
      fail_everywhere(false, preferred, failures);
      fail_everywhere(true, preferred, failures);
    }
  }
}

// Notes what is removed and when it becomes durable.
class RemovalLog final : public BorrowedStorage {
 public:
  using BorrowedStorage::BorrowedStorage;
  Result<void> remove(std::string_view name) override {
    log.emplace_back(name);
    return BorrowedStorage::remove(name);
  }
  Result<void> sync() override {
    log.emplace_back("sync");
    return BorrowedStorage::sync();
  }
  std::vector<std::string> log;
};

TEST_CASE("a first commit that fails never leaves data without a manifest, whatever is lost") {
  MemoryStorage memory(1);
  RemovalLog storage(memory);
  auto store = Store::open(storage, true);
  {
    Store::Commit commit = (*store)->begin();
    add_collection(commit, 1, "docs");
    REQUIRE(commit.put({1, SegmentKind::kRows, 0}, 5, noise(77, 700)).ok());
    REQUIRE(commit.put({1, SegmentKind::kIds, 0}, 5, noise(77, 700)).ok());
    storage.log.clear();
  }
  CHECK(storage.log == std::vector<std::string>{layout::data_name(2), layout::data_name(1), "sync",
                                                layout::manifest_name(0)});
}

TEST_CASE("a dropped commit leaves nothing") {
  MemoryStorage storage(1);
  auto store = Store::open(storage, true);
  {
    Store::Commit commit = (*store)->begin();
    add_collection(commit, 1, "docs");
    REQUIRE(commit.put({1, SegmentKind::kRows, 0}, 5, noise(77, 700)).ok());
    REQUIRE(commit.put({1, SegmentKind::kIds, 0}, 5, noise(77, 700)).ok());
    CHECK(storage.files().size() == 3);
  }
  CHECK(storage.files().empty());
  write_sample(**store, 1);
  CHECK(reopened(storage) == contents(**store));
}

TEST_CASE(
    "data is synced before the manifest is written, and the manifest before files are removed") {
  MemoryStorage memory;
  FaultyStorage storage(memory);
  auto store = Store::open(storage, true);
  write_sample(**store, 1);
  CHECK(storage.syncs() == 3);  // generation 0, data, manifest
  write_sample(**store, 2);
  CHECK(storage.syncs() == 5);
}

TEST_CASE("leftovers of commits that died are removed, other files are not") {
  MemoryStorage storage;
  {
    auto store = Store::open(storage, true);
    write_sample(**store, 1);
  }
  const std::string older = layout::manifest_name(0);
  storage.files()["data-0000000077.nf"] = bytes_of("half a segm");
  storage.files()["data-77.nf"] = bytes_of("not our name");
  storage.files()["notes"] = bytes_of("not ours");
  storage.files()[older] = storage.files()[name_of_manifest(storage)];
  auto store = Store::open(storage, true);
  REQUIRE(store.ok());
  CHECK(storage.files().contains("data-0000000077.nf"));  // reading changes nothing
  write_sample(**store, 2);
  CHECK_FALSE(storage.files().contains("data-0000000077.nf"));
  CHECK_FALSE(storage.files().contains(older));
  CHECK(storage.files().contains("data-77.nf"));
  CHECK(storage.files().contains("notes"));
}

TEST_CASE("leftovers make room before a commit writes") {
  MemoryStorage memory;
  {
    auto store = Store::open(memory, true);
    write_sample(**store, 1);
  }
  memory.files()["data-0000000077.nf"] = Bytes(1000);
  auto store = Store::open(memory, true);
  Store::Commit commit = (*store)->begin();
  REQUIRE(commit.put({1, SegmentKind::kDead, 0}, 5, noise(78, 10)).ok());
  CHECK_FALSE(memory.files().contains("data-0000000077.nf"));
}

TEST_CASE("an old manifest that cannot be removed keeps its data until it can") {
  MemoryStorage memory;
  FaultyStorage storage(memory);
  auto store = Store::open(storage, true);
  write_sample(**store, 1);
  const auto old = memory.files();
  int seen = 0;  // the listing fails, the removal fails
  for (uint64_t call = 1; call < 20; ++call) {
    memory.files() = old;
    store = Store::open(storage, true);
    storage.fail(call, 1);
    Store::Commit commit = (*store)->begin();
    commit.manifest().segments.clear();
    const bool changed = commit.finish().ok();
    storage.heal();
    if (!changed || !memory.files().contains(layout::manifest_name(1))) continue;
    ++seen;
    for (const auto& [name, bytes] : old) REQUIRE(memory.files().contains(name));
    REQUIRE((*store)->begin().finish().ok());
    REQUIRE(memory.files().size() == 1);
  }
  CHECK(seen == 2);
}

TEST_CASE("a thousand small commits leave few files and at most twice the live bytes") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  for (uint32_t row = 0; row < 1000; ++row) {
    Store::Commit commit = (*store)->begin();
    add_collection(commit, 1, "docs");
    REQUIRE(commit.put({1, SegmentKind::kRows, row}, 1, noise(row, 500)).ok());
    REQUIRE(commit.put({1, SegmentKind::kDead, 0}, row + 1, noise(row, row / 8 + 1)).ok());
    REQUIRE(commit.finish().ok());
    REQUIRE(storage.files().size() <= 70);
  }
  uint64_t live = 0;
  for (const auto& [key, ref] : (*store)->manifest().segments) live += ref.length + 64;
  const uint64_t manifest = storage.files()[name_of_manifest(storage)].size();
  CHECK(total_bytes(storage) < 2 * live + manifest);
  CHECK((*store)->manifest().segments.size() == 1001);
  CHECK(reopened(storage) == contents(**store));
  CHECK((*store)->verify()->problems.empty());
}

TEST_CASE("a file that is mostly dead is given up, one that is mostly alive is kept") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  const auto replace = [&](uint32_t first, uint32_t end, uint64_t seed) {
    Store::Commit commit = (*store)->begin();
    add_collection(commit, 1, "docs");
    for (uint32_t row = first; row < end; ++row) {
      REQUIRE(commit.put({1, SegmentKind::kRows, row}, 1, noise(seed + row, 10'000)).ok());
    }
    REQUIRE(commit.finish().ok());
  };
  replace(0, 100, 0);
  const std::string first = names_of_data(storage).front();
  replace(0, 45, 1000);
  CHECK(storage.files().contains(first));
  CHECK(names_of_data(storage).size() == 2);
  replace(45, 55, 2000);
  CHECK_FALSE(storage.files().contains(first));
  CHECK(total_bytes(storage) < 1'100'000);
  CHECK(reopened(storage) == contents(**store));
  for (uint64_t round = 0; round < 30; ++round) {
    replace(static_cast<uint32_t>(round * 7 % 90), static_cast<uint32_t>(round * 7 % 90 + 10),
            3000 + round * 1000);
    REQUIRE(total_bytes(storage) < 2'100'000);
  }
  CHECK(reopened(storage) == contents(**store));
}

TEST_CASE("tidying that finds no room does not fail the commit, nor hide damage") {
  MemoryStorage memory;
  FaultyStorage storage(memory);
  auto store = Store::open(storage, true);
  const auto fill = [&](uint32_t first, uint32_t end, uint64_t seed) -> Result<void> {
    Store::Commit commit = (*store)->begin();
    add_collection(commit, 1, "docs");
    for (uint32_t row = first; row < end; ++row) {
      NEARFIELD_TRY(commit.put({1, SegmentKind::kRows, row}, 1, noise(seed + row, 100)));
    }
    return commit.finish();
  };
  REQUIRE(fill(0, 10, 0).ok());
  // The tenth segment of the old file is damaged and copied as it is.
  const SegmentRef last = (*store)->manifest().segments.at({1, SegmentKind::kRows, 9});
  memory.files()[names_of_data(memory).front()][last.offset] ^= std::byte{1};
  const auto old = memory.files();
  // A create and an append for the file, two appends for each put, one finish; then tidying reads
  // the old segment and creates a file for it, which fails.
  storage.fail(2 + 2 * 9 + 1 + 2, 1);
  REQUIRE(fill(0, 9, 100).ok());
  CHECK(memory.files().contains(old.begin()->first));  // still needed
  storage.heal();
  CHECK((*store)->verify()->problems.size() == 1);
  REQUIRE(fill(0, 9, 200).ok());
  CHECK_FALSE(memory.files().contains(old.begin()->first));
  CHECK((*store)->verify()->problems.size() == 1);
  CHECK(memory.files().size() == (*store)->manifest().files.size() + 1);
}

}  // namespace
}  // namespace nearfield::test
