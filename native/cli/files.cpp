#include "files.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure.h"

namespace nearfield::cli {
namespace {

namespace fs = std::filesystem;

void require_regular_file(const std::string& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) throw bad_input("no file at " + path);
  if (!fs::is_regular_file(status)) {
    throw bad_input(path + " is no regular file, expected a file with data");
  }
}

Error io_error(const std::string& path) {
  const auto code = errno == ENOSPC || errno == EDQUOT ? ErrorCode::kQuota : ErrorCode::kIo;
  return {code, path + ": " + std::strerror(errno)};
}

Failure cannot_write(const std::string& path) {
  const bool bad_name =
      errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP;
  return {bad_name ? kBadInput : kFailed, path + ": cannot be written: " + std::strerror(errno)};
}

// The open descriptor that a path like /dev/stdout names, else -1. It is not opened anew: a file
// that standard output leads to would be written from its start.
int named_descriptor(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const std::string_view digits = path.substr(folder.size());
    int descriptor = -1;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), descriptor);
    if (parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size()) return descriptor;
  }
  return -1;
}

// Where a link leads, whether or not anything is there.
std::string follow_links(const std::string& path) {
  constexpr int kMostLinks = 40;
  fs::path target = path;
  std::error_code error;
  for (int i = 0; fs::is_symlink(fs::symlink_status(target, error)); ++i) {
    if (i == kMostLinks) throw bad_input(path + " is a link that leads nowhere");
    const fs::path next = fs::read_symlink(target, error);
    if (error) break;
    target = target.parent_path() / next;
  }
  return target.string();
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
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error) throw failed(path + ": " + error.message());
  return size;
}

void read_exactly(std::ifstream& file, void* data, size_t size, const std::string& path) {
  file.read(static_cast<char*>(data), static_cast<std::streamsize>(size));
  if (file.bad()) throw failed(path + ": reading failed");
  if (static_cast<size_t>(file.gcount()) != size) {
    throw bad_input(path + ": the file ends early, expected " +
                    std::to_string(size - static_cast<size_t>(file.gcount())) + " bytes more");
  }
}

bool lies_inside(const std::string& file, const std::string& folder) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(fs::absolute(follow_links(file)), error);
  if (error) return false;
  while (place.has_relative_path()) {
    place = place.parent_path();
    if (fs::equivalent(place, folder, error)) return true;
  }
  return false;
}

OutputFile::OutputFile(std::string path, bool replace) : path_(std::move(path)) {
  if (const int descriptor = named_descriptor(path_); descriptor >= 0) {
    open_directly(descriptor);
    return;
  }
  target_ = follow_links(path_);
  std::error_code error;
  const auto status = fs::status(path_, error);
  if (fs::is_directory(status)) {
    throw bad_input(path_ + " is a folder, expected the name of a file to write");
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    open_directly(-1);
    return;
  }
  if (fs::exists(status) && !replace) {
    throw bad_input(path_ + " exists; give --force to replace it");
  }
  part_ = target_ + "." + std::to_string(getpid()) + ".part";
  file_ = std::fopen(part_.c_str(), "wbx");
  if (file_ == nullptr) throw cannot_write(path_);
}

void OutputFile::open_directly(int descriptor) {
  const int own = descriptor >= 0 ? dup(descriptor) : open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (own < 0) throw cannot_write(path_);
  file_ = fdopen(own, "wb");
  if (file_ == nullptr) {
    ::close(own);
    throw cannot_write(path_);
  }
  struct stat mine = {};
  struct stat standard = {};
  is_standard_output_ = fstat(own, &mine) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
                        mine.st_dev == standard.st_dev && mine.st_ino == standard.st_ino;
}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (!part_.empty()) std::remove(part_.c_str());
}

Result<void> OutputFile::append(std::span<const std::byte> bytes) {
  // Of nothing there may be no address, which fwrite must not be given.
  if (bytes.empty()) return {};
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) return io_error(path_);
  written_ += bytes.size();
  return {};
}

Result<void> OutputFile::finish() {
  if (std::fflush(file_) != 0) return io_error(path_);
  if (!part_.empty()) {
    if (fsync(fileno(file_)) != 0) return io_error(path_);
    if (std::rename(part_.c_str(), target_.c_str()) != 0) return io_error(path_);
  }
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
