// MetadataReader: takes the values at given paths out of a record's metadata, in one parse.
//
// A path is the name of a member, or the way to a nested one ("author.name"). A member that has the
// whole name goes first, even when it is null. Of members of the same name the last one counts.
// Paths do not lead into lists. Nothing is allocated per record once the buffers have grown.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/result.h"

namespace nearfield {

// One value of a member, or one element of its list.
struct MetadataValue {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kList, kObject };
  Kind kind = Kind::kNull;
  bool flag = false;           // kBool
  double number = 0;           // kNumber
  std::string_view text = {};  // kString: UTF-8, valid until the next read
};

class MetadataReader {
 public:
  explicit MetadataReader(std::span<const std::string> paths);
  ~MetadataReader();
  MetadataReader(MetadataReader&&) noexcept;
  MetadataReader& operator=(MetadataReader&&) noexcept;

  // Reads a record. Empty: it has no metadata and no values. kInvalidArgument when the text is no
  // JSON object; then there are no values either.
  Result<void> read(std::string_view metadata);

  // What the last record has at a path: nothing (also when it is null, or a list without elements),
  // one value, or the elements of a list. Of an object only that it is there is told.
  std::span<const MetadataValue> values(size_t path) const;
  bool is_list(size_t path) const;

 private:
  class Handler;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nearfield
