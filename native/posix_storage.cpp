#include "posix_storage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace nearfield {

namespace {

constexpr const char* kLockName = "lock";
constexpr size_t kWriteBuffer = 256 << 10;
constexpr size_t kLargestWrite = 1 << 30;  // some kernels refuse more in one call

Error system_error(int number, const std::string& what) {
  ErrorCode code = ErrorCode::kIo;
  if (number == ENOSPC || number == EDQUOT) code = ErrorCode::kQuota;
  if (number == ENOENT) code = ErrorCode::kNotFound;
  if (number == ENOMEM) code = ErrorCode::kOutOfMemory;
  return {code, what + ": " + std::strerror(number)};
}

// A descriptor that closes itself.
class File {
 public:
  explicit File(int descriptor = -1) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

File open_file(const std::string& path, int flags) {
  int descriptor;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  return File(descriptor);
}

bool flush_to_disk(int descriptor) {
#ifdef F_FULLFSYNC
  if (::fcntl(descriptor, F_FULLFSYNC) == 0)
    return true;  // on macOS fsync stops at the drive's cache
#endif
  return ::fsync(descriptor) == 0;
}

Result<void> sync_directory(const std::string& path) {
  const File directory = open_file(path, O_RDONLY | O_DIRECTORY);
  if (!directory) return system_error(errno, "cannot open the directory " + path);
  // Some file systems cannot do this and say so; their names are as durable as they get.
  if (!flush_to_disk(directory.get()) && errno != EINVAL && errno != ENOTSUP) {
    return system_error(errno, "cannot sync the directory " + path);
  }
  return {};
}

std::string parent_of(const std::string& path) {
  const size_t end = path.find_last_not_of('/');
  const size_t slash = path.find_last_of('/', end);
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Gathers small appends into large writes.
class Writer {
 public:
  Writer(File file, std::string path) : file_(std::move(file)), path_(std::move(path)) {
    buffer_.reserve(kWriteBuffer);
  }

  Result<void> append(std::span<const std::byte> bytes) {
    if (buffer_.size() + bytes.size() > kWriteBuffer) NEARFIELD_TRY(flush());
    if (bytes.size() >= kWriteBuffer) return write(bytes);
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return {};
  }

  Result<void> flush() {
    NEARFIELD_TRY(write(buffer_));
    buffer_.clear();
    return {};
  }

  Result<void> sync() {
    if (!flush_to_disk(file_.get())) return system_error(errno, "cannot sync " + path_);
    return {};
  }

  const std::string& path() const { return path_; }
  File take() { return std::move(file_); }

 private:
  Result<void> write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const size_t wanted = bytes.size() < kLargestWrite ? bytes.size() : kLargestWrite;
      const ssize_t written = ::write(file_.get(), bytes.data(), wanted);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return system_error(errno, "cannot write " + path_);
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return {};
  }

  File file_;
  std::string path_;
  std::vector<std::byte> buffer_;
};

// A new file in place of an old one. The old one is unlinked, not emptied: others may have it
// mapped.
Result<Writer> start_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return system_error(errno, "cannot replace " + path);
  }
  File file = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) return system_error(errno, "cannot create " + path);
  return Writer(std::move(file), path);
}

class LoneSink final : public FileSink {
 public:
  explicit LoneSink(Writer writer) : writer_(std::move(writer)) {}
  Result<void> append(std::span<const std::byte> bytes) override { return writer_.append(bytes); }
  Result<void> finish() override {
    NEARFIELD_TRY(writer_.flush());
    NEARFIELD_TRY(writer_.sync());
    return sync_posix_name(writer_.path());
  }

 private:
  Writer writer_;
};

}  // namespace

