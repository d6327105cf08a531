// A storage that outlives the database that uses it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nearfield/storage.h"

namespace nearfield::test {

// Forwards to a storage that the test keeps.
class BorrowedStorage : public Storage {
 public:
  explicit BorrowedStorage(Storage& storage) : storage_(storage) {}
  Result<std::vector<std::string>> list() override { return storage_.list(); }
  Result<uint64_t> size(std::string_view name) override { return storage_.size(name); }
  Result<Buffer> read(std::string_view name, uint64_t offset, uint64_t length) override {
    return storage_.read(name, offset, length);
  }
  Result<Buffer> read_stored(std::string_view name, uint64_t offset, uint64_t length) override {
    return storage_.read_stored(name, offset, length);
  }
  Result<std::unique_ptr<FileSink>> create(std::string_view name) override {
    return storage_.create(name);
  }
  Result<void> remove(std::string_view name) override { return storage_.remove(name); }
  Result<void> sync() override { return storage_.sync(); }
  uint64_t preferred_file_bytes() const override { return storage_.preferred_file_bytes(); }
  bool maps() const override { return storage_.maps(); }

 private:
  Storage& storage_;
};

}  // namespace nearfield::test
