#include "query/filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "query/json_tree.h"

namespace nearfield {

namespace {

using JsonKind = JsonNode::Kind;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMostExactInteger = 9007199254740992;  // 2^53

constexpr std::string_view kFieldOperators =
    "$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists or $not";
constexpr std::string_view kIdOperators = "$eq, $ne, $in, $nin or $not";

std::string name_of(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull: return "null";
    case JsonKind::kBool: return "a boolean";
    case JsonKind::kNumber: return "a number";
    case JsonKind::kString: return "a string";
    case JsonKind::kList: return "a list";
    case JsonKind::kObject: return "an object";
  }
  return "";
}

FilterNode negated(FilterNode node) {
  FilterNode out;
  out.kind = FilterNode::Kind::kNot;
  out.cost = node.cost;
  out.children.push_back(std::move(node));
  return out;
}

// The $and or $or of nodes, in the order in which they are evaluated. Those that read metadata
// become one child, so that each row is parsed once.
FilterNode joined(FilterNode::Kind kind, std::vector<FilterNode> children) {
  if (children.size() == 1) return std::move(children[0]);
  FilterNode out;
  out.kind = kind;
  std::stable_sort(children.begin(), children.end(),
                   [](const FilterNode& a, const FilterNode& b) { return a.cost < b.cost; });
  const auto rows = std::find_if(children.begin(), children.end(), [](const FilterNode& child) {
    return child.cost == FilterNode::Cost::kMetadata;
  });
  if (rows != children.begin() && children.end() - rows > 1) {
    FilterNode together;
    together.kind = kind;
    together.cost = FilterNode::Cost::kMetadata;
    together.children.assign(std::make_move_iterator(rows),
                             std::make_move_iterator(children.end()));
    children.erase(rows, children.end());
    children.push_back(std::move(together));
  }
  if (!children.empty() && children.front().cost == children.back().cost) {
    out.cost = children.front().cost;
  } else if (!children.empty()) {
    out.cost = FilterNode::Cost::kBoth;
  }
  out.children = std::move(children);
  return out;
}

}  // namespace

class FilterParser {
 public:
  FilterParser(const JsonTree& tree, std::span<const Field> fields)
      : tree_(tree), fields_(fields) {}

  Result<Filter> parse() {
    NEARFIELD_ASSIGN(filter_.root_, object(tree_.root(), 1));
    return std::move(filter_);
  }

 private:
  using Nodes = std::vector<FilterNode>;
  enum class Subject : uint8_t { kDeclared, kUndeclared, kId };
  // What a field's operators apply to.
  struct Target {
    Subject subject;
    uint32_t index;  // of the field, or of the path
  };

  // Puts a step on the path that error sentences name, for as long as it lives.
  class Step {
   public:
    Step(FilterParser& parser, std::string_view key) : Step(parser) {
      if (!parser.where_.empty()) parser.where_ += '.';
      parser.where_ += key;
    }
    Step(FilterParser& parser, size_t index) : Step(parser) {
      parser.where_ += '[' + std::to_string(index) + ']';
    }
    ~Step() { parser_.where_.resize(before_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    explicit Step(FilterParser& parser) : parser_(parser), before_(parser.where_.size()) {}
    FilterParser& parser_;
    size_t before_;
  };

  Error error(const std::string& found, const std::string& expected) const {
    const std::string where = where_.empty() ? "" : " at " + where_;
    return {ErrorCode::kInvalidArgument,
            "the filter has " + found + where + "; expected " + expected};
  }
  Result<void> check_depth(unsigned depth) const {
    if (depth <= kMaxFilterDepth) return {};
    return error("too many levels", "at most " + std::to_string(kMaxFilterDepth));
  }
  template <class Visit>
  Result<void> for_each_child(const JsonNode& node, Visit visit) {
    for (uint32_t i = node.first_child; i != JsonNode::kNone; i = tree_.node(i).next)
      NEARFIELD_TRY(visit(tree_.node(i)));
    return {};
  }

  // {...}: all its members hold.
  Result<FilterNode> object(const JsonNode& node, unsigned depth) {
    if (node.kind != JsonKind::kObject)
      return error(name_of(node.kind), "an object such as {\"field\": value}");
    NEARFIELD_TRY(check_depth(depth));
    Nodes all;
    NEARFIELD_TRY(for_each_child(node, [&](const JsonNode& child) -> Result<void> {
      const Step step(*this, child.key);
      NEARFIELD_ASSIGN(FilterNode member, member_of(child, depth));
      all.push_back(std::move(member));
      return {};
    }));
    return joined(FilterNode::Kind::kAnd, std::move(all));
  }

  Result<FilterNode> member_of(const JsonNode& node, unsigned depth) {
    if (node.key == "$and") return list_of_filters(node, FilterNode::Kind::kAnd, depth);
    if (node.key == "$or") return list_of_filters(node, FilterNode::Kind::kOr, depth);
    if (node.key == "$not") {
      NEARFIELD_ASSIGN(FilterNode inner, object(node, depth + 1));
      return negated(std::move(inner));
    }
    if (node.key == "$id") return condition(node, {Subject::kId, 0}, depth);
    if (node.key.starts_with('$')) {
      return error("the unknown operator \"" + std::string(node.key) + "\"",
                   "$and, $or, $not, $id or the name of a field");
    }
    return condition(node, target_of(node.key), depth);
  }

  Result<FilterNode> list_of_filters(const JsonNode& node, FilterNode::Kind kind, unsigned depth) {
    if (node.kind != JsonKind::kList) return error(name_of(node.kind), "a list of filters");
    if (node.first_child == JsonNode::kNone)
      return error("an empty list", "a list of at least one filter");
    Nodes filters;
    NEARFIELD_TRY(for_each_child(node, [&](const JsonNode& child) -> Result<void> {
      const Step step(*this, filters.size());
      NEARFIELD_ASSIGN(FilterNode filter, object(child, depth + 1));
      filters.push_back(std::move(filter));
      return {};
    }));
    return joined(kind, std::move(filters));
  }

  Target target_of(std::string_view name) {
    for (uint32_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i].name == name) return {Subject::kDeclared, i};
    }
    auto& paths = filter_.paths_;
    const auto place = std::find(paths.begin(), paths.end(), name);
    const auto index = static_cast<uint32_t>(place - paths.begin());
    if (place == paths.end()) paths.emplace_back(name);
    return {Subject::kUndeclared, index};
  }

