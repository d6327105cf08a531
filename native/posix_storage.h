// PosixStorage: a database in a directory. Files are read through private mappings, so that opening
// costs the same for any size and pages come in as they are touched.
//
// One program writes at a time: it holds a lock on the file `lock` in the directory, which the
// kernel lets go when the program ends, however it ends. Readers take no lock, so that a store on a
// medium that cannot be written opens too; what a reader has mapped stays readable while a writer
// replaces files.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/storage.h"

namespace nearfield {

enum class Access { kRead, kWrite };

// What sync() waits for:
//   kFull  the medium has every finished file and every name: what was flushed survives a power cut
//   kNone  nothing: what was flushed survives the end of the program, however it ends, but after a
//          power cut the store may be damaged or gone
enum class Durability { kFull, kNone };

class PosixStorage final : public Storage {
 public:
  // A missing directory reads as an empty storage and is made, and locked, by the first create();
  // its parent must exist. That create() is kLocked when another program has been there first, even
  // one that is gone: what it wrote is not what this one opened. kInvalidArgument when the path is
  // something other than a directory, kLocked when another program has it open for writing.
  static Result<std::unique_ptr<PosixStorage>> open(std::string directory, Access access,
                                                    Durability durability = Durability::kFull);
  ~PosixStorage() override;

  Result<std::vector<std::string>> list()
      override;  // without `lock` and names that begin with a dot
  Result<uint64_t> size(std::string_view name) override;
  Result<Buffer> read(std::string_view name, uint64_t offset, uint64_t length) override;
  Result<Buffer> read_stored(std::string_view name, uint64_t offset, uint64_t length) override;
  // A sink must not outlive the storage.
  Result<std::unique_ptr<FileSink>> create(std::string_view name) override;
  Result<void> remove(std::string_view name) override;
  // Makes every finished file and every name durable, files first.
  Result<void> sync() override;
  uint64_t preferred_file_bytes() const override { return UINT64_MAX; }
  bool maps() const override { return true; }

 private:
  class Sink;
  struct Mapping;

  PosixStorage(std::string directory, Access access, Durability durability)
      : directory_(std::move(directory)), access_(access), durability_(durability) {}
  std::string path(std::string_view name) const { return directory_ + "/" + std::string(name); }
  Result<void> make_directory();
  Result<void> take_lock();
  Result<std::shared_ptr<Mapping>> map(std::string_view name, uint64_t offset, uint64_t length);
  Result<void> require_writing() const;

  std::string directory_;
  Access access_;
  Durability durability_;
  int lock_ = -1;
  std::map<std::string, std::shared_ptr<Mapping>, std::less<>> mappings_;
  std::vector<int> unsynced_;  // descriptors of files finished since the last sync
  bool names_changed_ = false;
};

// One file anywhere, a pack for instance; finish() makes it durable. An old file of this name is
// replaced.
Result<std::unique_ptr<FileSink>> create_posix_file(const std::string& path);
// Makes the name of a file or directory durable, after it was renamed for instance.
Result<void> sync_posix_name(const std::string& path);

}  // namespace nearfield
