// Storage: where a database's files live. The core calls nothing of the operating system; natively
// the POSIX storage implements this interface, in the page and in Node a JavaScript backend does,
// and MemoryStorage serves tests and databases that need not last.
//
// A storage is a flat set of files named by [a-z0-9.-]. Files are written once, front to back, and
// never changed; the only atomic step that the format needs is that a file written before sync()
// is whole before any file written after it exists. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/buffer.h"
#include "nearfield/result.h"

namespace nearfield {

// A file being written. Destroying it without finish() leaves a file that nothing refers to.
class FileSink {
 public:
  virtual ~FileSink() = default;
  virtual Result<void> append(std::span<const std::byte> bytes) = 0;
  virtual Result<void> finish() = 0;
};

class Storage {
 public:
  virtual ~Storage() = default;

  virtual Result<std::vector<std::string>> list() = 0;       // in any order
  virtual Result<uint64_t> size(std::string_view name) = 0;  // kNotFound
  // Bytes [offset, offset + length) of a file at 64-byte alignment if offset is a multiple of 64,
  // mapped or copied; kCorrupt when the file is shorter.
  virtual Result<Buffer> read(std::string_view name, uint64_t offset, uint64_t length) = 0;
  // The same bytes as the file has them, whatever was written into the buffers of read(); for
  // reading only. Different where read() maps.
  virtual Result<Buffer> read_stored(std::string_view name, uint64_t offset, uint64_t length) {
    return read(name, offset, length);
  }
  // Starts a new file; an old one of this name is replaced.
  virtual Result<std::unique_ptr<FileSink>> create(std::string_view name) = 0;
  virtual Result<void> remove(std::string_view name) = 0;  // removing a missing file is no error
  virtual Result<void> sync() = 0;

  // Where a flush should start another file: the page keeps files of a few MiB, because IndexedDB
  // copies a value whole; natively one file takes a whole flush.
  virtual uint64_t preferred_file_bytes() const = 0;
  // Whether read() maps. Reads that map are lazy, so checksums are then left to verify().
  virtual bool maps() const = 0;
};

// Keeps files in memory. Copyable contents let tests cut, damage and replay them.
class MemoryStorage final : public Storage {
 public:
  using Files = std::map<std::string, std::vector<std::byte>, std::less<>>;

  explicit MemoryStorage(uint64_t preferred_file_bytes = 4u << 20)
      : preferred_file_bytes_(preferred_file_bytes) {}

  Result<std::vector<std::string>> list() override;
  Result<uint64_t> size(std::string_view name) override;
  Result<Buffer> read(std::string_view name, uint64_t offset, uint64_t length) override;
  Result<std::unique_ptr<FileSink>> create(std::string_view name) override;
  Result<void> remove(std::string_view name) override;
  Result<void> sync() override { return {}; }
  uint64_t preferred_file_bytes() const override { return preferred_file_bytes_; }
  bool maps() const override { return false; }

  Files& files() { return files_; }

 private:
  uint64_t preferred_file_bytes_;
  Files files_;
};

}  // namespace nearfield
