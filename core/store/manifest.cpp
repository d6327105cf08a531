#include "store/manifest.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/small_sort.h"
#include "nearfield/options.h"
#include "store/layout.h"
#include "store/segment.h"

namespace nearfield {

namespace {

constexpr size_t kFileEntryBytes = 12;
constexpr size_t kCollectionEntryBytes = 12;  // at least
constexpr size_t kSegmentEntryBytes = 48;

Error corrupt(std::string_view file, const std::string& what) {
  return {ErrorCode::kCorrupt, std::string(file) + " contradicts itself: " + what};
}

Result<void> check_collections(const Manifest& manifest, std::string_view file) {
  std::set<std::string_view> names;
  for (const auto& [number, entry] : manifest.collections) {
    const std::string what = "collection " + std::to_string(number);
    if (number >= manifest.next_collection) {
      return corrupt(file, what + " is listed; expected numbers below " +
                               std::to_string(manifest.next_collection));
    }
    if (entry.name.empty() || entry.name.size() > kMaxNameBytes) {
      return corrupt(file, what + " has a name of " + std::to_string(entry.name.size()) +
                               " bytes; expected 1 to " + std::to_string(kMaxNameBytes));
    }
    if (!names.insert(entry.name).second) {
      return corrupt(file, "two collections are named \"" + entry.name + "\"");
    }
  }
  return {};
}

// A segment by itself, against the lists of files and collections.
Result<void> check_segment(const Manifest& manifest, const SegmentKey& key, const SegmentRef& ref,
                           std::string_view file) {
  const std::string what = describe_segment(manifest, key, ref);
  if (segment_kind_name(key.kind).empty()) return corrupt(file, what + " is of an unknown kind");
  if (is_of_field(key.kind) != (key.field != 0)) {
    return corrupt(file, what + " have field number " + std::to_string(key.field));
  }
  if (!manifest.collections.contains(key.collection)) {
    return corrupt(file, what + " belong to no listed collection");
  }
  if (uint64_t{key.first_row} + ref.rows > kMaxRows) {
    return corrupt(file, what + " reach past the last row possible, " + std::to_string(kMaxRows));
  }
  const auto found = manifest.files.find(ref.file);
  if (found == manifest.files.end()) return corrupt(file, what + " lie in a file not listed");
  const auto end = checked_add(ref.offset, ref.length);
  if (ref.offset % layout::kAlignment != 0 || ref.offset < 2 * layout::kHeaderBytes || !end ||
      *end > found->second) {
    return corrupt(file, what + " lie at offset " + std::to_string(ref.offset) + ", " +
                             std::to_string(ref.length) + " bytes; expected a multiple of " +
                             std::to_string(layout::kAlignment) + " from " +
                             std::to_string(2 * layout::kHeaderBytes) + " on, inside the file's " +
                             std::to_string(found->second) + " bytes");
  }
  return {};
}

// REQUIRES: every segment has passed check_segment(), so that no sum overflows.
Result<void> check_overlaps(const Manifest& manifest, std::string_view file) {
  using Entry = std::pair<const SegmentKey, SegmentRef>;
  std::vector<const Entry*> by_place;
  const Entry* before = nullptr;  // in the order of keys: collection, kind, field, row
  for (const Entry& entry : manifest.segments) {
    by_place.push_back(&entry);
    if (before != nullptr && before->first.collection == entry.first.collection &&
        before->first.kind == entry.first.kind && before->first.field == entry.first.field &&
        before->first.first_row + before->second.rows > entry.first.first_row) {
      return corrupt(file, describe_segment(manifest, before->first, before->second) + " and " +
                               describe_segment(manifest, entry.first, entry.second) +
                               " are of the same rows");
    }
    before = &entry;
  }
  small_sort(by_place.begin(), by_place.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->second.file, a->second.offset) <
           std::pair(b->second.file, b->second.offset);
  });
  for (size_t i = 1; i < by_place.size(); ++i) {
    const auto& [key_a, a] = *by_place[i - 1];
    const auto& [key_b, b] = *by_place[i];
    if (a.file == b.file && a.offset + a.length > b.offset - layout::kHeaderBytes) {
      return corrupt(file, describe_segment(manifest, key_a, a) + " and " +
                               describe_segment(manifest, key_b, b) + " overlap");
    }
  }
  return {};
}

// Lists are in rising order, so that one manifest has one encoding and nothing is listed twice.
template <class Map, class Key>
bool follows(const Map& map, const Key& key) {
  return map.empty() || map.rbegin()->first < key;
}

}  // namespace

Result<void> check_manifest(const Manifest& manifest, std::string_view file) {
  for (const auto& [number, length] : manifest.files) {
    if (number >= manifest.next_file) {
      return corrupt(file, layout::data_name(number) + " is listed; expected numbers below " +
                               std::to_string(manifest.next_file));
    }
  }
  NEARFIELD_TRY(check_collections(manifest, file));
  for (const auto& [key, ref] : manifest.segments) {
    NEARFIELD_TRY(check_segment(manifest, key, ref, file));
  }
  return check_overlaps(manifest, file);
}

