// How values cross between JavaScript and the engine. web/src/engine/boundary.ts is the other side.
//
// Everything is little-endian and unaligned. JavaScript asks for a staging area, writes into it and
// makes one call; the answer of a call lies in memory until the next call, and JavaScript copies it
// out.
//
//   text      u32 length, then so many UTF-8 bytes
//   id        a text; or u32 0xffffffff, then i64: an integer
//   hits      per query u32 count, then per hit: f32 distance, id, [text metadata], [f32 ×
//   dimensions] records   per id asked u8 found, then if found: id, text metadata, f32 × dimensions
//   options   f64 × 6: dimensions, metric, row type, m, ef_construction, seed
//   stats     f64 × 6: count, rows, linked, memory_bytes, distance_computations, build_distances
//   info      f64 × 3: format_version, generation, bytes; text kernels; u32 count, then so many
//   texts:
//             warnings; u32 count, then per kind: text name, f64 bytes
//   names     u32 count, then so many texts
//   fields    u32 count, then per field: text name, u8 type, u8 stop words, u8 prefix
//   facets    u32 count, then per value: text, f64 count
//   ranking   text plan, f64 rows that match the text, u32 count, then per hit: f64 score, f32
//             distance (NaN: none), id, [text metadata], [f32 × dimensions], [u32 count, then per
//             text that matches: text field, text, u32 count of ranges, u32 × 2 bytes each]
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/database.h"

namespace nearfield::wasm {

inline constexpr uint32_t kIntegerId = 0xffffffff;

// What every call returns. `code` is -1 or an ErrorCode; `data` and `size` are the answer's bytes.
struct Reply {
  int code = -1;
  std::string detail = {};
  double value = 0;
  double total = 0;
  uintptr_t data = 0;
  uint32_t size = 0;
};

inline Reply failure(const Error& error) {
  return {.code = static_cast<int>(error.code), .detail = error.detail};
}

// Takes the packed values apart. JavaScript packed them, so a bad length is a bug; it still reads
// nothing outside of the bytes.
class Reader {
 public:
  explicit Reader(std::span<const char> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }

  std::string_view text() { return bytes(number<uint32_t>()); }

  IdView id() {
    const auto length = number<uint32_t>();
    if (length == kIntegerId) return IdView(number<int64_t>());
    return IdView(bytes(length));
  }

  template <class T>
  T number() {
    T value{};
    const std::string_view from = bytes(sizeof(T));
    if (from.size() == sizeof(T)) std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }

 private:
  std::string_view bytes(size_t length) {
    if (length > bytes_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view part(bytes_.data(), length);
    bytes_ = bytes_.subspan(length);
    return part;
  }

  std::span<const char> bytes_;
  bool ok_ = true;
};

// Packs an answer.
class Writer {
 public:
  template <class T>
  void number(T value) {
    append(&value, sizeof(T));
  }
  void text(std::string_view value) {
    number(static_cast<uint32_t>(value.size()));
    append(value.data(), value.size());
  }
  void id(IdView value) {
    if (value.is_text()) return text(value.text());
    number(kIntegerId);
    number(value.number());
  }
  void floats(std::span<const float> values) { append(values.data(), values.size_bytes()); }

  std::vector<char>& bytes() { return bytes_; }

 private:
  void append(const void* from, size_t size) {
    const auto* first = static_cast<const char*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }

  std::vector<char> bytes_;
};

}  // namespace nearfield::wasm
