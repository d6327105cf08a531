// StdThreadPool: a ThreadPool of threads that live as long as it does.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "nearfield/thread_pool.h"

namespace nearfield {

class StdThreadPool final : public ThreadPool {
 public:
  // `workers` counts the calling thread; 0 means one for every processor.
  explicit StdThreadPool(unsigned workers);
  ~StdThreadPool() override;
  StdThreadPool(const StdThreadPool&) = delete;
  StdThreadPool& operator=(const StdThreadPool&) = delete;

  unsigned workers() const override { return static_cast<unsigned>(threads_.size()) + 1; }
  // For a thread of the pool that cannot go on, where nothing else would end the program: the
  // caller of parallel_for aborts instead of waiting for it. Does not return.
  [[noreturn]] void lose_thread();

  void parallel_for(size_t count, size_t grain,
                    const std::function<void(size_t, size_t, unsigned)>& body) override;

 private:
  struct Job {
    const std::function<void(size_t, size_t, unsigned)>* body = nullptr;
    size_t count = 0;
    size_t grain = 1;
    size_t pieces = 0;
  };
  void serve(unsigned worker);
  void work(const Job& job, unsigned worker);

  std::mutex mutex_;  // guards the five below
  std::condition_variable started_;
  std::condition_variable ended_;
  Job job_;
  uint64_t jobs_ = 0;  // begun so far
  unsigned busy_ = 0;  // threads that are not through with the current one
  bool stopping_ = false;
  bool lost_ = false;

  std::atomic<size_t> next_piece_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace nearfield
