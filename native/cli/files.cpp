#include "files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <unistd.h>

#include "failure.h"

namespace nearfield::cli {
namespace {

void require_regular_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw bad_input("no file at " + path);
  if (!std::filesystem::is_regular_file(status)) {
    throw bad_input(path + " is no regular file, expected a file with data");
  }
}

Error io_error(const std::string& path) {
  const auto code = errno == ENOSPC || errno == EDQUOT ? ErrorCode::kQuota : ErrorCode::kIo;
  return {code, path + ": " + std::strerror(errno)};
}

}  // namespace

std::ifstream open_input(const std::string& path) {
  require_regular_file(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw bad_input(path + ": cannot be opened: " + std::strerror(errno));
  return file;
}

uint64_t input_size(const std::string& path) {
  require_regular_file(path);
  return std::filesystem::file_size(path);
}

void read_exactly(std::ifstream& file, void* data, size_t size, const std::string& path) {
  file.read(static_cast<char*>(data), static_cast<std::streamsize>(size));
  if (file.bad()) throw failed(path + ": reading failed");
  if (static_cast<size_t>(file.gcount()) != size) {
    throw bad_input(path + ": the file ends early, expected " +
                    std::to_string(size - static_cast<size_t>(file.gcount())) + " bytes more");
  }
}

OutputFile::OutputFile(std::string path, bool replace)
    : path_(std::move(path)), part_(path_ + "." + std::to_string(getpid()) + ".part") {
  if (std::filesystem::exists(path_)) {
    if (!std::filesystem::is_regular_file(path_)) {
      throw bad_input(path_ + " is no regular file, expected the name of a file to write");
    }
    if (!replace) throw bad_input(path_ + " exists; give --force to replace it");
  }
  file_ = std::fopen(part_.c_str(), "wbx");
  if (file_ == nullptr) {
    const bool wrong_place = errno == ENOENT || errno == ENOTDIR;
    throw Failure(wrong_place ? kBadInput : kFailed,
                  path_ + ": cannot be written: " + std::strerror(errno));
  }
}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(part_.c_str());
}

Result<void> OutputFile::append(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) return io_error(path_);
  return {};
}

Result<void> OutputFile::finish() {
  if (std::fflush(file_) != 0 || fsync(fileno(file_)) != 0) return io_error(path_);
  if (std::rename(part_.c_str(), path_.c_str()) != 0) return io_error(path_);
  std::fclose(std::exchange(file_, nullptr));
  return {};
}

void OutputFile::write(const void* data, size_t size) {
  const auto result = append({static_cast<const std::byte*>(data), size});
  if (!result.ok()) throw failed(result.error().detail);
}

void OutputFile::close() {
  const auto result = finish();
  if (!result.ok()) throw failed(result.error().detail);
}

}  // namespace nearfield::cli
