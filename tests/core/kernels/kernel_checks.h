// Every table against scalar, bit for bit. Plain functions, so that one set of checks serves the
// Catch2 tests and the small program that runs where Catch2 does not: under qemu and in Node.
#pragma once

#include <string>
#include <vector>

#include "kernels/kernels.h"

namespace nearfield::test {

// Each returns one line for every difference found; none means that the table is right.
std::vector<std::string> check_f32(const Kernels& table);
std::vector<std::string> check_f16(const Kernels& table);
std::vector<std::string> check_u7(const Kernels& table);
std::vector<std::string> check_blocks(const Kernels& table);
// That tables are found by name, and that the environment variable chooses the one that runs.
std::vector<std::string> check_dispatch();
// That the self check passes a right table and fails one with any kernel wrong.
std::vector<std::string> check_self_check(const Kernels& table);

}  // namespace nearfield::test
