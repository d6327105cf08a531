// crash_check: proves that a crash or a failing call loses nothing that was acknowledged.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "crash/crashes.h"
#include "crash/failures.h"
#include "crash/report.h"

using namespace nearfield::test;

namespace {

constexpr const char* kHelp =
    "crash_check [--states N] [--seed S] [--threads T] [--every K | --only K]\n"
    "\n"
    "Runs random workloads, one a seed, on a storage that records every operation. Whatever a "
    "crash\n"
    "may leave of them is opened and compared with a model: after every operation, with torn\n"
    "writes, with operations between syncs in any order, and crashed again while going on. Then\n"
    "each call to the storage and each allocation of a block fails, once and from there on.\n"
    "\n"
    "  --states N   stop after so many states (100000)\n"
    "  --seed S     of the first workload (1); the next has S + 1\n"
    "  --threads T  (all cores)\n"
    "  --every K    one of K states: more workloads for the same number (1)\n"
    "  --only K     of seed S the state of this number alone, as a violation names it\n"
    "\n"
    "The last line is \"states: N, violations: N\"; the status is 1 when there are violations.\n";

struct Options {
  uint64_t states = 100'000;
  uint64_t seed = 1;
  uint64_t threads = std::max(1u, std::thread::hardware_concurrency());
  uint64_t every = 1;
  std::optional<uint64_t> only;
};

// False when the arguments are not understood.
bool parse(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; i += 2) {
    if (i + 1 == count) return false;
    const std::string_view name = arguments[i];
    const std::string_view text = arguments[i + 1];
    uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return false;
    if (name == "--states") {
      options.states = value;
    } else if (name == "--seed") {
      options.seed = value;
    } else if (name == "--threads" && value > 0) {
      options.threads = value;
    } else if (name == "--every" && value > 0) {
      options.every = value;
    } else if (name == "--only") {
      options.only = value;
    } else {
      return false;
    }
  }
  return true;
}

void check(uint64_t seed, const Options& options, Report& report) {
  States states(report, seed, options.every, options.only);
  check_crashes(seed, states);
  check_failures(seed, states);
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  if (count == 2 && std::strcmp(arguments[1], "--help") == 0) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (!parse(count, arguments, options)) {
    std::fputs(kHelp, stderr);
    return 2;
  }
  Report report(options.states);
  if (options.only) {
    check(options.seed, options, report);
  } else {
    std::atomic<uint64_t> next_seed = options.seed;
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < options.threads; ++i) {
      threads.emplace_back([&] {
        while (!report.enough()) check(next_seed++, options, report);
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::printf("seeds: %llu to %llu\n", static_cast<unsigned long long>(options.seed),
                static_cast<unsigned long long>(next_seed - 1));
  }
  report.print();
  return report.violations() == 0 ? 0 : 1;
}
