// Report: counts what was tried, over all threads, and prints progress and violations.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace nearfield::test {

enum class Tried { kPrefix, kTorn, kReordering, kCrashAgain, kCall, kAllocation };

class Report {
 public:
  explicit Report(uint64_t wanted) : wanted_(wanted) {}

  // Threads: any.
  void add(Tried what);
  void violation(uint64_t seed, uint64_t state, const std::string& what);
  bool enough();  // states, or violations to look at

  void print();  // the last lines
  uint64_t violations() const { return violations_; }

 private:
  uint64_t states() const;

  const uint64_t wanted_;
  std::mutex mutex_;
  std::array<uint64_t, 6> tried_ = {};
  uint64_t violations_ = 0;
  std::chrono::steady_clock::time_point last_progress_ = std::chrono::steady_clock::now();
};

// The states of one seed, numbered as they come, so that each can be checked alone.
class States {
 public:
  // Of all, every `every`-th is to be checked, or `only` one.
  States(Report& report, uint64_t seed, uint64_t every, std::optional<uint64_t> only)
      : report_(report), seed_(seed), every_(every), only_(only) {}

  // Moves to the next state; whether it is to be checked.
  bool next() {
    ++number_;
    return only_ ? number_ == *only_ : number_ % every_ == 0;
  }
  uint64_t number() const { return number_; }
  bool enough() { return !only_ && report_.enough(); }
  void add(Tried what) { report_.add(what); }
  void violation(const std::string& what) { report_.violation(seed_, number_, what); }

 private:
  Report& report_;
  uint64_t seed_;
  uint64_t every_;
  std::optional<uint64_t> only_;
  uint64_t number_ = 0;
};

}  // namespace nearfield::test
