// Failures: the n-th call to the storage, or the n-th allocation of a block, fails, for every n,
// once or from there on.
//
// The action under way must answer with a typed error and leave memory and storage as they were; it
// must succeed when it is repeated. (c21, c26)
#pragma once

#include <cstdint>

#include "crash/report.h"

namespace nearfield::test {

void check_failures(uint64_t seed, States& states);

}  // namespace nearfield::test
