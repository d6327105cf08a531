// Makes allocations of blocks fail on command: Buffer::allocate() is the one place where the core
// takes "no" for an answer. This program is linked so that its calls of aligned_alloc come here.
#pragma once

#include <cstdint>

namespace nearfield::test {

// From now on the `first`-th allocation of this thread (1 is the next) and the `count - 1` after it
// fail; first 0: none does.
void fail_allocations(uint64_t first, uint64_t count);
uint64_t allocations();  // of this thread since then

}  // namespace nearfield::test
