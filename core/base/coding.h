// Little-endian encoding of the small records of the format. Readers check every size; after a
// failure every further read yields zeros and ok() stays false, so that a decoder may read a whole
// record and check once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nearfield {

static_assert(std::endian::native == std::endian::little,
              "the format is read and written in place");

class Encoder {
 public:
  template <class T>
  requires std::is_arithmetic_v<T>
  void put(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(T));
  }
  void put_text(std::string_view text) {
    put(static_cast<uint32_t>(text.size()));
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), bytes, bytes + text.size());
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_arithmetic_v<T> T get() {
    T value{};
    if (rest_.size() < sizeof(T)) {
      fail();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }
  std::string_view get_text() {
    const auto size = get<uint32_t>();
    if (rest_.size() < size) {
      fail();
      return {};
    }
    std::string_view text(reinterpret_cast<const char*>(rest_.data()), size);
    rest_ = rest_.subspan(size);
    return text;
  }
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  bool ok() const { return ok_; }
  size_t remaining() const { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace nearfield
