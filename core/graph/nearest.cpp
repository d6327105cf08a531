#include "graph/nearest.h"

#include <algorithm>
#include <array>
#include <climits>

namespace nearfield {

// Two passes that compilers turn into vector code. The first finds the minimum of each of 32
// interleaved parts: the count-th smallest of these is a bound that at least `count` distances keep
// and few others. The second looks closer only at the groups in which one keeps it.
void nearest(std::span<const int32_t> distances, size_t count, std::vector<Candidate>& out) {
  constexpr size_t kParts = 32;
  constexpr size_t kGroup = 16;
  static_assert(kMaxNearest < kParts);
  const size_t n = distances.size();
  const int32_t* d = distances.data();

  std::array<int32_t, kParts> minima;
  minima.fill(INT_MAX);
  size_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (size_t j = 0; j < kParts; ++j) minima[j] = std::min(minima[j], d[i + j]);
  }
  for (size_t j = 0; i + j < n; ++j) minima[j] = std::min(minima[j], d[i + j]);
  const auto nth = minima.begin() + static_cast<ptrdiff_t>(count) - 1;
  std::nth_element(minima.begin(), nth, minima.end());
  const int32_t bound = std::min(*nth, INT_MAX - 1);

  out.clear();
  i = 0;
  for (; i + kGroup <= n; i += kGroup) {
    int32_t any = 0;
    for (size_t j = 0; j < kGroup; ++j) any |= d[i + j] <= bound ? 1 : 0;
    if (any == 0) continue;
    for (size_t j = i; j < i + kGroup; ++j) {
      if (d[j] <= bound) out.push_back({d[j], static_cast<uint32_t>(j)});
    }
  }
  for (; i < n; ++i) {
    if (d[i] <= bound) out.push_back({d[i], static_cast<uint32_t>(i)});
  }
  std::sort(out.begin(), out.end());
  if (out.size() > count) out.resize(count);
}

}  // namespace nearfield