  // What stands beside a field: a value, or operators that all hold.
  Result<FilterNode> condition(const JsonNode& node, Target target, unsigned depth) {
    if (node.kind != JsonKind::kObject) return any_of({&node, 1}, target);
    NEARFIELD_TRY(check_depth(depth + 1));
    if (node.first_child == JsonNode::kNone)
      return error("an object without an operator", operators_of(target));
    Nodes all;
    NEARFIELD_TRY(for_each_child(node, [&](const JsonNode& child) -> Result<void> {
      const Step step(*this, child.key);
      NEARFIELD_ASSIGN(FilterNode part, operation(child, target, depth + 1));
      all.push_back(std::move(part));
      return {};
    }));
    return joined(FilterNode::Kind::kAnd, std::move(all));
  }

  Result<FilterNode> operation(const JsonNode& node, Target target, unsigned depth) {
    const std::string_view name = node.key;
    const bool negative = name == "$ne" || name == "$nin";
    if (name == "$eq" || name == "$ne") {
      NEARFIELD_ASSIGN(FilterNode leaf, any_of({&node, 1}, target));
      return negative ? negated(std::move(leaf)) : std::move(leaf);
    }
    if (name == "$in" || name == "$nin") {
      if (node.kind != JsonKind::kList) return error(name_of(node.kind), "a list of values");
      std::vector<JsonNode> values;
      NEARFIELD_TRY(for_each_child(node, [&](const JsonNode& child) -> Result<void> {
        values.push_back(child);
        return {};
      }));
      NEARFIELD_ASSIGN(FilterNode leaf, any_of(values, target, true));
      return negative ? negated(std::move(leaf)) : std::move(leaf);
    }
    if (name == "$not") {
      if (node.kind != JsonKind::kObject)
        return error(name_of(node.kind), "an object of operators");
      NEARFIELD_ASSIGN(FilterNode inner, condition(node, target, depth));
      return negated(std::move(inner));
    }
    if (target.subject != Subject::kId) {
      if (name == "$exists") return exists(node, target);
      if (name == "$gt" || name == "$gte" || name == "$lt" || name == "$lte")
        return range(node, target);
    }
    const bool known =
        name == "$exists" || name == "$gt" || name == "$gte" || name == "$lt" || name == "$lte";
    return error(std::string(known ? "the operator \"" : "the unknown operator \"") +
                     std::string(name) + "\"",
                 operators_of(target));
  }

  static std::string operators_of(Target target) {
    return std::string(target.subject == Subject::kId ? kIdOperators : kFieldOperators);
  }

  FilterNode leaf(FilterNode::Kind kind, Target target) const {
    FilterNode node;
    node.kind = kind;
    node.declared = target.subject == Subject::kDeclared;
    node.field = target.index;
    node.cost = target.subject == Subject::kUndeclared ? FilterNode::Cost::kMetadata
                                                       : FilterNode::Cost::kColumns;
    return node;
  }

  // Text fields are searched; only whether they are there can be asked by a filter.
  Result<void> check_filterable(Target target) const {
    if (target.subject != Subject::kDeclared || fields_[target.index].type != FieldType::kText)
      return {};
    return error("a condition on text field \"" + fields_[target.index].name + "\"",
                 "$exists, since text fields are for full text search");
  }

