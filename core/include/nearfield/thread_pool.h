// ThreadPool: how the core spreads work without knowing threads. threads/std_thread_pool.h
// implements it, natively and, over workers, in a cross-origin isolated page; serial_pool() runs on
// the caller.
#pragma once

#include <cstddef>
#include <functional>

namespace nearfield {

class ThreadPool {
 public:
  virtual ~ThreadPool() = default;
  virtual unsigned workers() const = 0;  // at least 1; the calling thread is one of them
  // Calls body(begin, end, worker) for pieces of [0, count) of at most `grain` items, in any order
  // and at the same time, and returns when all are done. worker < workers() and no two calls that
  // run at once share it. Not reentrant. Results must not depend on how the range was cut.
  virtual void parallel_for(
      size_t count, size_t grain,
      const std::function<void(size_t begin, size_t end, unsigned worker)>& body) = 0;
};

ThreadPool& serial_pool();

}  // namespace nearfield
