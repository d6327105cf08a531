#include "query/evaluate.h"

#include <algorithm>

#include "metadata/metadata_reader.h"

namespace nearfield {

namespace {

using Kind = FilterNode::Kind;

bool is_wanted(const FilterNode& node, const MetadataValue& value) {
  switch (value.kind) {
    case MetadataValue::Kind::kBool: return value.flag ? node.wants_true : node.wants_false;
    case MetadataValue::Kind::kNumber:
      return std::binary_search(node.numbers.begin(), node.numbers.end(), value.number);
    case MetadataValue::Kind::kString:
      return std::binary_search(node.texts.begin(), node.texts.end(), value.text, std::less<>());
    default: return false;
  }
}

class Evaluator {
 public:
  Evaluator(const Filter& filter, const Columns& columns, const FilterSource& source)
      : columns_(columns), source_(source), reader_(filter.paths()) {}

  // The slots of `within` that match.
  Result<Bitmap> select(const FilterNode& node, const Bitmap& within) {
    if (node.cost == FilterNode::Cost::kMetadata) return scan(node, within);
    switch (node.kind) {
      case Kind::kAnd: return all_of(node, within);
      case Kind::kOr: return one_of(node, within);
      case Kind::kNot: {
        NEARFIELD_ASSIGN(const Bitmap matches, select(node.children[0], within));
        Bitmap rest = within;
        rest.subtract(matches);
        return rest;
      }
      case Kind::kIds: return with_ids(node, within);
      case Kind::kAnyOf:
      case Kind::kRange:
      case Kind::kExists: break;
    }
    return column_leaf(node, within);
  }

 private:
  Result<Bitmap> all_of(const FilterNode& node, const Bitmap& within) {
    Bitmap left = within;
    for (const FilterNode& child : node.children) {
      if (left.empty()) break;
      NEARFIELD_ASSIGN(left, select(child, left));
    }
    return left;
  }

  Result<Bitmap> one_of(const FilterNode& node, const Bitmap& within) {
    Bitmap found(within.rows());
    Bitmap left = within;
    for (const FilterNode& child : node.children) {
      NEARFIELD_ASSIGN(const Bitmap matches, select(child, left));
      found |= matches;
      left.subtract(matches);
    }
    return found;
  }

  Result<Bitmap> with_ids(const FilterNode& node, const Bitmap& within) {
    Bitmap found(within.rows());
    for (const Id& id : node.ids) {
      NEARFIELD_ASSIGN(const std::optional<uint32_t> slot, source_.find_id(id));
      if (slot && within.contains(*slot)) found.insert(*slot);
    }
    return found;
  }

  Bitmap column_leaf(const FilterNode& node, const Bitmap& within) const {
    Bitmap found(within.rows());
    const Column& column = columns_[node.field];
    if (node.kind == Kind::kExists) {
      column.select_present(within, found);
    } else if (const NumberColumn* numbers = column.numbers()) {
      if (node.kind == Kind::kRange) {
        numbers->select_range(node.low, node.high, within, found);
      } else {
        numbers->select_any(node.numbers, within, found);
      }
    } else if (const BoolColumn* bools = column.bools()) {
      if (node.wants_false) bools->select(false, within, found);
      if (node.wants_true) bools->select(true, within, found);
    } else if (const TagColumn* tags = column.tags()) {
      tags->select_any(node.texts, within, found);
    }
    return found;
  }

  // Row by row, for conditions on undeclared members alone.
  Bitmap scan(const FilterNode& node, const Bitmap& within) {
    Bitmap found(within.rows());
    within.for_each([&](uint32_t slot) {
      (void)reader_.read(source_.metadata_at(slot));  // what is no JSON object has no values
      if (matches(node)) found.insert(slot);
    });
    return found;
  }

  bool matches(const FilterNode& node) const {
    const auto child_matches = [this](const FilterNode& child) { return matches(child); };
    switch (node.kind) {
      case Kind::kAnd:
        return std::all_of(node.children.begin(), node.children.end(), child_matches);
      case Kind::kOr: return std::any_of(node.children.begin(), node.children.end(), child_matches);
      case Kind::kNot: return !matches(node.children[0]);
      default: break;
    }
    const std::span<const MetadataValue> values = reader_.values(node.field);
    if (node.kind == Kind::kExists) return !values.empty();
    return std::any_of(values.begin(), values.end(), [&](const MetadataValue& value) {
      if (node.kind == Kind::kAnyOf) return is_wanted(node, value);
      return value.kind == MetadataValue::Kind::kNumber && value.number >= node.low &&
             value.number <= node.high;
    });
  }

  const Columns& columns_;
  const FilterSource& source_;
  MetadataReader reader_;
};

}  // namespace

Result<Bitmap> evaluate(const Filter& filter, const Columns& columns, const Bitmap& live,
                        const FilterSource& source) {
  return Evaluator(filter, columns, source).select(filter.root(), live);
}

}  // namespace nearfield
