// Prune: which of a row's candidates become its links.
#pragma once

#include <cstdint>
#include <span>

#include "arena/codes.h"
#include "graph/walk.h"
#include "kernels/kernels.h"

namespace nearfield {

inline constexpr uint32_t kMaxDegree = 128;

// Robust prune (Vamana, Subramanya et al. 2019) on squared distances, in integers: nearest first, a
// candidate is chosen unless one chosen before is nearer to it, by more than the factor alpha
// = 1.2, than the row is. So links point in different directions, and the slack leaves shortcuts.
//
// Rows in the middle of others, a mean or a code that stands for "nothing", are nearer to every
// candidate than the row is: one of them would occlude all others and be the only link. So while
// fewer than a quarter of the places are taken, what is left is pruned again as if nothing were
// chosen yet: a layer more. (HNSW fills with the nearest pruned ones instead, keepPrunedConnections
// of Malkov & Yashunin 2018; those point in fewer directions.)
//
// The candidates are sorted and distinct and do not hold the row itself. `keep`, when given, says
// for each candidate whether it must be chosen; places are held for as many as fit.
// Writes at most `degree` slots to `out` and returns how many. REQUIRES: degree <= kMaxDegree.
uint32_t robust_prune(const Codes& codes, const Kernels& kernels,
                      std::span<const Candidate> candidates, const uint8_t* keep, uint32_t degree,
                      uint32_t* out, uint64_t& distances);

}  // namespace nearfield
