#include "packed_file.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "failure.h"
#include "files.h"

namespace nearfield::cli {
namespace {

Error read_only() { return {ErrorCode::kReadOnly, "a packed file is only read"}; }

Result<void> read_fully(int descriptor, std::byte* data, uint64_t offset, uint64_t length) {
  while (length > 0) {
    const ssize_t count = pread(descriptor, data, length, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error{ErrorCode::kIo, std::strerror(errno)};
    if (count == 0) return Error{ErrorCode::kCorrupt, "the file ends early"};
    data += count;
    offset += static_cast<uint64_t>(count);
    length -= static_cast<uint64_t>(count);
  }
  return {};
}

}  // namespace

PackedFile::PackedFile(const std::string& path)
    : path_(path), descriptor_(-1), size_(input_size(path)) {
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw bad_input(path + ": cannot be opened: " + std::strerror(errno));
}

PackedFile::~PackedFile() { close(descriptor_); }

Result<uint64_t> PackedFile::size(std::string_view name) {
  if (name != kName) return Error{ErrorCode::kNotFound, "there is no file " + std::string(name)};
  return size_;
}

Result<Buffer> PackedFile::read(std::string_view name, uint64_t offset, uint64_t length) {
  NEARFIELD_ASSIGN(const uint64_t available, size(name));
  if (offset > available || length > available - offset) {
    return Error{ErrorCode::kCorrupt, "the file ends early: it has " + std::to_string(available) +
                                          " bytes, expected more"};
  }
  NEARFIELD_ASSIGN(Buffer buffer, Buffer::allocate(length));
  NEARFIELD_TRY(read_fully(descriptor_, buffer.data(), offset, length));
  return buffer;
}

Result<std::unique_ptr<FileSink>> PackedFile::create(std::string_view) { return read_only(); }

Result<void> PackedFile::remove(std::string_view) { return read_only(); }

}  // namespace nearfield::cli
