// Workload: a seeded, endless list of actions that exercise everything a flush may write.
#pragma once

#include <cstdint>

#include "crash/model.h"
#include "crash/random_stream.h"

namespace nearfield::test {

struct Shape {
  uint32_t actions;
  uint32_t flush_every;  // on average
  uint32_t linked_rows;  // rows of the first action, linked by the second; 0: none
  uint64_t preferred_file_bytes;
  bool maps;
  bool faults;  // whether calls fail now and then
};
Shape shape_of(uint64_t seed);

class Workload {
 public:
  // The seed decides the options of collections, and what is drawn unless `random` is given.
  explicit Workload(uint64_t seed) : Workload(seed, RandomStream(seed)) {}
  Workload(uint64_t seed, RandomStream random) : seed_(seed), random_(random) {}

  Action next(const Shape& shape);
  Action upsert(uint32_t rows);  // into any collection

 private:
  CollectionOptions options(uint32_t which) const;
  Id draw_id();
  ModelRecord draw_record(uint32_t dimensions);
  std::vector<Field> draw_fields();
  Action upsert_into(uint32_t which, uint32_t rows);

  uint64_t seed_;
  RandomStream random_;
  uint32_t begun_ = 0;  // actions
  uint32_t ids_ = 60;   // from how many ids is drawn
};

}  // namespace nearfield::test
