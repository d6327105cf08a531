// Extractor: the values of all declared fields of a record, from its metadata, in one parse and
// with their types checked.
//
// Threads: one at a time.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "metadata/metadata_reader.h"
#include "nearfield/fields.h"

namespace nearfield {

class Extractor {
 public:
  explicit Extractor(std::span<const Field> fields);

  // Reads a record; empty metadata has no values. kInvalidArgument, naming the field, what it has
  // and what it must have: the values are then not to be used.
  Result<void> read(std::string_view metadata);

  // The values of a field in the last record, until the next read: strings of a tag, text or
  // keyword field, at most one number or bool of the others.
  std::span<const MetadataValue> values(size_t field) const { return reader_.values(field); }

 private:
  Result<void> check(size_t field) const;

  std::vector<Field> fields_;
  MetadataReader reader_;
};

}  // namespace nearfield
