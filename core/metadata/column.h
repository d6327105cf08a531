// Column: the values of one declared field, of whichever type. Columns: those of a collection.
//
//   tag, keyword  TagColumn       number  NumberColumn       bool  BoolColumn
//   text          BoolColumn, true where there is a text: the words are the text index's business
// Threads: as BlockArray.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "metadata/metadata_reader.h"
#include "metadata/number_column.h"
#include "metadata/tag_column.h"
#include "nearfield/fields.h"

namespace nearfield {

class Column {
 public:
  Column(FieldType type, unsigned block_shift);

  uint32_t rows() const;
  // Makes room for `rows` rows, which append() then fills; kOutOfMemory changes nothing.
  Result<void> reserve(uint32_t rows);
  // Appends a row. REQUIRES: reserve(), and values that an Extractor gave for the field.
  void append(std::span<const MetadataValue> values);
  void truncate(uint32_t rows);  // REQUIRES: rows <= rows()

  // The payload of rows [first, first + count), which lie in one block; empty when none has a
  // value.
  std::vector<std::byte> encode(uint32_t first, uint32_t count) const;
  // Appends `count` rows of one block as encode() wrote them, in place when they begin a block.
  // kCorrupt when the payload cannot be theirs by its length; nothing else is read.
  Result<void> adopt(Buffer payload, uint32_t count);
  // What contradicts the rules of the payload, a sentence each. Reads everything.
  void check(std::vector<std::string>& problems) const;

  void select_present(const Bitmap& within, Bitmap& out) const;
  uint64_t memory_bytes() const;

  // Null when the field has another type.
  const NumberColumn* numbers() const { return std::get_if<NumberColumn>(&column_); }
  const BoolColumn* bools() const { return std::get_if<BoolColumn>(&column_); }
  const TagColumn* tags() const { return std::get_if<TagColumn>(&column_); }

 private:
  std::variant<NumberColumn, BoolColumn, TagColumn> column_;
  std::vector<std::string_view> strings_;  // of the row that is appended
};

// columns[i] belongs to fields[i].
using Columns = std::vector<Column>;

}  // namespace nearfield
