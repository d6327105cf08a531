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

enum class Check {
  kHeader,
  kWhole,  // and the payload is what is stored, for reading only: see Storage::read_stored()
};

// The payload of a segment whose header, and with kWhole its checksum, are as the manifest says;
// kCorrupt otherwise.
Result<Buffer> read_segment(Storage& storage, std::string_view file, const Manifest& manifest,
                            const SegmentKey& key, const SegmentRef& ref, Check check);

}  // namespace nearfield
