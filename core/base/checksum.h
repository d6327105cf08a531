// The checksum of the format: XXH3-64, seed 0 (libxxhash).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nearfield {

uint64_t checksum64(std::span<const std::byte> bytes);
// Of parts as if they were one piece.
uint64_t checksum64(std::span<const std::span<const std::byte>> parts);

}  // namespace nearfield
