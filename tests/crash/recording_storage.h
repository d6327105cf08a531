// A storage in memory that records what it was asked to change.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "crash/disk.h"
#include "support/borrowed_storage.h"

namespace nearfield::test {

class RecordingStorage final : public BorrowedStorage {
 public:
  RecordingStorage(MemoryStorage& storage, bool maps) : BorrowedStorage(storage), maps_(maps) {}

  const std::vector<Operation>& operations() const { return operations_; }
  void record(Operation operation) { operations_.push_back(std::move(operation)); }

  Result<std::unique_ptr<FileSink>> create(std::string_view name) override;
  Result<void> remove(std::string_view name) override;
  Result<void> sync() override;
  bool maps() const override { return maps_; }  // which makes opening read less

 private:
  class Sink;
  std::vector<Operation> operations_;
  bool maps_;
};

}  // namespace nearfield::test
