// The memory of this process, as the system counts it.
#pragma once

#include <cstdint>

namespace bench {

struct ProcessMemory {
  int64_t resident_bytes = 0;  // VmRSS
  int64_t peak_bytes = 0;      // VmHWM: the most that was ever resident
};

ProcessMemory process_memory();  // throws std::runtime_error where there is no /proc

}  // namespace bench
