// Packs: a whole store as one file, for static hosting. The manifest comes first, so that a reader
// that fetches ranges needs two requests to know where everything lies.
#include "base/checksum.h"
#include "store/layout.h"
#include "store/manifest.h"
#include "store/segment.h"
#include "store/store.h"

namespace nearfield {

namespace {

constexpr uint32_t kPackFile = 1;  // the number that the pack itself goes by in its manifest

Error damaged(std::string_view file, const std::string& what) {
  return {ErrorCode::kCorrupt, std::string(file) + " is damaged: " + what};
}

Result<Manifest> read_pack_manifest(Storage& source, std::string_view file) {
  NEARFIELD_ASSIGN(const uint64_t size, source.size(file));
  const uint64_t head = size < layout::kHeaderBytes ? size : layout::kHeaderBytes;
  NEARFIELD_ASSIGN(const Buffer header, source.read(file, 0, head));
  NEARFIELD_ASSIGN(Decoder decoder,
                   layout::check_file_header(header.bytes(), layout::kPackMagic, file));
  decoder.get<uint32_t>();
  const auto offset = decoder.get<uint64_t>();
  const auto length = decoder.get<uint64_t>();
  const auto checksum = decoder.get<uint64_t>();
  const auto file_length = decoder.get<uint64_t>();
  if (file_length != size) {
    return damaged(
        file, "it has " + std::to_string(size) + " bytes; expected " + std::to_string(file_length));
  }
  const auto end = checked_add(offset, length);
  if (offset < layout::kHeaderBytes || !end || *end > size) {
    return damaged(file, "its manifest does not lie inside it");
  }
  NEARFIELD_ASSIGN(const Buffer bytes, source.read(file, offset, length));
  if (checksum64(bytes.bytes()) != checksum) {
    return damaged(file, "the checksum of its manifest differs");
  }
  NEARFIELD_ASSIGN(Manifest manifest, decode_manifest(bytes.bytes(), file));
  if (manifest.files != std::map<uint32_t, uint64_t>{{kPackFile, size}}) {
    return damaged(file, "its manifest lists other files than the pack itself");
  }
  for (const auto& [key, ref] : manifest.segments) {
    if (ref.offset - layout::kHeaderBytes < *end) {
      return damaged(file, "a segment overlaps the manifest");
    }
  }
  return manifest;
}

}  // namespace

Result<void> Store::pack(FileSink& sink) {
  Manifest packed = manifest_;
  packed.next_file = kPackFile + 1;
  packed.files = {{kPackFile, 0}};
  // Its numbers have fixed widths, so the manifest's length is known before the offsets are.
  uint64_t position = layout::kHeaderBytes + encode_manifest(packed).size();
  for (auto& [key, ref] : packed.segments) {
    ref.file = kPackFile;
    ref.offset = layout::payload_offset(position, ref.length);
    position = ref.offset + ref.length;
  }
  packed.files[kPackFile] = position;

  const auto manifest = encode_manifest(packed);
  NEARFIELD_TRY(sink.append(layout::pack_header(layout::features_of(packed), manifest, position)));
  NEARFIELD_TRY(sink.append(manifest));
  position = layout::kHeaderBytes + manifest.size();
  for (const auto& [key, ref] : manifest_.segments) {
    NEARFIELD_ASSIGN(const Buffer payload,
                     read_segment(storage_, layout::data_name(ref.file), manifest_, key, ref));
    const SegmentRef& target = packed.segments[key];
    const auto bytes = payload.bytes();
    NEARFIELD_TRY(append_segment(sink, position, key, target,
                                 std::span<const std::span<const std::byte>>(&bytes, 1)));
    position = target.offset + target.length;
  }
  return sink.finish();
}

Result<void> Store::unpack(Storage& source, std::string_view file, Storage& destination) {
  NEARFIELD_ASSIGN(const Manifest packed, read_pack_manifest(source, file));
  NEARFIELD_ASSIGN(const auto store, open(destination, true));
  if (store->manifest().generation != 0) {
    return Error{ErrorCode::kAlreadyExists,
                 "the destination holds a store already; expected an empty place"};
  }
  Commit commit = store->begin();
  commit.manifest().next_collection = packed.next_collection;
  commit.manifest().collections = packed.collections;
  for (const auto& [key, ref] : packed.segments) {
    NEARFIELD_ASSIGN(const Buffer payload, read_segment(source, file, packed, key, ref));
    NEARFIELD_TRY(commit.put(key, ref.rows, payload.bytes()));
  }
  return commit.finish();
}

}  // namespace nearfield
