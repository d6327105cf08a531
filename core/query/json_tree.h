// JsonTree: a small JSON text as a flat list of nodes, for texts that are looked at once. Numbers
// that are integers keep all their digits, which ids need.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "nearfield/result.h"

namespace nearfield {

struct JsonNode {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kList, kObject };
  static constexpr uint32_t kNone = 0xffffffff;

  Kind kind = Kind::kNull;
  bool flag = false;
  double number = 0;
  std::optional<int64_t> integer = {};
  std::string_view text = {};
  std::string_view key = {};     // of a member of an object
  uint32_t first_child = kNone;  // of a list or object: children are linked by `next`
  uint32_t next = kNone;
};

class JsonTree {
 public:
  // kInvalidArgument when `text` is no JSON, or nests deeper than `depth` lists and objects;
  // `subject` is what the sentence calls it.
  static Result<JsonTree> parse(std::string_view subject, std::string_view text, size_t depth);

  const JsonNode& root() const { return nodes_[0]; }
  const JsonNode& node(uint32_t index) const { return nodes_[index]; }

 private:
  class Handler;
  std::vector<char> text_;  // views lead here
  std::vector<JsonNode> nodes_;
};

}  // namespace nearfield