  // What values a field is compared with, for error sentences.
  std::string expected_of(Target target) const {
    if (target.subject == Subject::kId) return "an integer or a string";
    if (target.subject == Subject::kUndeclared) return "a string, a number, true or false";
    const Field& field = fields_[target.index];
    const char* const value = field.type == FieldType::kNumber ? "a number"
                              : field.type == FieldType::kBool ? "true or false"
                                                               : "a string";
    return std::string(value) + ", since \"" + field.name + "\" is a " +
           std::string(field_type_name(field.type)) + " field";
  }

  // $eq and $in. `listed`: the values stand in a list, whose places error sentences name.
  Result<FilterNode> any_of(std::span<const JsonNode> values, Target target, bool listed = false) {
    NEARFIELD_TRY(check_filterable(target));
    FilterNode node = leaf(
        target.subject == Subject::kId ? FilterNode::Kind::kIds : FilterNode::Kind::kAnyOf, target);
    for (size_t i = 0; i < values.size(); ++i) {
      if (listed) {
        const Step step(*this, i);
        NEARFIELD_TRY(add_value(values[i], target, node));
      } else {
        NEARFIELD_TRY(add_value(values[i], target, node));
      }
    }
    const auto tidy = [](auto& list) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    };
    tidy(node.numbers);
    tidy(node.texts);
    filter_.uses_ids_ = filter_.uses_ids_ || node.kind == FilterNode::Kind::kIds;
    return node;
  }

  Result<void> add_value(const JsonNode& value, Target target, FilterNode& node) const {
    if (target.subject == Subject::kId) return add_id(value, node);
    const bool any = target.subject == Subject::kUndeclared;
    const FieldType type = any ? FieldType::kTag : fields_[target.index].type;
    const bool strings = type == FieldType::kTag || type == FieldType::kKeyword;
    if (value.kind == JsonKind::kString && strings) {
      node.texts.emplace_back(value.text);
    } else if (value.kind == JsonKind::kNumber && (any || type == FieldType::kNumber)) {
      node.numbers.push_back(value.number);
    } else if (value.kind == JsonKind::kBool && (any || type == FieldType::kBool)) {
      (value.flag ? node.wants_true : node.wants_false) = true;
    } else {
      const char* const hint = value.kind == JsonKind::kNull   ? " ($exists asks for missing ones)"
                               : value.kind == JsonKind::kList ? " ($in takes a list)"
                                                               : "";
      return error(name_of(value.kind), expected_of(target) + hint);
    }
    return {};
  }

  Result<void> add_id(const JsonNode& value, FilterNode& node) const {
    if (value.kind == JsonKind::kString) {
      node.ids.emplace_back(std::string(value.text));
    } else if (value.integer) {
      node.ids.emplace_back(*value.integer);
    } else if (value.kind == JsonKind::kNumber && std::abs(value.number) <= kMostExactInteger &&
               std::trunc(value.number) == value.number) {
      node.ids.emplace_back(static_cast<int64_t>(value.number));
    } else if (value.kind == JsonKind::kNumber) {
      return error("a number that is no 64-bit integer", "an integer or a string");
    } else {
      return error(name_of(value.kind), "an integer or a string");
    }
    return {};
  }

  Result<FilterNode> range(const JsonNode& node, Target target) const {
    NEARFIELD_TRY(check_filterable(target));
    if (target.subject == Subject::kDeclared) {
      const Field& field = fields_[target.index];
      if (field.type != FieldType::kNumber) {
        return error("the operator \"" + std::string(node.key) + "\" on " +
                         std::string(field_type_name(field.type)) + " field \"" + field.name + "\"",
                     "$eq, $ne, $in, $nin, $exists or $not, since it compares numbers");
      }
    }
    if (node.kind != JsonKind::kNumber) return error(name_of(node.kind), "a number");
    FilterNode out = leaf(FilterNode::Kind::kRange, target);
    out.low = -kInfinity;
    out.high = kInfinity;
    if (node.key == "$gt") out.low = std::nextafter(node.number, kInfinity);
    if (node.key == "$gte") out.low = node.number;
    if (node.key == "$lt") out.high = std::nextafter(node.number, -kInfinity);
    if (node.key == "$lte") out.high = node.number;
    return out;
  }

  Result<FilterNode> exists(const JsonNode& node, Target target) const {
    if (node.kind != JsonKind::kBool) return error(name_of(node.kind), "true or false");
    FilterNode out = leaf(FilterNode::Kind::kExists, target);
    return node.flag ? std::move(out) : negated(std::move(out));
  }

  const JsonTree& tree_;
  std::span<const Field> fields_;
  Filter filter_;
  std::string where_;
};

Result<Filter> Filter::parse(std::string_view json, std::span<const Field> fields) {
  // A level may be an object in a list.
  NEARFIELD_ASSIGN(const JsonTree tree,
                   JsonTree::parse("the filter", json, 2 * size_t{kMaxFilterDepth} + 2));
  return FilterParser(tree, fields).parse();
}

}  // namespace nearfield
