#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "threads/std_thread_pool.h"

namespace nearfield {
namespace {

TEST_CASE("every item is visited once, by pieces of at most the grain") {
  for (const unsigned workers : {1u, 2u, 5u}) {
    StdThreadPool pool(workers);
    REQUIRE(pool.workers() == workers);
    for (const size_t count : {0u, 1u, 7u, 1000u}) {
      for (const size_t grain : {0u, 1u, 3u, 5000u}) {
        std::vector<std::atomic<int>> visits(count);
        std::atomic<bool> sound = true;
        pool.parallel_for(count, grain, [&](size_t begin, size_t end, unsigned worker) {
          if (begin >= end || end > count || worker >= workers) sound = false;
          if (end - begin > (grain == 0 ? 1 : grain)) sound = false;
          for (size_t i = begin; i < end; ++i) ++visits[i];
        });
        CHECK(sound);
        bool once = true;
        for (const auto& visit : visits) once = once && visit == 1;
        CHECK(once);
      }
    }
  }
}

TEST_CASE("no two calls that run at once share a worker's number") {
  StdThreadPool pool(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<bool> shared = false;
  for (int round = 0; round < 200; ++round) {
    pool.parallel_for(64, 1, [&](size_t, size_t, unsigned worker) {
      if (++inside[worker] != 1) shared = true;
      --inside[worker];
    });
  }
  CHECK_FALSE(shared);
}

TEST_CASE("what the pieces wrote is there when the call returns, job after job") {
  StdThreadPool pool(3);
  std::vector<uint64_t> sums(100);  // not atomic: the pool must order the writes
  for (uint64_t round = 1; round <= 2000; ++round) {
    pool.parallel_for(sums.size(), 7, [&](size_t begin, size_t end, unsigned) {
      for (size_t i = begin; i < end; ++i) sums[i] += i;
    });
    if (round % 500 == 0) CHECK(sums[99] == 99 * round);
  }
}

TEST_CASE("zero workers means one for every processor") { CHECK(StdThreadPool(0).workers() >= 1); }

}  // namespace
}  // namespace nearfield
