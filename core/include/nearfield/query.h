// What a search asks and what it answers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/types.h"

namespace nearfield {

inline constexpr uint32_t kDefaultEf = 100;

struct SearchOptions {
  uint32_t k = 10;           // rows wanted, at least 1; fewer come back only when fewer exist
  uint32_t ef = kDefaultEf;  // candidates kept while walking, at least 1; raised to k when smaller
  bool exact = false;        // compare with every row instead of walking the graph
};

struct Hit {
  uint32_t slot;   // the row's place; valid until the collection changes
  float distance;  // smaller is nearer, see Metric; ties are ordered by slot
};

struct SearchStats {
  uint64_t distance_computations = 0;  // on codes and on rows
  uint64_t code_distances = 0;         // of which on codes
};

// One record as it was given; under f16 the vector is the rounded one.
struct Record {
  Id id;
  std::vector<float> vector;
  std::string metadata;  // JSON text, empty when none was given
};

}  // namespace nearfield
