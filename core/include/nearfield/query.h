// What a search asks and what it answers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/types.h"

namespace nearfield {

inline constexpr double kDefaultRecall = 0.98;

struct SearchOptions {
  uint32_t k = 10;  // rows wanted, at least 1; fewer come back only when fewer exist
  // The share of the k nearest that a search is expected to find, above 0 and below 1. How far it
  // has to look for that is measured while linking; queries unlike the rows may find less.
  double recall = kDefaultRecall;
  // Candidates kept while walking, at least 1, raised to k when smaller: in place of `recall`.
  std::optional<uint32_t> ef = {};
  bool exact = false;  // compare with every row instead of walking the graph
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
