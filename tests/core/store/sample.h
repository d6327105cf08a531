// Small stores to break, and ways to read and damage them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/checksum.h"
#include "nearfield/storage.h"
#include "store/store.h"

namespace nearfield::test {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::string_view text);
// Pseudo-random bytes, the same for the same seed.
Bytes noise(uint64_t seed, size_t size);

// Adds collection `number` of this name to a commit.
void add_collection(Store::Commit& commit, uint32_t number, std::string name);

// Everything that a store holds, payloads included; what tests compare. Requires that it all loads.
struct Contents {
  std::map<uint32_t, std::pair<std::string, Bytes>> collections;
  std::map<SegmentKey, std::pair<uint32_t, Bytes>> segments;
  friend bool operator==(const Contents&, const Contents&) = default;
};
Contents contents(Store& store);
// Of what the storage holds when opened anew.
Contents reopened(Storage& storage);

// Two collections and four segments, the state `version` telling two such states apart.
void write_sample(Store& store, uint64_t version);

// Puts the checksum of a header right after a test changed it, so that the change itself is judged.
void reseal_header(Bytes& file, size_t header_offset = 0);

std::string name_of_manifest(MemoryStorage& storage);  // the only one
std::vector<std::string> names_of_data(MemoryStorage& storage);

inline uint64_t total_bytes(MemoryStorage& storage) {
  uint64_t total = 0;
  for (const auto& [name, bytes] : storage.files()) total += bytes.size();
  return total;
}

}  // namespace nearfield::test
