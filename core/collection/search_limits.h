// How far searches look: the numbers that plain and selective searches share.
#pragma once

#include <cstdint>

namespace nearfield {

// Where a graph was never calibrated or codes cannot tell when to stop, and for a rough guess of
// what a walk costs.
inline constexpr uint32_t kUsualEf = 100;
// Codes decide who is looked at, rows decide the order. Measured again are the 2 k nearest by code,
// at least so many, and all that rounding, in standard deviations, may have put behind the k-th.
inline constexpr uint64_t kLeastMeasured = 16;
inline constexpr double kDeviations = 3;
// The slack is about ten rows; of fewer, the last may lie so near that all else is far.
inline constexpr uint32_t kLeastRank = 10;

}  // namespace nearfield
