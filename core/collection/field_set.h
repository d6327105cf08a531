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
#include "text/text_index.h"

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

  // The metadata of each row of a batch, empty when it has none.
  using Metadata = std::function<std::string_view(uint32_t row)>;
  // Appends the rows of a batch to the columns, whole or, on error, not at all; the error names the
  // row. index_words() with the same rows has to follow.
  Result<void> append(uint32_t rows, const Metadata& metadata);
  // Takes back what append() did, in place of index_words().
  void take_back(uint32_t rows);
  // Adds the words of the rows that were appended.
  void index_words(uint32_t rows, const Metadata& metadata);
  void remove(uint32_t slot);  // the slot's record is dead

  const Columns& columns() const { return columns_; }
  Columns& columns() { return columns_; }
  // Of a text or keyword field; null for others.
  const TextIndex* text(size_t field) const { return texts_[field].get(); }
  TextIndex* text(size_t field) { return texts_[field].get(); }
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
  std::vector<std::unique_ptr<TextIndex>> texts_;
  std::vector<Stored> stored_;
  Extractor extractor_;
};

}  // namespace nearfield
