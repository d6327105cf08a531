// Single segments: writing one behind what a file holds already, and reading one back.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "nearfield/buffer.h"
#include "nearfield/result.h"
#include "nearfield/storage.h"
#include "store/store.h"

namespace nearfield {

// `rows 0..99 of links of collection "docs"`, the subject of error messages.
std::string describe_segment(const Manifest& manifest, const SegmentKey& key,
                             const SegmentRef& ref);

// Appends zeros up to ref.offset, the header and the payload to a file of `position` bytes.
// REQUIRES: ref.offset is payload_offset(position, ref.length), and length and checksum are those
// of the parts.
Result<void> append_segment(FileSink& sink, uint64_t position, const SegmentKey& key,
                            const SegmentRef& ref,
                            std::span<const std::span<const std::byte>> parts);

// The payload of a segment as it is stored, for reading only (see Storage::read_stored()); kCorrupt
// unless its header and its checksum are as the manifest says.
Result<Buffer> read_segment(Storage& storage, std::string_view file, const Manifest& manifest,
                            const SegmentKey& key, const SegmentRef& ref);

// The payload of a segment where it lies in a storage that maps. Nothing of it is read, so that the
// time does not depend on how large it is; kCorrupt when the file is too short.
Result<Buffer> map_segment(Storage& storage, std::string_view file, const Manifest& manifest,
                           const SegmentKey& key, const SegmentRef& ref);

}  // namespace nearfield
