// A packed file as the source of unpack: a Storage that holds this one file, read only.
#pragma once

#include <string>

#include "nearfield/storage.h"

namespace nearfield::cli {

class PackedFile final : public Storage {
 public:
  static constexpr const char* kName = "packed";

  // Throws a Failure when the file cannot be opened.
  explicit PackedFile(const std::string& path);
  ~PackedFile() override;
  PackedFile(const PackedFile&) = delete;
  PackedFile& operator=(const PackedFile&) = delete;

  Result<std::vector<std::string>> list() override { return std::vector<std::string>{kName}; }
  Result<uint64_t> size(std::string_view name) override;
  Result<Buffer> read(std::string_view name, uint64_t offset, uint64_t length) override;
  Result<std::unique_ptr<FileSink>> create(std::string_view name) override;
  Result<void> remove(std::string_view name) override;
  Result<void> sync() override { return {}; }
  uint64_t preferred_file_bytes() const override { return UINT64_MAX; }
  bool maps() const override { return false; }

 private:
  std::string path_;
  int descriptor_;
  uint64_t size_;
};

}  // namespace nearfield::cli
