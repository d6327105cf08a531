// A storage that fails on command: counts the calls to the storage it wraps and refuses some.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/storage.h"

namespace nearfield::test {

class FaultyStorage final : public Storage {
 public:
  explicit FaultyStorage(Storage& storage) : storage_(storage) {}

  // From now on the `first`-th call (1 is the next) and the `count - 1` after it fail. A failing
  // append has written half of its bytes before.
  void fail(uint64_t first, uint64_t count, ErrorCode code = ErrorCode::kQuota) {
    calls_ = 0;
    first_ = first;
    count_ = count;
    code_ = code;
  }
  void heal() { count_ = 0; }
  uint64_t calls() const { return calls_; }
  uint64_t syncs() const { return syncs_; }

  Result<std::vector<std::string>> list() override;
  Result<uint64_t> size(std::string_view name) override;
  Result<Buffer> read(std::string_view name, uint64_t offset, uint64_t length) override;
  Result<std::unique_ptr<FileSink>> create(std::string_view name) override;
  Result<void> remove(std::string_view name) override;
  Result<void> sync() override;
  uint64_t preferred_file_bytes() const override { return storage_.preferred_file_bytes(); }
  bool maps() const override { return maps_; }
  void pretend_to_map() { maps_ = true; }

 private:
  class Sink;
  Result<void> count_call();

  Storage& storage_;
  uint64_t calls_ = 0;
  uint64_t first_ = 0;
  uint64_t count_ = 0;
  uint64_t syncs_ = 0;
  ErrorCode code_ = ErrorCode::kQuota;
  bool maps_ = false;
};

}  // namespace nearfield::test
