// Reservoirs: for every row the nearest candidates that have been proposed so far.
//
// A reservoir holds the `size` smallest distinct (distance, slot) of all that was offered, whatever
// the order: one that is pushed out, or refused, is larger than `size` others and never belongs to
// the answer later. So leaves may be merged by any thread in any order.
// Memory: 8 * size + 2 bytes a row.
// Threads: offer() from any, for any row; candidates() when nobody offers.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "arena/block_array.h"
#include "graph/walk.h"
#include "nearfield/result.h"

namespace nearfield {

inline constexpr uint32_t kMaxReservoir = 512;

class Reservoirs {
 public:
  // REQUIRES: size <= kMaxReservoir.
  explicit Reservoirs(uint32_t size) : kept_(size, kBlockShift), locks_(kLocks) {}
  Reservoirs(const Reservoirs&) = delete;
  Reservoirs& operator=(const Reservoirs&) = delete;

  Result<void> resize(uint32_t rows);
  // Merges candidates, sorted and distinct, into those of a row.
  void offer(uint32_t row, std::span<const Candidate> candidates);
  // Sorted.
  std::span<const Candidate> candidates(uint32_t row) const {
    return {kept_.row(row), counts_[row]};
  }

 private:
  static constexpr unsigned kBlockShift = 12;
  static constexpr size_t kLocks = 1024;

  BlockArray<Candidate> kept_;
  std::vector<uint16_t> counts_;
  std::vector<std::atomic_flag> locks_;
};

}  // namespace nearfield
