// FieldSet: the declared fields of a collection and what is known of every row by them.
//
// All of it follows from the metadata of the rows, so whatever is lost of it is made again.
// Invariant: every column has as many rows as were appended. Threads: as BlockArray.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "arena/slot_set.h"
#include "metadata/column.h"
#include "metadata/extractor.h"
#include "nearfield/fields.h"
#include "nearfield/result.h"

namespace nearfield {

// kInvalidArgument when a name is empty, too long or given twice, or there are too many fields.
Result<void> validate(std::span<const Field> fields);

class FieldSet {
 public:
  // REQUIRES: validate(fields).
  FieldSet(std::vector<Field> fields, unsigned block_shift);

  std::span<const Field> fields() const { return fields_; }
  bool empty() const { return fields_.empty(); }
  // The same fields, without rows.
  std::unique_ptr<FieldSet> emptied(unsigned block_shift) const;
  std::optional<size_t> find(std::string_view name) const;

  // Appends the rows of a batch, whole or, on error, not at all; the error names the row.
  // `metadata` gives the text of each, empty when it has none.
  Result<void> append(uint32_t rows, const std::function<std::string_view(uint32_t row)>& metadata);
  void truncate(uint32_t rows);  // drops the rows behind
  void remove(uint32_t slot);    // the slot's record is dead

  const Columns& columns() const { return columns_; }
  Columns& columns() { return columns_; }
  uint64_t memory_bytes() const;

  // What storage knows a field by: above 0, or 0 when it was never stored.
  uint16_t number(size_t field) const { return stored_[field].number; }
  bool has_number(uint16_t number) const;
  void set_number(size_t field, uint16_t number) { stored_[field].number = number; }
  uint16_t free_number() const;
  // Whether storage has the field's rows up to the last flush.
  bool is_stored(size_t field) const { return stored_[field].whole; }
  void saved();
  // Takes all that `other` knows of a field in place of what is known here.
  void take(size_t to, FieldSet& other, size_t from);

 private:
  struct Stored {
    uint16_t number = 0;
    bool whole = false;
  };
  std::vector<Field> fields_;
  Columns columns_;
  std::vector<Stored> stored_;
  Extractor extractor_;
};

}  // namespace nearfield
