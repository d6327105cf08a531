// Fields: what a collection knows of its records' metadata, so that searches can filter, order and
// rank by it. Metadata that no field names is kept and returned all the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nearfield {

inline constexpr size_t kMaxFields = 256;
inline constexpr size_t kMaxFieldNameBytes = 255;

// What a field's values are, and what can be asked of them:
//   kTag      a string or a list of strings; filters, facets, order
//   kNumber   a finite number, a date as its milliseconds for instance; filters, order
//   kBool     true or false; filters, order
//   kText     a string or a list of strings; full text: words, phrases and prefixes, by BM25
//   kKeyword  a string or a list of strings such as a SKU, each one token: filters and facets as a
//             tag, and found by full text, whole and regardless of case
enum class FieldType : uint8_t { kTag = 0, kNumber = 1, kBool = 2, kText = 3, kKeyword = 4 };

std::string_view field_type_name(FieldType type);  // "tag", "number", "bool", "text", "keyword"

struct Field {
  // A member of the metadata object, or the way to a nested one: "author.name". A member that has
  // the whole name goes first. A record that lacks the member, or has null there, has no value.
  std::string name = {};
  FieldType type = FieldType::kTag;
  bool stop_words = true;  // text: whether words like "the" can be found
  bool prefix = true;      // text and keyword: whether "wire*" finds "wireless"
  friend bool operator==(const Field&, const Field&) = default;
};

// One value of a tag or keyword field and how many rows have it.
struct FacetCount {
  std::string value;
  uint32_t count = 0;
};

}  // namespace nearfield
