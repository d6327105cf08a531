// The progress of a long command: one line on a terminal (standard error), nothing elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace nearfield::cli {

class Progress {
 public:
  Progress();
  ~Progress();  // a line that is not finished is wiped
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin(const std::string& phase);
  // `share` of the phase is done (0..1); `rows` of 0 are not shown. Draws ten times a second.
  void update(double share, uint64_t rows = 0);
  void finish(uint64_t rows = 0);  // leaves the phase and its time on the terminal

 private:
  using Clock = std::chrono::steady_clock;

  bool on_terminal_;
  bool drawn_ = false;
  std::string phase_;
  Clock::time_point start_;
  Clock::time_point last_drawn_;
};

// "49,000"
std::string with_commas(uint64_t number);
double seconds_since(std::chrono::steady_clock::time_point start);
// "0.4 s", "12 s", "3:20 min", "1:02 h"
std::string duration(double seconds);
// "512 bytes", "19.6 MB"
std::string byte_count(uint64_t bytes);

}  // namespace nearfield::cli
