// Crashes: a random workload, and what a crash at any of its operations may leave on the disk.
//
// Every such disk must open, hold the last acknowledged flush or, whole, one that was under way or
// failed since, verify, and go on from there. (c16, c21, c23)
#pragma once

#include <cstdint>

#include "crash/report.h"

namespace nearfield::test {

void check_crashes(uint64_t seed, States& states);

}  // namespace nearfield::test
