#include "page_threads.h"

#include <emscripten/threading.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "threads/std_thread_pool.h"

namespace nearfield::wasm {
namespace {

class PageThreads final : public ThreadPool {
 public:
  void plan(unsigned count) { planned_ = count; }

  void start() {
    threads_ = std::make_unique<StdThreadPool>(planned_);
    std::set_new_handler(out_of_memory);
  }

  void stop() { threads_.reset(); }

  // Never less than there are, whenever they start.
  unsigned workers() const override { return planned_; }

  void parallel_for(size_t count, size_t grain,
                    const std::function<void(size_t, size_t, unsigned)>& body) override {
    ThreadPool& pool = threads_ ? *threads_ : serial_pool();
    pool.parallel_for(count, grain, body);
  }

 private:
  // Aborting in a thread would end that thread alone, and leave the engine waiting for it.
  static void out_of_memory();

  unsigned planned_ = 1;
  std::unique_ptr<StdThreadPool> threads_;
};

// Never destroyed: its threads end with their workers.
PageThreads& instance() {
  static auto* const threads = new PageThreads;
  return *threads;
}

void PageThreads::out_of_memory() {
  if (emscripten_is_main_runtime_thread()) std::abort();
  instance().threads_->lose_thread();
}

}  // namespace

void plan_threads(unsigned count) { instance().plan(count); }
void start_threads() { instance().start(); }
void stop_threads() { instance().stop(); }
ThreadPool* page_threads() { return &instance(); }

}  // namespace nearfield::wasm
