// The fixed parts of the format: file names, headers and where payloads begin. FORMAT.md describes
// them byte by byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/checked.h"
#include "base/coding.h"
#include "nearfield/result.h"
#include "store/store.h"

namespace nearfield::layout {

inline constexpr size_t kHeaderBytes = 64;  // of every header
inline constexpr uint64_t kAlignment = 64;  // of every payload
// Large payloads begin on a page of their own, so that advice to the kernel and pages that are
// copied on write concern one segment only. It costs them at most a sixteenth.
inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kLargePayload = 64 << 10;

// Features that a reader must know to read a manifest or a pack.
inline constexpr uint32_t kFields = 1;       // collections with fields, segments of their kinds
inline constexpr uint32_t kRemovedRows = 2;  // graphs without some of their slots
inline constexpr uint32_t kKnownFeatures = kFields | kRemovedRows;

// As in PNG: a byte that is not text, three letters, and line ends that a text transfer would
// alter.
using Magic = std::array<uint8_t, 8>;
inline constexpr Magic kDataMagic = {0x89, 'N', 'F', 'D', '\r', '\n', 0x1a, '\n'};
inline constexpr Magic kManifestMagic = {0x89, 'N', 'F', 'M', '\r', '\n', 0x1a, '\n'};
inline constexpr Magic kPackMagic = {0x89, 'N', 'F', 'P', '\r', '\n', 0x1a, '\n'};
inline constexpr Magic kSegmentMagic = {0x89, 'N', 'F', 'S', '\r', '\n', 0x1a, '\n'};

std::string data_name(uint32_t number);
std::string manifest_name(uint64_t generation);
std::optional<uint32_t> parse_data_name(std::string_view name);
std::optional<uint64_t> parse_manifest_name(std::string_view name);

using Header = std::array<std::byte, kHeaderBytes>;
Header data_header(uint32_t number);
Header segment_header(const SegmentKey& key, const SegmentRef& ref);
// The features that a reader of a manifest must know.
uint32_t features_of(const Manifest& manifest);
Header manifest_header(uint64_t generation, uint32_t features, std::span<const std::byte> payload);
Header pack_header(uint32_t features, std::span<const std::byte> manifest, uint64_t file_length);

// Checks what the headers of manifests and packs have in common (magic, checksum, version,
// features) and returns a decoder that stands at byte 20.
Result<Decoder> check_file_header(std::span<const std::byte> bytes, const Magic& magic,
                                  std::string_view name);

// Where a payload begins whose segment follows `position` bytes of a file; its header lies directly
// before it.
constexpr uint64_t payload_offset(uint64_t position, uint64_t length) {
  return round_up(position + kHeaderBytes, length >= kLargePayload ? kPageBytes : kAlignment);
}

}  // namespace nearfield::layout
