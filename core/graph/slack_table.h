// SlackTable: how far beyond the nearest found a walk has to look for a wanted recall. Measured on
// the graph itself (calibrate.h) and stored with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nearfield {

// A slack is a part of a squared distance, in units of 1 / kSlackUnit.
inline constexpr uint32_t kSlackUnit = 4096;

struct SlackTable {
  // Expected recall of ten nearest, in thousandths, for which the slack is known.
  static constexpr std::array<uint32_t, 7> kRecall{800, 900, 950, 980, 990, 995, 999};

  uint32_t rows = 0;  // of the graph when it was measured; 0: never
  std::array<uint16_t, kRecall.size()> slack{};

  bool is_known() const { return rows > 0; }
  // The slack for a recall between 0 and 1, interpolated between those that were measured; that of
  // the first or the last beyond them.
  uint32_t at(double recall) const {
    const double wanted = recall * 1000;
    if (wanted <= kRecall.front()) return slack.front();
    for (size_t i = 1; i < kRecall.size(); ++i) {
      if (wanted > kRecall[i]) continue;
      const double part = (wanted - kRecall[i - 1]) / (kRecall[i] - kRecall[i - 1]);
      return static_cast<uint32_t>(slack[i - 1] + part * (slack[i] - slack[i - 1]) + 0.5);
    }
    return slack.back();
  }
  friend bool operator==(const SlackTable&, const SlackTable&) = default;
};

}  // namespace nearfield
