// Manifests as bytes. What is read is checked whole: a Manifest that comes out of here can be used
// without further checks of its numbers against each other.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "nearfield/result.h"
#include "store/store.h"

namespace nearfield {

// kCorrupt, naming `file`, unless: numbers are below next_file and next_collection; names are
// distinct and of 1 to kMaxNameBytes; every segment is of a known kind, a listed collection and a
// listed file, aligned and inside its file; no two share bytes, nor rows of one kind.
Result<void> check_manifest(const Manifest& manifest, std::string_view file);

// The payload alone, which packs hold too. The generation is not a part of it.
std::vector<std::byte> encode_manifest(const Manifest& manifest);
Result<Manifest> decode_manifest(std::span<const std::byte> payload, std::string_view file);

// The file of a manifest: header and payload.
Result<Manifest> decode_manifest_file(std::span<const std::byte> bytes, uint64_t generation,
                                      std::string_view file);

}  // namespace nearfield
