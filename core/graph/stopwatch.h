// Stopwatch: when a step has used up its budget. The clock decides when to pause, never what is
// built.
#pragma once

#include <chrono>
#include <cstdint>

namespace nearfield {

class Stopwatch {
 public:
  explicit Stopwatch(uint64_t budget_us)
      : limited_(budget_us > 0), end_(Clock::now() + std::chrono::microseconds(budget_us)) {}
  bool is_over() const { return limited_ && Clock::now() >= end_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool limited_;
  Clock::time_point end_;
};

}  // namespace nearfield
