#include "crash/recording_storage.h"

namespace nearfield::test {

class RecordingStorage::Sink final : public FileSink {
 public:
  Sink(RecordingStorage& storage, std::string name, std::unique_ptr<FileSink> sink)
      : storage_(storage), name_(std::move(name)), sink_(std::move(sink)) {}
  Result<void> append(std::span<const std::byte> bytes) override {
    if (!bytes.empty())
      storage_.record({Operation::Kind::kAppend, name_, {bytes.begin(), bytes.end()}});
    return sink_->append(bytes);
  }
  Result<void> finish() override {
    storage_.record({Operation::Kind::kFinish, name_});
    return sink_->finish();
  }

 private:
  RecordingStorage& storage_;
  std::string name_;
  std::unique_ptr<FileSink> sink_;
};

Result<std::unique_ptr<FileSink>> RecordingStorage::create(std::string_view name) {
  record({Operation::Kind::kCreate, std::string(name)});
  NEARFIELD_ASSIGN(auto sink, BorrowedStorage::create(name));
  return std::unique_ptr<FileSink>(
      std::make_unique<Sink>(*this, std::string(name), std::move(sink)));
}

Result<void> RecordingStorage::remove(std::string_view name) {
  record({Operation::Kind::kRemove, std::string(name)});
  return BorrowedStorage::remove(name);
}

Result<void> RecordingStorage::sync() {
  record({Operation::Kind::kSync});
  return BorrowedStorage::sync();
}

}  // namespace nearfield::test
