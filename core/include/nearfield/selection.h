// Selection: which rows a search may return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearfield {

// Live rows by slot, one bit each from the lowest bit of the first word up. What
// Collection::select() returns; valid until the collection changes.
struct Selection {
  std::vector<uint64_t> words;  // slots at and after 64 * words.size() are not selected
  uint64_t count = 0;           // bits that are set

  bool contains(uint32_t slot) const {
    const size_t word = slot / 64;
    return word < words.size() && ((words[word] >> (slot % 64)) & 1) != 0;
  }
};

}  // namespace nearfield
