// Filter: which records a search may return, from its JSON text to a tree. FILTERS.md has the
// language.
//
// The tree is normalised: $eq is a $in of one value, $ne and $nin are negations, comparisons are
// inclusive ranges, and the children of an $and or $or stand in the order in which they are
// evaluated: those on declared fields first, those that need each row's metadata last.
// Threads: any number may read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/fields.h"
#include "nearfield/result.h"
#include "nearfield/types.h"

namespace nearfield {

inline constexpr unsigned kMaxFilterDepth = 64;

struct FilterNode {
  enum class Kind : uint8_t { kAnd, kOr, kNot, kAnyOf, kRange, kExists, kIds };
  // What has to be read to evaluate the node.
  enum class Cost : uint8_t { kColumns, kBoth, kMetadata };

  Kind kind = Kind::kAnd;
  Cost cost = Cost::kColumns;
  std::vector<FilterNode> children;  // of kAnd (none: everything matches), kOr, kNot (one)

  // Of kAnyOf, kRange and kExists: a declared field, or one of Filter::paths().
  bool declared = false;
  uint32_t field = 0;
  // kAnyOf: sorted, each once. On a declared field only those of its type are there.
  std::vector<double> numbers;
  std::vector<std::string> texts;
  bool wants_false = false;
  bool wants_true = false;
  // kRange
  double low = 0;
  double high = 0;
  // kIds
  std::vector<Id> ids;
};

class Filter {
 public:
  // kInvalidArgument with one sentence: what was wrong, where, and what was expected.
  static Result<Filter> parse(std::string_view json, std::span<const Field> fields);

  const FilterNode& root() const { return root_; }
  // The undeclared members that are asked for. With any, evaluation reads metadata.
  const std::vector<std::string>& paths() const { return paths_; }
  bool uses_ids() const { return uses_ids_; }

 private:
  friend class FilterParser;
  FilterNode root_;
  std::vector<std::string> paths_;
  bool uses_ids_ = false;
};

}  // namespace nearfield