// A whole file, mapped twice: `data` is private, so that writing to it reaches neither the file nor
// other mappings; `stored` stays what the file is, and is not to be written to. Both at once, since
// the file may be gone from the directory later.
struct PosixStorage::Mapping {
  explicit Mapping(size_t length) : size(length) {}
  ~Mapping() {
    if (data != nullptr) ::munmap(data, size);
    if (stored != nullptr) ::munmap(stored, size);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  static Result<std::shared_ptr<Mapping>> of(const std::string& path) {
    const File file = open_file(path, O_RDONLY);
    if (!file) return system_error(errno, "cannot open " + path);
    struct stat status;
    if (::fstat(file.get(), &status) != 0) return system_error(errno, "cannot read " + path);
    auto mapping = std::make_shared<Mapping>(static_cast<size_t>(status.st_size));
    if (mapping->size == 0) return mapping;
    int flags = MAP_PRIVATE;
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;  // few pages are ever written, so no memory is set aside for them
#endif
    void* data = ::mmap(nullptr, mapping->size, PROT_READ | PROT_WRITE, flags, file.get(), 0);
    if (data == MAP_FAILED) return system_error(errno, "cannot map " + path);
    mapping->data = static_cast<std::byte*>(data);
    void* stored = ::mmap(nullptr, mapping->size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (stored == MAP_FAILED) return system_error(errno, "cannot map " + path);
    mapping->stored = static_cast<std::byte*>(stored);
    return mapping;
  }

  std::byte* data = nullptr;
  std::byte* stored = nullptr;
  size_t size;
};

class PosixStorage::Sink final : public FileSink {
 public:
  Sink(PosixStorage& storage, Writer writer) : storage_(storage), writer_(std::move(writer)) {}
  Result<void> append(std::span<const std::byte> bytes) override { return writer_.append(bytes); }
  Result<void> finish() override {
    NEARFIELD_TRY(writer_.flush());
    File file = writer_.take();
    if (storage_.durability_ == Durability::kFull) storage_.unsynced_.push_back(file.release());
    return {};
  }

 private:
  PosixStorage& storage_;
  Writer writer_;
};

Result<std::unique_ptr<PosixStorage>> PosixStorage::open(std::string directory, Access access,
                                                         Durability durability) {
  struct stat status;
  const bool exists = ::stat(directory.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) return system_error(errno, "cannot open " + directory);
  if (exists && !S_ISDIR(status.st_mode)) {
    return Error{ErrorCode::kInvalidArgument,
                 directory + " is not a directory; expected the directory of a store"};
  }
  std::unique_ptr<PosixStorage> storage(new PosixStorage(std::move(directory), access, durability));
  if (exists && access == Access::kWrite) NEARFIELD_TRY(storage->take_lock());
  return storage;
}

PosixStorage::~PosixStorage() {
  for (const int descriptor : unsynced_) ::close(descriptor);
  if (lock_ >= 0) ::close(lock_);
}

// The file stays when the lock is let go: removing it would let two programs lock two files of this
// name.
Result<void> PosixStorage::take_lock() {
  File file = open_file(path(kLockName), O_RDWR | O_CREAT);
  if (!file) return system_error(errno, "cannot open " + path(kLockName) + " for writing");
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error(errno, "cannot lock " + path(kLockName));
    return Error{
        ErrorCode::kLocked,
        directory_ + " is open for writing in another program; expected to be the only one"};
  }
  lock_ = file.release();
  return {};
}

Result<void> PosixStorage::make_directory() {
  if (lock_ >= 0) return {};
  if (::mkdir(directory_.c_str(), 0777) != 0 && errno != EEXIST) {
    return system_error(errno, "cannot make the directory " + directory_);
  }
  NEARFIELD_TRY(take_lock());
  // It was missing or empty when it was opened without the lock; what is here now is another's.
  const auto names = list();
  if (!names.ok() || !names->empty()) {
    ::close(std::exchange(lock_, -1));
    if (!names.ok()) return names.error();
    return Error{ErrorCode::kLocked,
                 "another program has made " + directory_ +
                     " since it was opened here; expected it to be missing or empty still"};
  }
  if (durability_ == Durability::kNone) return {};
  return sync_posix_name(directory_);
}

Result<void> PosixStorage::require_writing() const {
  if (access_ == Access::kWrite) return {};
  return Error{ErrorCode::kReadOnly, directory_ + " was opened for reading"};
}

Result<std::vector<std::string>> PosixStorage::list() {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(directory_.c_str()), ::closedir);
  std::vector<std::string> names;
  if (!directory) {
    if (errno == ENOENT) return names;
    return system_error(errno, "cannot list the directory " + directory_);
  }
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (!name.starts_with('.') && name != kLockName) names.emplace_back(name);
  }
  if (errno != 0) return system_error(errno, "cannot list the directory " + directory_);
  return names;
}

