// One file and the way back.
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "sample.h"
#include "store/layout.h"
#include "support/faulty_storage.h"

namespace nearfield::test {
namespace {

constexpr const char* kPack = "store.nfp";

// A storage that holds the pack of the sample, and what is in it.
struct Packed {
  MemoryStorage storage;
  Contents inside;

  Packed() {
    MemoryStorage source;
    auto store = Store::open(source, true);
    write_sample(**store, 1);
    write_sample(**store, 2);
    inside = contents(**store);
    auto sink = storage.create(kPack);
    REQUIRE((*store)->pack(**sink).ok());
  }
  Bytes& bytes() { return storage.files()[kPack]; }
};

TEST_CASE("a pack unpacks to the same contents, in files of the size preferred there") {
  Packed packed;
  for (const uint64_t preferred : {uint64_t{1}, uint64_t{4} << 20}) {
    MemoryStorage destination(preferred);
    REQUIRE(Store::unpack(packed.storage, kPack, destination).ok());
    CHECK(reopened(destination) == packed.inside);
    CHECK(names_of_data(destination).size() == (preferred == 1 ? 4 : 1));
  }
}

TEST_CASE("an empty store packs and unpacks") {
  MemoryStorage source;
  MemoryStorage destination;
  auto store = Store::open(source, true);
  auto sink = source.create(kPack);
  REQUIRE((*store)->pack(**sink).ok());
  REQUIRE(Store::unpack(source, kPack, destination).ok());
  CHECK(reopened(destination) == Contents{});
}

TEST_CASE("a pack is unpacked into an empty place only") {
  Packed packed;
  MemoryStorage destination;
  REQUIRE(Store::unpack(packed.storage, kPack, destination).ok());
  const auto before = destination.files();
  const auto again = Store::unpack(packed.storage, kPack, destination);
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().code == ErrorCode::kAlreadyExists);
  CHECK(destination.files() == before);
  MemoryStorage foreign;
  foreign.files()["x"] = bytes_of("x");
  CHECK(Store::unpack(packed.storage, kPack, foreign).error().code == ErrorCode::kForeignFile);
  CHECK(Store::unpack(packed.storage, "missing", destination).error().code == ErrorCode::kNotFound);
}

TEST_CASE("a pack cut at any byte is refused and leaves the destination empty") {
  Packed packed;
  const Bytes whole = packed.bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    packed.bytes() = Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    MemoryStorage destination;
    const auto unpacked = Store::unpack(packed.storage, kPack, destination);
    REQUIRE_FALSE(unpacked.ok());
    REQUIRE(unpacked.error().code == ErrorCode::kCorrupt);
    REQUIRE(destination.files().empty());
  }
}

TEST_CASE("a flipped byte of a pack is refused, unless it is padding") {
  Packed packed;
  for (size_t i = 0; i < packed.bytes().size(); ++i) {
    packed.bytes()[i] ^= std::byte{4};
    MemoryStorage destination;
    const auto unpacked = Store::unpack(packed.storage, kPack, destination);
    if (unpacked.ok()) {
      REQUIRE(reopened(destination) == packed.inside);
      REQUIRE(i > 64);
    } else {
      REQUIRE((unpacked.error().code == ErrorCode::kCorrupt ||
               (i < 8 && unpacked.error().code == ErrorCode::kForeignFile)));
      REQUIRE(destination.files().empty());
    }
    packed.bytes()[i] ^= std::byte{4};
  }
}

TEST_CASE("a pack of a later version is refused") {
  Packed packed;
  packed.bytes()[8] = std::byte{9};
  reseal_header(packed.bytes());
  MemoryStorage destination;
  CHECK(Store::unpack(packed.storage, kPack, destination).error().code == ErrorCode::kNewerVersion);
}

TEST_CASE("sizes in a pack's header that overflow are refused") {  // c15
  Packed packed;
  const Bytes whole = packed.bytes();
  for (const size_t offset : {24u, 32u, 48u}) {
    packed.bytes() = whole;
    for (size_t i = 0; i < 8; ++i) packed.bytes()[offset + i] = std::byte{0xff};
    reseal_header(packed.bytes());
    MemoryStorage destination;
    CHECK(Store::unpack(packed.storage, kPack, destination).error().code == ErrorCode::kCorrupt);
  }
}

TEST_CASE("a pack whose manifest speaks of other places is refused") {
  Packed packed;
  const Bytes whole = packed.bytes();
  uint64_t manifest_length = 0;
  std::memcpy(&manifest_length, whole.data() + 32, 8);
  const auto refusal = [&](size_t offset, uint64_t value) {
    packed.bytes() = whole;
    std::memcpy(packed.bytes().data() + offset, &value, 8);
    const uint64_t checksum = checksum64(std::span(packed.bytes()).subspan(64, manifest_length));
    std::memcpy(packed.bytes().data() + 40, &checksum, 8);
    reseal_header(packed.bytes());
    MemoryStorage destination;
    const auto unpacked = Store::unpack(packed.storage, kPack, destination);
    REQUIRE_FALSE(unpacked.ok());
    REQUIRE(unpacked.error().code == ErrorCode::kCorrupt);
    return unpacked.error().detail;
  };
  // The length of the only file, behind the counts and the file's number.
  CHECK(refusal(64 + 24 + 4, whole.size() + 1).find("other files") != std::string::npos);
  // The place of the first of the four segments.
  const size_t first_segment = 64 + static_cast<size_t>(manifest_length) - 4 * 48;
  CHECK(refusal(first_segment + 24, 128).find("overlaps the manifest") != std::string::npos);
}

TEST_CASE("a damaged store is not packed") {
  MemoryStorage source;
  FaultyStorage mapped(source);
  mapped.pretend_to_map();
  auto store = Store::open(mapped, true);
  write_sample(**store, 1);
  const auto& [key, ref] = *(*store)->manifest().segments.begin();
  source.files()[layout::data_name(ref.file)][ref.offset] ^= std::byte{1};
  MemoryStorage destination;
  auto sink = destination.create(kPack);
  CHECK((*store)->pack(**sink).error().code == ErrorCode::kCorrupt);
}

TEST_CASE("unpacking that fails at any call leaves the destination empty") {
  Packed packed;
  for (uint64_t call = 1;; ++call) {
    MemoryStorage memory(300);
    FaultyStorage destination(memory);
    destination.fail(call, 1);
    const auto unpacked = Store::unpack(packed.storage, kPack, destination);
    if (unpacked.ok()) {
      CHECK(reopened(memory) == packed.inside);
      if (destination.calls() < call) break;
    } else {
      REQUIRE(memory.files().empty());
    }
  }
}

}  // namespace
}  // namespace nearfield::test
