#include "faulty_storage.h"

namespace nearfield::test {

class FaultyStorage::Sink final : public FileSink {
 public:
  Sink(FaultyStorage& storage, std::unique_ptr<FileSink> sink)
      : storage_(storage), sink_(std::move(sink)) {}
  Result<void> append(std::span<const std::byte> bytes) override {
    if (auto allowed = storage_.count_call(); !allowed.ok()) {
      (void)sink_->append(bytes.first(bytes.size() / 2));
      return allowed;
    }
    return sink_->append(bytes);
  }
  Result<void> finish() override {
    NEARFIELD_TRY(storage_.count_call());
    return sink_->finish();
  }

 private:
  FaultyStorage& storage_;
  std::unique_ptr<FileSink> sink_;
};

Result<void> FaultyStorage::count_call() {
  ++calls_;
  if (count_ > 0 && calls_ >= first_ && calls_ - first_ < count_) {
    return Error{code_, "call " + std::to_string(calls_) + " was made to fail"};
  }
  return {};
}

Result<std::vector<std::string>> FaultyStorage::list() {
  NEARFIELD_TRY(count_call());
  return storage_.list();
}

Result<uint64_t> FaultyStorage::size(std::string_view name) {
  NEARFIELD_TRY(count_call());
  return storage_.size(name);
}

Result<Buffer> FaultyStorage::read(std::string_view name, uint64_t offset, uint64_t length) {
  NEARFIELD_TRY(count_call());
  return storage_.read(name, offset, length);
}

Result<std::unique_ptr<FileSink>> FaultyStorage::create(std::string_view name) {
  NEARFIELD_TRY(count_call());
  NEARFIELD_ASSIGN(auto sink, storage_.create(name));
  return std::unique_ptr<FileSink>(std::make_unique<Sink>(*this, std::move(sink)));
}

Result<void> FaultyStorage::remove(std::string_view name) {
  NEARFIELD_TRY(count_call());
  return storage_.remove(name);
}

Result<void> FaultyStorage::sync() {
  NEARFIELD_TRY(count_call());
  ++syncs_;
  return storage_.sync();
}

}  // namespace nearfield::test
