// RandomStream: numbers drawn one after the other from a seed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/random.h"

namespace nearfield::test {

class RandomStream {
 public:
  explicit RandomStream(uint64_t seed) : seed_(seed) {}
  uint32_t below(size_t bound) {
    return random_below(seed_, counter_++, static_cast<uint32_t>(bound));
  }
  bool one_in(uint32_t count) { return below(count) == 0; }

 private:
  uint64_t seed_;
  uint64_t counter_ = 0;
};

}  // namespace nearfield::test
