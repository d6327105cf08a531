// Buffer: a piece of memory that is owned by the heap or by a mapping. It is how bytes travel from
// storage into the arena without a copy.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "nearfield/result.h"

namespace nearfield {

inline constexpr size_t kBufferAlignment = 64;  // a cache line and the widest vector register

// Move-only. The bytes are writable: a mapping is private (copy on write), so that writing never
// reaches the file.
class Buffer {
 public:
  Buffer() = default;
  // `size` bytes at a multiple of kBufferAlignment, zeroed; kOutOfMemory when they cannot be had.
  static Result<Buffer> allocate(size_t size);
  // Bytes that `owner` keeps alive, a part of a file mapping for instance.
  static Buffer borrow(std::shared_ptr<void> owner, std::byte* data, size_t size) {
    Buffer buffer;
    buffer.owner_ = std::move(owner);
    buffer.data_ = data;
    buffer.size_ = size;
    return buffer;
  }

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // A part of this buffer that shares its ownership. REQUIRES: offset + size <= size().
  Buffer slice(size_t offset, size_t size) const { return borrow(owner_, data_ + offset, size); }

 private:
  std::shared_ptr<void> owner_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace nearfield
