#include "store/layout.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/checksum.h"

namespace nearfield::layout {

namespace {

constexpr std::string_view kDataPrefix = "data-";
constexpr std::string_view kManifestPrefix = "manifest-";
constexpr std::string_view kSuffix = ".nf";
// Enough digits for every number, so that names sort as their numbers do.
constexpr size_t kDataDigits = 10;
constexpr size_t kManifestDigits = 20;

constexpr size_t kSealedBytes = kHeaderBytes - sizeof(uint64_t);

std::string padded_name(std::string_view prefix, uint64_t number, size_t digits) {
  std::string text = std::to_string(number);
  text.insert(0, digits - text.size(), '0');
  return std::string(prefix) + text + std::string(kSuffix);
}

// The largest number is refused so that "the next one" always exists.
template <class T>
std::optional<T> parse_padded_name(std::string_view name, std::string_view prefix, size_t digits) {
  if (name.size() != prefix.size() + digits + kSuffix.size()) return std::nullopt;
  if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const char* begin = name.data() + prefix.size();
  const char* end = begin + digits;
  T number = 0;
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || stop != end || number == std::numeric_limits<T>::max()) {
    return std::nullopt;
  }
  return number;
}

Encoder begin_header(const Magic& magic) {
  Encoder encoder;
  for (const uint8_t byte : magic) encoder.put(byte);
  return encoder;
}

Encoder begin_file_header(const Magic& magic, uint32_t features = 0) {
  Encoder encoder = begin_header(magic);
  encoder.put(kFormatVersion);
  encoder.put(features);     // that a reader must know
  encoder.put(uint32_t{0});  // features that a reader may ignore
  return encoder;
}

// Fills with zeros up to the checksum of what stands before it.
Header seal(const Encoder& encoder) {
  Header header{};
  std::copy(encoder.bytes().begin(), encoder.bytes().end(), header.begin());
  const uint64_t checksum = checksum64(std::span(header).first(kSealedBytes));
  std::memcpy(header.data() + kSealedBytes, &checksum, sizeof checksum);
  return header;
}

std::string hex(uint32_t value) {
  char digits[8];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
  return "0x" + std::string(digits, end);
}

}  // namespace

std::string data_name(uint32_t number) { return padded_name(kDataPrefix, number, kDataDigits); }

std::string manifest_name(uint64_t generation) {
  return padded_name(kManifestPrefix, generation, kManifestDigits);
}

std::optional<uint32_t> parse_data_name(std::string_view name) {
  return parse_padded_name<uint32_t>(name, kDataPrefix, kDataDigits);
}

std::optional<uint64_t> parse_manifest_name(std::string_view name) {
  return parse_padded_name<uint64_t>(name, kManifestPrefix, kManifestDigits);
}

Header data_header(uint32_t number) {
  Encoder encoder = begin_file_header(kDataMagic);
  encoder.put(number);
  return seal(encoder);
}

Header segment_header(const SegmentKey& key, const SegmentRef& ref) {
  Encoder encoder = begin_header(kSegmentMagic);
  encoder.put(static_cast<uint16_t>(key.kind));
  encoder.put(key.field);
  encoder.put(key.collection);
  encoder.put(key.first_row);
  encoder.put(ref.rows);
  encoder.put(ref.length);
  encoder.put(ref.checksum);
  return seal(encoder);
}

uint32_t features_of(const Manifest& manifest) {
  uint32_t features = 0;
  for (const auto& [key, ref] : manifest.segments) {
    if (needs_fields(key.kind)) features |= kFields;
    if (key.kind == SegmentKind::kRemoved) features |= kRemovedRows;
  }
  return features;
}

Header manifest_header(uint64_t generation, uint32_t features, std::span<const std::byte> payload) {
  Encoder encoder = begin_file_header(kManifestMagic, features);
  encoder.put(uint32_t{0});
  encoder.put(generation);
  encoder.put(uint64_t{payload.size()});
  encoder.put(checksum64(payload));
  return seal(encoder);
}

Header pack_header(uint32_t features, std::span<const std::byte> manifest, uint64_t file_length) {
  Encoder encoder = begin_file_header(kPackMagic, features);
  encoder.put(uint32_t{0});
  encoder.put(uint64_t{kHeaderBytes});
  encoder.put(uint64_t{manifest.size()});
  encoder.put(checksum64(manifest));
  encoder.put(file_length);
  return seal(encoder);
}

Result<Decoder> check_file_header(std::span<const std::byte> bytes, const Magic& magic,
                                  std::string_view name) {
  const std::string file(name);
  const size_t seen = std::min(bytes.size(), magic.size());
  // An empty file, as a crash leaves it, may have no address.
  if (seen > 0 && std::memcmp(bytes.data(), magic.data(), seen) != 0) {
    return Error{ErrorCode::kForeignFile,
                 file + " is not a Nearfield file of this kind: it begins with other bytes"};
  }
  if (bytes.size() < kHeaderBytes) {
    return Error{ErrorCode::kCorrupt, file + " is cut: it has " + std::to_string(bytes.size()) +
                                          " bytes; expected a header of " +
                                          std::to_string(kHeaderBytes)};
  }
  // Every version keeps the checksum in its place, so that damage is not taken for a later version.
  uint64_t checksum = 0;
  std::memcpy(&checksum, bytes.data() + kSealedBytes, sizeof checksum);
  if (checksum != checksum64(bytes.first(kSealedBytes))) {
    return Error{ErrorCode::kCorrupt, file + " is damaged: the checksum of its header differs"};
  }
  Decoder decoder(bytes.first(kSealedBytes).subspan(magic.size()));
  const auto version = decoder.get<uint32_t>();
  const auto features = decoder.get<uint32_t>();
  decoder.get<uint32_t>();  // features that may be ignored
  if (version > kFormatVersion) {
    return Error{ErrorCode::kNewerVersion, file + " has format version " + std::to_string(version) +
                                               "; this program reads up to version " +
                                               std::to_string(kFormatVersion)};
  }
  if (version == 0) {
    return Error{ErrorCode::kCorrupt, file + " has format version 0; versions begin with 1"};
  }
  if ((features & ~kKnownFeatures) != 0) {
    return Error{ErrorCode::kNewerVersion,
                 file + " has format version " + std::to_string(version) + " with features " +
                     hex(features) + "; this program reads version " +
                     std::to_string(kFormatVersion) + " with features " + hex(kKnownFeatures)};
  }
  return decoder;
}

}  // namespace nearfield::layout
