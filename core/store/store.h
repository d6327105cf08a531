// Store: segments and manifests in a Storage. It frames, finds and checks named pieces of bytes and
// does not know what they mean; the collection does. The bytes are described in FORMAT.md.
//
// A commit adds segments to new files and then writes a manifest under a new name that lists every
// live segment; that manifest is the switch from the old state to the new one. Files that no
// manifest refers to are removed afterwards. Opening takes the newest manifest that is whole.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/buffer.h"
#include "nearfield/database.h"
#include "nearfield/result.h"
#include "nearfield/storage.h"

namespace nearfield {

inline constexpr uint32_t kFormatVersion = 1;

enum class SegmentKind : uint16_t {
  kRows = 1,      // vectors as given, padded
  kIds = 2,       // one 64-bit key a row
  kIdTexts = 3,   // the characters of text ids
  kMetadata = 4,
  kCodes = 5,
  kLinks = 6,
  kSeeds = 7,     // where walks begin
  kDead = 8,      // tombstones, one bit a slot
};
std::string_view segment_kind_name(SegmentKind kind);  // "rows", "ids", "id-texts", ...

// What a segment holds: rows [first_row, first_row + rows) of a collection, of one kind.
struct SegmentKey {
  uint32_t collection = 0;
  SegmentKind kind = SegmentKind::kRows;
  uint32_t first_row = 0;
  friend auto operator<=>(const SegmentKey&, const SegmentKey&) = default;
};

struct SegmentRef {
  uint32_t rows = 0;
  uint32_t file = 0;      // number of the file, see Manifest::files
  uint64_t offset = 0;    // of the payload in the file, a multiple of 64
  uint64_t length = 0;    // of the payload, bytes
  uint64_t checksum = 0;  // of the payload
};

struct Manifest {
  uint64_t generation = 0;
  uint32_t next_file = 1;
  uint32_t next_collection = 1;
  std::map<uint32_t, uint64_t> files;  // number → length in bytes
  struct CollectionEntry {
    std::string name;
    std::vector<std::byte> state;  // what the collection wants back, opaque here
  };
  std::map<uint32_t, CollectionEntry> collections;
  std::map<SegmentKey, SegmentRef> segments;
};

class Store {
 public:
  // kNotFound when the storage holds no manifest and `create` is off; kForeignFile, kNewerVersion,
  // kCorrupt. A storage that holds files, none of which is a manifest, is not taken for empty unless they
  // are named like segment files of a first flush that never finished.
  static Result<std::unique_ptr<Store>> open(Storage& storage, bool create);

  const Manifest& manifest() const { return manifest_; }

  // The payload of a segment; its checksum is compared here unless the storage maps (verify() and
  // lazy reading then). kCorrupt names kind, collection and rows.
  Result<Buffer> load(const SegmentKey& key, const SegmentRef& ref);

  // A change in the making: starts as a copy of the manifest. Nothing of it is visible before
  // finish(); dropping it leaves files that the next commit removes.
  class Commit {
   public:
    Manifest& manifest() { return manifest_; }
    // Writes a segment, made of parts that follow one another, in place of the one of the same key;
    // when that one has the same bytes already, nothing is written and it stays.
    Result<void> put(const SegmentKey& key, uint32_t rows, std::span<const std::span<const std::byte>> parts);
    Result<void> put(const SegmentKey& key, uint32_t rows, std::span<const std::byte> payload);
    void erase(const SegmentKey& key) { manifest_.segments.erase(key); }
    // Writes the manifest and makes it the current one.
    Result<void> finish();

   private:
    friend class Store;
    explicit Commit(Store& store);
    Result<void> close_file();
    Store& store_;
    Manifest manifest_;
    std::unique_ptr<FileSink> sink_;
    uint32_t file_ = 0;
    uint64_t written_ = 0;  // in the current file
  };
  Commit begin() { return Commit(*this); }

  // Reads every live segment and compares checksums; problems name kind, collection, rows.
  Result<VerifyReport> verify();

  // One file that holds the manifest and every live segment, and the way back.
  Result<void> pack(FileSink& sink);
  static Result<void> unpack(Storage& source, std::string_view file, Storage& destination);

 private:
  explicit Store(Storage& storage) : storage_(storage) {}
  Storage& storage_;
  Manifest manifest_;
};

}  // namespace nearfield