std::vector<std::byte> encode_manifest(const Manifest& manifest) {
  Encoder encoder;
  encoder.put(manifest.next_file);
  encoder.put(manifest.next_collection);
  encoder.put(static_cast<uint32_t>(manifest.files.size()));
  encoder.put(static_cast<uint32_t>(manifest.collections.size()));
  encoder.put(uint64_t{manifest.segments.size()});
  for (const auto& [number, length] : manifest.files) {
    encoder.put(number);
    encoder.put(length);
  }
  for (const auto& [number, entry] : manifest.collections) {
    encoder.put(number);
    encoder.put_text(entry.name);
    encoder.put_text({reinterpret_cast<const char*>(entry.state.data()), entry.state.size()});
  }
  for (const auto& [key, ref] : manifest.segments) {
    encoder.put(key.collection);
    encoder.put(static_cast<uint16_t>(key.kind));
    encoder.put(key.field);
    encoder.put(key.first_row);
    encoder.put(ref.rows);
    encoder.put(ref.file);
    encoder.put(uint32_t{0});
    encoder.put(ref.offset);
    encoder.put(ref.length);
    encoder.put(ref.checksum);
  }
  return encoder.take();
}

Result<Manifest> decode_manifest(std::span<const std::byte> payload, std::string_view file) {
  Decoder decoder(payload);
  Manifest manifest;
  manifest.next_file = decoder.get<uint32_t>();
  manifest.next_collection = decoder.get<uint32_t>();
  const auto files = decoder.get<uint32_t>();
  const auto collections = decoder.get<uint32_t>();
  const auto segments = decoder.get<uint64_t>();
  // Counts that the bytes present cannot hold end here; the loops below are thereby bounded.
  if (files > decoder.remaining() / kFileEntryBytes ||
      collections > decoder.remaining() / kCollectionEntryBytes ||
      segments > decoder.remaining() / kSegmentEntryBytes) {
    return corrupt(file, "it counts " + std::to_string(files) + " files, " +
                             std::to_string(collections) + " collections and " +
                             std::to_string(segments) + " segments in " +
                             std::to_string(payload.size()) + " bytes");
  }
  for (uint32_t i = 0; i < files; ++i) {
    const auto number = decoder.get<uint32_t>();
    const auto length = decoder.get<uint64_t>();
    if (!follows(manifest.files, number)) return corrupt(file, "its files are out of order");
    manifest.files.emplace_hint(manifest.files.end(), number, length);
  }
  for (uint32_t i = 0; i < collections && decoder.ok(); ++i) {
    const auto number = decoder.get<uint32_t>();
    Manifest::CollectionEntry entry;
    entry.name = decoder.get_text();
    const auto state = std::as_bytes(std::span(decoder.get_text()));
    entry.state.assign(state.begin(), state.end());
    if (!follows(manifest.collections, number)) {
      return corrupt(file, "its collections are out of order");
    }
    manifest.collections.emplace_hint(manifest.collections.end(), number, std::move(entry));
  }
  for (uint64_t i = 0; i < segments && decoder.ok(); ++i) {
    SegmentKey key;
    SegmentRef ref;
    key.collection = decoder.get<uint32_t>();
    key.kind = static_cast<SegmentKind>(decoder.get<uint16_t>());
    key.field = decoder.get<uint16_t>();
    key.first_row = decoder.get<uint32_t>();
    ref.rows = decoder.get<uint32_t>();
    ref.file = decoder.get<uint32_t>();
    decoder.get<uint32_t>();
    ref.offset = decoder.get<uint64_t>();
    ref.length = decoder.get<uint64_t>();
    ref.checksum = decoder.get<uint64_t>();
    if (!follows(manifest.segments, key)) return corrupt(file, "its segments are out of order");
    manifest.segments.emplace_hint(manifest.segments.end(), key, ref);
  }
  if (!decoder.ok() || decoder.remaining() != 0) {
    return corrupt(file, "its lists do not end where its payload of " +
                             std::to_string(payload.size()) + " bytes does");
  }
  NEARFIELD_TRY(check_manifest(manifest, file));
  return manifest;
}

Result<Manifest> decode_manifest_file(std::span<const std::byte> bytes, uint64_t generation,
                                      std::string_view file) {
  NEARFIELD_ASSIGN(Decoder header, layout::check_file_header(bytes, layout::kManifestMagic, file));
  header.get<uint32_t>();
  const auto written_generation = header.get<uint64_t>();
  const auto length = header.get<uint64_t>();
  const auto checksum = header.get<uint64_t>();
  const auto payload = bytes.subspan(layout::kHeaderBytes);
  if (written_generation != generation) {
    return corrupt(file, "it was written as generation " + std::to_string(written_generation));
  }
  if (length != payload.size()) {
    return Error{ErrorCode::kCorrupt, std::string(file) + " is cut or grown: its payload has " +
                                          std::to_string(payload.size()) + " bytes; expected " +
                                          std::to_string(length)};
  }
  if (checksum != checksum64(payload)) {
    return Error{ErrorCode::kCorrupt,
                 std::string(file) + " is damaged: the checksum of its payload differs"};
  }
  NEARFIELD_ASSIGN(Manifest manifest, decode_manifest(payload, file));
  manifest.generation = generation;
  return manifest;
}

}  // namespace nearfield
