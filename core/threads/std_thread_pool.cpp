#include "threads/std_thread_pool.h"

#include <algorithm>
#include <cstdlib>

namespace nearfield {

StdThreadPool::StdThreadPool(unsigned workers) {
  if (workers == 0) workers = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned worker = 1; worker < workers; ++worker) {
    threads_.emplace_back([this, worker] { serve(worker); });
  }
}

StdThreadPool::~StdThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  started_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void StdThreadPool::parallel_for(size_t count, size_t grain,
                                 const std::function<void(size_t, size_t, unsigned)>& body) {
  if (count == 0) return;
  grain = std::max<size_t>(grain, 1);
  const Job job{&body, count, grain, (count - 1) / grain + 1};
  if (job.pieces == 1 || threads_.empty()) {
    next_piece_.store(0, std::memory_order_relaxed);
    work(job, 0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    job_ = job;
    next_piece_.store(0, std::memory_order_relaxed);
    busy_ = static_cast<unsigned>(threads_.size());
    ++jobs_;
  }
  started_.notify_all();
  work(job, 0);
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return busy_ == 0 || lost_; });
  if (lost_) std::abort();
}

void StdThreadPool::lose_thread() {
  std::unique_lock lock(mutex_);
  lost_ = true;
  ended_.notify_one();
  while (true) started_.wait(lock);
}

// A thread's life. Every thread takes part in every job, even if no piece is left for it: only then
// is it sure that none still looks at a job that is over.
void StdThreadPool::serve(unsigned worker) {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    started_.wait(lock, [&] { return stopping_ || jobs_ != seen; });
    if (stopping_) return;
    seen = jobs_;
    const Job job = job_;
    lock.unlock();
    work(job, worker);
    lock.lock();
    if (--busy_ == 0) ended_.notify_one();
  }
}

// The pieces need no order among themselves, and the mutex orders what they wrote: relaxed will do.
void StdThreadPool::work(const Job& job, unsigned worker) {
  while (true) {
    const size_t piece = next_piece_.fetch_add(1, std::memory_order_relaxed);
    if (piece >= job.pieces) return;
    const size_t begin = piece * job.grain;
    (*job.body)(begin, begin + std::min(job.grain, job.count - begin), worker);
  }
}

}  // namespace nearfield
