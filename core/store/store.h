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
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "nearfield/buffer.h"
#include "nearfield/database.h"
#include "nearfield/result.h"
#include "nearfield/storage.h"

namespace nearfield {

inline constexpr uint32_t kFormatVersion = 1;

enum class SegmentKind : uint16_t {
  kRows = 1,     // vectors as given, padded
  kIds = 2,      // one 64-bit key a row
  kIdTexts = 3,  // the characters of text ids
  kMetadata = 4,
  kCodes = 5,
  kLinks = 6,
  kSeeds = 7,      // where walks begin
  kDead = 8,       // tombstones, one bit a slot
  kFields = 9,     // which fields the collection has
  kColumn = 10,    // values of a tag, number, bool or keyword field
  kPostings = 11,  // the words of a text or keyword field
  kRemoved = 12,   // rows that are out of the graph, one bit a slot
};
std::string_view segment_kind_name(
    SegmentKind kind);  // "rows", "ids", "id-texts", ...; empty: unknown
// Whether a reader must know of fields to make sense of the segment.
constexpr bool needs_fields(SegmentKind kind) {
  return kind >= SegmentKind::kFields && kind <= SegmentKind::kPostings;
}
constexpr bool is_of_field(SegmentKind kind) {
  return kind == SegmentKind::kColumn || kind == SegmentKind::kPostings;
}

// What a segment holds: rows [first_row, first_row + rows) of a collection, of one kind, and where
// the kind is of fields, of one field.
struct SegmentKey {
  uint32_t collection = 0;
  SegmentKind kind = SegmentKind::kRows;
  uint32_t first_row = 0;
  uint16_t field = 0;  // its number; 0 for kinds that are not of fields
  friend bool operator==(const SegmentKey&, const SegmentKey&) = default;
  friend auto operator<=>(const SegmentKey& a, const SegmentKey& b) {
    return std::tie(a.collection, a.kind, a.field, a.first_row) <=>
           std::tie(b.collection, b.kind, b.field, b.first_row);
  }
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
  // kNotFound when the storage is empty and `create` is off; kForeignFile, kNewerVersion, kCorrupt.
  // A storage that holds files but no manifest is never taken for an empty one. Nothing is written
  // before the first commit.
  static Result<std::unique_ptr<Store>> open(Storage& storage, bool create);

  const Manifest& manifest() const { return manifest_; }
  // One sentence when open() passed over a newer manifest that is damaged (as an interrupted commit
  // leaves it); empty otherwise.
  const std::string& recovery() const { return recovery_; }

  // The payload of a segment; header and checksum are compared here, save for those that a storage
  // maps and nobody reads as a whole, which verify() compares. kCorrupt names kind, collection and
  // rows.
  Result<Buffer> load(const SegmentKey& key, const SegmentRef& ref);

  // A change in the making: starts as a copy of the manifest. Nothing of it is visible before
  // finish(); dropping it removes what it wrote. After an error the store is as it was, and another
  // commit may be tried.
  class Commit {
   public:
    Commit(const Commit&) = delete;
    Commit& operator=(const Commit&) = delete;
    ~Commit();

    Manifest& manifest() { return manifest_; }
    // Writes a segment, made of parts that follow one another, in place of the one of the same key;
    // when that one has the same rows, length and checksum, nothing is written and it stays.
    // Segments of one collection and kind must not share rows by the time of finish().
    Result<void> put(const SegmentKey& key, uint32_t rows,
                     std::span<const std::span<const std::byte>> parts);
    Result<void> put(const SegmentKey& key, uint32_t rows, std::span<const std::byte> payload);
    void erase(const SegmentKey& key) { manifest_.segments.erase(key); }
    // Writes the manifest and makes it the current one. Files that are mostly dead, and small files
    // when there are many, are copied together on the way; see "Tidying" in FORMAT.md.
    Result<void> finish();

   private:
    friend class Store;
    explicit Commit(Store& store) : store_(store), manifest_(store.manifest_) {}
    using Parts = std::span<const std::span<const std::byte>>;
    Result<void> prepare();
    Result<void> start_file();
    Result<void> close_file();
    Result<void> write(const SegmentKey& key, SegmentRef ref, Parts parts);
    Result<void> tidy();
    Result<void> switch_over();

    Store& store_;
    Manifest manifest_;
    std::unique_ptr<FileSink> sink_;
    uint32_t file_ = 0;
    uint64_t written_ = 0;            // in the current file
    std::vector<std::string> names_;  // files that this commit wrote, oldest first
    std::optional<Error> failure_;    // of an earlier call: the commit can only be dropped
    bool prepared_ = false;
    bool finished_ = false;
  };
  Commit begin() { return Commit(*this); }

  // Reads every live segment and compares checksums; problems name kind, collection, rows, file.
  // One that is damaged does not stop the check of the others.
  Result<VerifyReport> verify();

  // One file that holds the manifest and every live segment, written front to back.
  Result<void> pack(FileSink& sink);
  // The way back: kAlreadyExists when the destination holds a store; on any error it stays as empty
  // as it was.
  static Result<void> unpack(Storage& source, std::string_view file, Storage& destination);

 private:
  explicit Store(Storage& storage) : storage_(storage) {}
  static Result<std::unique_ptr<Store>> open_listed(Storage& storage, bool create,
                                                    const std::vector<std::string>& names);
  void sweep();

  Storage& storage_;
  Manifest manifest_;
  std::string recovery_;
  // Above those of every whole manifest, even one whose files are not all there: no file of ours
  // may stand in for one that it misses. A manifest that cannot be read never will be, so its
  // number does not count.
  // Names are not used twice in one process, not even after a commit that failed: its manifest may
  // have reached the storage all the same.
  uint64_t next_generation_ = 1;
  uint32_t next_file_ = 1;
  std::set<uint64_t> listed_generations_;  // names found by open(): they are skipped
  std::set<uint32_t> listed_files_;
  bool written_ = false;    // whether the storage holds a manifest, be it of generation 0
  bool leftovers_ = false;  // whether files that nothing refers to may lie in the storage
};

}  // namespace nearfield
