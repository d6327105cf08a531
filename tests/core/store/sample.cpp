#include "sample.h"

#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "base/random.h"

namespace nearfield::test {

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Bytes noise(uint64_t seed, size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(random_below(seed, i, 256));
  return bytes;
}

void add_collection(Store::Commit& commit, uint32_t number, std::string name) {
  commit.manifest().collections[number] = {std::move(name), {}};
  if (commit.manifest().next_collection <= number) commit.manifest().next_collection = number + 1;
}

Contents contents(Store& store) {
  Contents found;
  for (const auto& [number, entry] : store.manifest().collections) {
    found.collections[number] = {entry.name, entry.state};
  }
  for (const auto& [key, ref] : store.manifest().segments) {
    const auto payload = store.load(key, ref);
    if (!payload.ok()) FAIL(payload.error().detail);
    const auto bytes = payload->bytes();
    found.segments[key] = {ref.rows, Bytes(bytes.begin(), bytes.end())};
  }
  return found;
}

Contents reopened(Storage& storage) {
  auto store = Store::open(storage, true);
  if (!store.ok()) FAIL(store.error().detail);
  return contents(**store);
}

void write_sample(Store& store, uint64_t version) {
  Store::Commit commit = store.begin();
  add_collection(commit, 1, "docs");
  add_collection(commit, 2, "Zürich");
  commit.manifest().collections[1].state = noise(version, 20);
  const Bytes rows = noise(version * 10 + 1, 300);
  const Bytes head = noise(version * 10 + 2, 7);
  const Bytes tail = noise(version * 10 + 3, 90);
  const std::vector<std::span<const std::byte>> parts = {head, {}, tail};
  REQUIRE(commit.put({1, SegmentKind::kRows, 0}, 5, rows).ok());
  REQUIRE(commit.put({1, SegmentKind::kIds, 0}, 5, parts).ok());
  REQUIRE(commit.put({1, SegmentKind::kRows, 5}, 2, noise(version * 10 + 4, 64)).ok());
  REQUIRE(commit.put({2, SegmentKind::kSeeds, 0}, 0, Bytes()).ok());
  const auto finished = commit.finish();
  if (!finished.ok()) FAIL(finished.error().detail);
}

void reseal_header(Bytes& file, size_t header_offset) {
  const uint64_t checksum = checksum64(std::span(file).subspan(header_offset, 56));
  std::memcpy(file.data() + header_offset + 56, &checksum, sizeof checksum);
}

std::string name_of_manifest(MemoryStorage& storage) {
  std::string found;
  for (const auto& [name, bytes] : storage.files()) {
    if (!name.starts_with("manifest-")) continue;
    REQUIRE(found.empty());
    found = name;
  }
  REQUIRE_FALSE(found.empty());
  return found;
}

std::vector<std::string> names_of_data(MemoryStorage& storage) {
  std::vector<std::string> found;
  for (const auto& [name, bytes] : storage.files()) {
    if (name.starts_with("data-")) found.push_back(name);
  }
  return found;
}

}  // namespace nearfield::test
