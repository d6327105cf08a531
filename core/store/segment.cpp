#include "store/segment.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/checksum.h"
#include "store/layout.h"

namespace nearfield {

std::string_view segment_kind_name(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::kRows: return "rows";
    case SegmentKind::kIds: return "ids";
    case SegmentKind::kIdTexts: return "id-texts";
    case SegmentKind::kMetadata: return "metadata";
    case SegmentKind::kCodes: return "codes";
    case SegmentKind::kLinks: return "links";
    case SegmentKind::kSeeds: return "seeds";
    case SegmentKind::kDead: return "dead";
    case SegmentKind::kFields: return "fields";
    case SegmentKind::kColumn: return "column";
    case SegmentKind::kPostings: return "postings";
    case SegmentKind::kRemoved: return "removed";
  }
  return {};
}

std::string describe_segment(const Manifest& manifest, const SegmentKey& key,
                             const SegmentRef& ref) {
  const std::string_view kind = segment_kind_name(key.kind);
  const auto collection = manifest.collections.find(key.collection);
  const std::string rows = ref.rows == 0
                               ? "no rows at " + std::to_string(key.first_row)
                               : "rows " + std::to_string(key.first_row) + ".." +
                                     std::to_string(uint64_t{key.first_row} + ref.rows - 1);
  const std::string field = key.field == 0 ? "" : " of field " + std::to_string(key.field);
  return rows + " of " +
         (kind.empty() ? "kind " + std::to_string(static_cast<unsigned>(key.kind))
                       : std::string(kind)) +
         field + " of collection " +
         (collection == manifest.collections.end() ? std::to_string(key.collection)
                                                   : "\"" + collection->second.name + "\"");
}

Result<void> append_segment(FileSink& sink, uint64_t position, const SegmentKey& key,
                            const SegmentRef& ref,
                            std::span<const std::span<const std::byte>> parts) {
  const auto header = layout::segment_header(key, ref);
  std::vector<std::byte> lead(static_cast<size_t>(ref.offset - position));
  std::copy(header.begin(), header.end(), lead.end() - layout::kHeaderBytes);
  NEARFIELD_TRY(sink.append(lead));
  for (const auto part : parts) {
    if (!part.empty()) NEARFIELD_TRY(sink.append(part));
  }
  return {};
}

namespace {

Error damaged(std::string_view file, const Manifest& manifest, const SegmentKey& key,
              const SegmentRef& ref, const std::string& what) {
  return {ErrorCode::kCorrupt, describe_segment(manifest, key, ref) + " in " + std::string(file) +
                                   " are damaged: " + what};
}

// What a storage says of a segment that it cannot read: damage is named, other failures stay.
Error unreadable(std::string_view file, const Manifest& manifest, const SegmentKey& key,
                 const SegmentRef& ref, Error error) {
  const bool damage = error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kNotFound;
  return damage ? damaged(file, manifest, key, ref, error.detail) : error;
}

}  // namespace

Result<Buffer> read_segment(Storage& storage, std::string_view file, const Manifest& manifest,
                            const SegmentKey& key, const SegmentRef& ref) {
  // Header and payload in one read; the payload keeps its alignment behind the 64 bytes of header.
  auto segment = storage.read_stored(file, ref.offset - layout::kHeaderBytes,
                                     ref.length + layout::kHeaderBytes);
  if (!segment.ok()) return unreadable(file, manifest, key, ref, std::move(segment).error());
  const auto expected = layout::segment_header(key, ref);
  if (std::memcmp(segment->data(), expected.data(), expected.size()) != 0) {
    return damaged(file, manifest, key, ref, "their header differs from what the manifest says");
  }
  Buffer payload = segment->slice(layout::kHeaderBytes, static_cast<size_t>(ref.length));
  if (checksum64(payload.bytes()) != ref.checksum) {
    return damaged(file, manifest, key, ref, "their checksum differs");
  }
  return payload;
}

Result<Buffer> map_segment(Storage& storage, std::string_view file, const Manifest& manifest,
                           const SegmentKey& key, const SegmentRef& ref) {
  auto payload = storage.read(file, ref.offset, ref.length);
  if (!payload.ok()) return unreadable(file, manifest, key, ref, std::move(payload).error());
  return payload;
}

}  // namespace nearfield
