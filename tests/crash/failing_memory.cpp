#include "crash/failing_memory.h"

#include <cstddef>

namespace {

thread_local uint64_t calls = 0;
thread_local uint64_t first_failing = 0;
thread_local uint64_t failing = 0;

}  // namespace

// The names that the linker's option --wrap gives.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" void* __real_aligned_alloc(size_t alignment, size_t size);
extern "C" void* __wrap_aligned_alloc(size_t alignment, size_t size);

extern "C" void* __wrap_aligned_alloc(size_t alignment, size_t size) {
  ++calls;
  if (first_failing > 0 && calls >= first_failing && calls - first_failing < failing)
    return nullptr;
  return __real_aligned_alloc(alignment, size);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace nearfield::test {

void fail_allocations(uint64_t first, uint64_t count) {
  calls = 0;
  first_failing = first;
  failing = count;
}

uint64_t allocations() { return calls; }

}  // namespace nearfield::test
