#include <cstring>

#include "nearfield/storage.h"

namespace nearfield {

namespace {

Error missing(std::string_view name) {
  return {ErrorCode::kNotFound, "there is no file " + std::string(name)};
}

// Looks its file up on every append, so that it neither dangles nor writes when the file has been
// removed or replaced meanwhile.
class MemorySink final : public FileSink {
 public:
  MemorySink(MemoryStorage::Files& files, std::string_view name) : files_(files), name_(name) {}
  Result<void> append(std::span<const std::byte> bytes) override {
    const auto file = files_.find(name_);
    if (file == files_.end()) return missing(name_);
    file->second.insert(file->second.end(), bytes.begin(), bytes.end());
    return {};
  }
  Result<void> finish() override { return {}; }

 private:
  MemoryStorage::Files& files_;
  std::string name_;
};

}  // namespace

Result<std::vector<std::string>> MemoryStorage::list() {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files_) names.push_back(name);
  return names;
}

Result<uint64_t> MemoryStorage::size(std::string_view name) {
  const auto file = files_.find(name);
  if (file == files_.end()) return missing(name);
  return uint64_t{file->second.size()};
}

Result<Buffer> MemoryStorage::read(std::string_view name, uint64_t offset, uint64_t length) {
  const auto file = files_.find(name);
  if (file == files_.end()) return missing(name);
  const auto& bytes = file->second;
  if (offset > bytes.size() || length > bytes.size() - offset) {
    return Error{ErrorCode::kCorrupt, std::string(name) + " has " + std::to_string(bytes.size()) +
                                          " bytes; expected " + std::to_string(length) +
                                          " at offset " + std::to_string(offset)};
  }
  NEARFIELD_ASSIGN(auto buffer, Buffer::allocate(static_cast<size_t>(length)));
  if (length > 0) {
    std::memcpy(buffer.data(), bytes.data() + offset, static_cast<size_t>(length));
  }
  return buffer;
}

Result<std::unique_ptr<FileSink>> MemoryStorage::create(std::string_view name) {
  files_.insert_or_assign(std::string(name), std::vector<std::byte>());
  return std::unique_ptr<FileSink>(std::make_unique<MemorySink>(files_, name));
}

Result<void> MemoryStorage::remove(std::string_view name) {
  if (const auto file = files_.find(name); file != files_.end()) files_.erase(file);
  return {};
}

}  // namespace nearfield