Result<uint64_t> PosixStorage::size(std::string_view name) {
  struct stat status;
  if (::stat(path(name).c_str(), &status) != 0) {
    return system_error(errno, "cannot find " + path(name));
  }
  return static_cast<uint64_t>(status.st_size);
}

// The mapping of a file that holds these bytes. One that does not is made anew once: another
// program may have been writing the file when it was mapped.
Result<std::shared_ptr<PosixStorage::Mapping>> PosixStorage::map(std::string_view name,
                                                                 uint64_t offset, uint64_t length) {
  const auto holds = [&](const Mapping& mapping) {
    return offset <= mapping.size && length <= mapping.size - offset;
  };
  const auto found = mappings_.find(name);
  if (found != mappings_.end() && holds(*found->second)) return found->second;
  NEARFIELD_ASSIGN(auto mapping, Mapping::of(path(name)));
  if (!holds(*mapping)) {
    return Error{ErrorCode::kCorrupt, path(name) + " has " + std::to_string(mapping->size) +
                                          " bytes; expected " + std::to_string(length) +
                                          " at offset " + std::to_string(offset)};
  }
  mappings_.insert_or_assign(std::string(name), mapping);
  return mapping;
}

Result<Buffer> PosixStorage::read(std::string_view name, uint64_t offset, uint64_t length) {
  NEARFIELD_ASSIGN(auto mapping, map(name, offset, length));
  std::byte* begin = mapping->data + offset;
  return Buffer::borrow(std::move(mapping), begin, static_cast<size_t>(length));
}

Result<Buffer> PosixStorage::read_stored(std::string_view name, uint64_t offset, uint64_t length) {
  NEARFIELD_ASSIGN(auto mapping, map(name, offset, length));
  std::byte* begin = mapping->stored + offset;
  return Buffer::borrow(std::move(mapping), begin, static_cast<size_t>(length));
}

Result<std::unique_ptr<FileSink>> PosixStorage::create(std::string_view name) {
  NEARFIELD_TRY(require_writing());
  NEARFIELD_TRY(make_directory());
  if (const auto old = mappings_.find(name); old != mappings_.end()) mappings_.erase(old);
  NEARFIELD_ASSIGN(Writer writer, start_file(path(name)));
  names_changed_ = true;
  return std::unique_ptr<FileSink>(std::make_unique<Sink>(*this, std::move(writer)));
}

Result<void> PosixStorage::remove(std::string_view name) {
  NEARFIELD_TRY(require_writing());
  if (lock_ < 0) return {};  // the directory was missing: whatever is there now is another's
  if (const auto old = mappings_.find(name); old != mappings_.end()) mappings_.erase(old);
  if (::unlink(path(name).c_str()) != 0 && errno != ENOENT) {
    return system_error(errno, "cannot remove " + path(name));
  }
  names_changed_ = true;
  return {};
}

Result<void> PosixStorage::sync() {
  // A failed fsync may have dropped the pages it could not write, so none is tried twice: the
  // caller gives these files up.
  const auto descriptors = std::exchange(unsynced_, {});
  int failure = 0;
  for (const int descriptor : descriptors) {
    if (!flush_to_disk(descriptor)) failure = errno;
    ::close(descriptor);
  }
  if (failure != 0) return system_error(failure, "cannot sync the files of " + directory_);
  if (names_changed_ && durability_ == Durability::kFull) NEARFIELD_TRY(sync_directory(directory_));
  names_changed_ = false;
  return {};
}

Result<std::unique_ptr<FileSink>> create_posix_file(const std::string& path) {
  NEARFIELD_ASSIGN(Writer writer, start_file(path));
  return std::unique_ptr<FileSink>(std::make_unique<LoneSink>(std::move(writer)));
}

Result<void> sync_posix_name(const std::string& path) { return sync_directory(parent_of(path)); }

}  // namespace nearfield
