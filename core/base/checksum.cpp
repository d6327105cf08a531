#include "base/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace nearfield {

uint64_t checksum64(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace nearfield
