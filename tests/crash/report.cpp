#include "crash/report.h"

#include <cstdio>
#include <numeric>

namespace nearfield::test {

namespace {

constexpr uint64_t kMostViolations = 10;
constexpr auto kProgressEvery = std::chrono::seconds(5);
constexpr const char* kNames[] = {"prefixes",     "torn writes",
                                  "reorderings",  "crashes after recovery",
                                  "failed calls", "failed allocations"};

}  // namespace

void Report::add(Tried what) {
  const std::lock_guard lock(mutex_);
  ++tried_[static_cast<size_t>(what)];
  const auto now = std::chrono::steady_clock::now();
  if (now - last_progress_ < kProgressEvery) return;
  last_progress_ = now;
  std::printf("%llu of %llu states ...\n", static_cast<unsigned long long>(states()),
              static_cast<unsigned long long>(wanted_));
  std::fflush(stdout);
}

void Report::violation(uint64_t seed, uint64_t state, const std::string& what) {
  const std::lock_guard lock(mutex_);
  ++violations_;
  if (violations_ > kMostViolations) return;
  std::printf("violation, again with --seed %llu --only %llu: %s\n",
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(state),
              what.c_str());
  std::fflush(stdout);
}

bool Report::enough() {
  const std::lock_guard lock(mutex_);
  return states() >= wanted_ || violations_ >= kMostViolations;
}

uint64_t Report::states() const {
  return std::accumulate(tried_.begin(), tried_.end(), uint64_t{0});
}

void Report::print() {
  for (size_t i = 0; i < tried_.size(); ++i)
    std::printf("%s: %llu\n", kNames[i], static_cast<unsigned long long>(tried_[i]));
  std::printf("states: %llu, violations: %llu\n", static_cast<unsigned long long>(states()),
              static_cast<unsigned long long>(violations_));
}

}  // namespace nearfield::test
