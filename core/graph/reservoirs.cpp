#include "graph/reservoirs.h"

#include <algorithm>
#include <array>

namespace nearfield {

Result<void> Reservoirs::resize(uint32_t rows) {
  NEARFIELD_TRY(kept_.resize(rows));
  counts_.resize(rows, 0);
  return {};
}

void Reservoirs::offer(uint32_t row, std::span<const Candidate> candidates) {
  // Held for a merge of at most a few hundred elements, by one of a thousand locks: spinning is
  // rare and short, and unlike a mutex it exists on every target.
  std::atomic_flag& lock = locks_[row % kLocks];
  while (lock.test_and_set(std::memory_order_acquire)) {
  }
  const size_t size = kept_.stride();
  Candidate* kept = kept_.row(row);
  const Candidate* old = kept;
  const Candidate* const old_end = kept + counts_[row];
  std::array<Candidate, kMaxReservoir> merged;
  size_t count = 0;
  for (const Candidate& candidate : candidates) {
    while (count < size && old != old_end && *old < candidate) merged[count++] = *old++;
    if (count == size) break;
    if (old != old_end && *old == candidate) ++old;
    merged[count++] = candidate;
  }
  while (count < size && old != old_end) merged[count++] = *old++;
  std::copy_n(merged.begin(), count, kept);
  counts_[row] = static_cast<uint16_t>(count);
  lock.clear(std::memory_order_release);
}

}  // namespace nearfield
