#include "graph/prune.h"

#include <algorithm>
#include <array>

namespace nearfield {
namespace {

constexpr uint32_t kEnoughPart = 4;  // of a row's places, below which a layer is added

// Whether a row this far from a chosen one is better reached through it: alpha * to_chosen <=
// to_row.
bool occludes(int32_t to_chosen, int32_t to_row) {
  return int64_t{6} * to_chosen <= int64_t{5} * to_row;
}

}  // namespace

uint32_t robust_prune(const Codes& codes, const Kernels& kernels,
                      std::span<const Candidate> candidates, const uint8_t* keep, uint32_t degree,
                      uint32_t* out, uint64_t& distances) {
  const size_t stride = codes.stride();
  std::array<const uint8_t*, kMaxDegree + 3> chosen;
  uint32_t count = 0;
  uint64_t computed = 0;

  const auto is_occluded = [&](const Candidate& candidate, uint32_t layer) {
    const uint8_t* code = codes.code(candidate.slot);
    for (uint32_t i = layer; i < count; i += 4) {
      // The last four repeat one, so that there is no tail.
      for (uint32_t j = count; j < i + 4; ++j) chosen[j] = chosen[count - 1];
      int32_t dots[4];
      kernels.dot4_u7(code, chosen.data() + i, stride, dots);
      const uint32_t valid = std::min(4u, count - i);
      computed += valid;
      for (uint32_t j = 0; j < valid; ++j) {
        const int32_t distance = codes.build_distance(candidate.slot, out[i + j], dots[j]);
        if (occludes(distance, candidate.distance)) return true;
      }
    }
    return false;
  };

  uint32_t kept = 0;  // of those that must be chosen, how many are still to come
  if (keep != nullptr) {
    for (size_t i = 0; i < candidates.size(); ++i) kept += keep[i];
  }
  const auto choose_layer = [&](uint32_t layer) {
    for (size_t i = 0; i < candidates.size() && count < degree; ++i) {
      const Candidate& candidate = candidates[i];
      if (std::find(out, out + layer, candidate.slot) != out + layer) continue;
      if (i + 2 < candidates.size()) {
        const uint8_t* next = codes.code(candidates[i + 2].slot);
        for (size_t j = 0; j < stride; j += 64) __builtin_prefetch(next + j);
      }
      if (keep != nullptr && keep[i] != 0) {
        --kept;
      } else if (count + kept >= degree || is_occluded(candidate, layer)) {
        continue;
      }
      chosen[count] = codes.code(candidate.slot);
      out[count++] = candidate.slot;
    }
  };
  const auto enough = std::min<size_t>(degree / kEnoughPart, candidates.size());
  choose_layer(0);
  for (uint32_t layer = 0; count < enough && layer < count;) {
    layer = count;
    choose_layer(layer);
  }
  distances += computed;
  return count;
}

}  // namespace nearfield
