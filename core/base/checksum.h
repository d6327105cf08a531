// The checksum of the format: XXH3-64, seed 0 (libxxhash).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nearfield {

uint64_t checksum64(std::span<const std::byte> bytes);

}  // namespace nearfield
