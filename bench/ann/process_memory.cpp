#include "process_memory.h"

#include <fstream>
#include <stdexcept>
#include <string>

namespace bench {

ProcessMemory process_memory() {
  ProcessMemory memory;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    const auto bytes = [&] { return std::stoll(line.substr(line.find(':') + 1)) * 1024; };
    if (line.starts_with("VmRSS:")) memory.resident_bytes = bytes();
    if (line.starts_with("VmHWM:")) memory.peak_bytes = bytes();
  }
  if (memory.resident_bytes == 0) throw std::runtime_error("/proc/self/status has no VmRSS");
  return memory;
}

}  // namespace bench
