#include "query/json_tree.h"

#include <rapidjson/reader.h>

#include <string>
#include <utility>

#include "metadata/json_error.h"

namespace nearfield {

class JsonTree::Handler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
 public:
  Handler(std::vector<JsonNode>& nodes, size_t depth) : nodes_(nodes), depth_(depth) {}

  bool Null() { return add({}); }
  bool Bool(bool flag) { return add({.kind = JsonNode::Kind::kBool, .flag = flag}); }
  bool Int(int number) { return Int64(number); }
  bool Uint(unsigned number) { return Int64(number); }
  bool Int64(int64_t number) { return add_number(static_cast<double>(number), number); }
  bool Uint64(uint64_t number) {  // of every number from 2^32 up
    if (std::in_range<int64_t>(number)) return Int64(static_cast<int64_t>(number));
    return add_number(static_cast<double>(number), std::nullopt);
  }
  bool Double(double number) { return add_number(number, std::nullopt); }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return add({.kind = JsonNode::Kind::kString, .text = {text, length}});
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    key_ = {text, length};
    return true;
  }
  bool StartObject() { return open(JsonNode::Kind::kObject); }
  bool StartArray() { return open(JsonNode::Kind::kList); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }

 private:
  struct Open {
    uint32_t node;
    uint32_t last_child;
  };
  bool add(JsonNode node) {
    const auto index = static_cast<uint32_t>(nodes_.size());
    if (!open_.empty()) {
      Open& parent = open_.back();
      if (nodes_[parent.node].kind == JsonNode::Kind::kObject) node.key = key_;
      uint32_t& link = parent.last_child == JsonNode::kNone ? nodes_[parent.node].first_child
                                                            : nodes_[parent.last_child].next;
      link = index;
      parent.last_child = index;
    }
    nodes_.push_back(node);
    return true;
  }
  bool add_number(double number, std::optional<int64_t> integer) {
    return add({.kind = JsonNode::Kind::kNumber, .number = number, .integer = integer});
  }
  bool open(JsonNode::Kind kind) {
    if (open_.size() == depth_) return false;
    add({.kind = kind});
    open_.push_back({static_cast<uint32_t>(nodes_.size() - 1), JsonNode::kNone});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<JsonNode>& nodes_;
  size_t depth_;
  std::string_view key_;
  std::vector<Open> open_;
};

Result<JsonTree> JsonTree::parse(std::string_view subject, std::string_view text, size_t depth) {
  JsonTree tree;
  tree.text_.assign(text.begin(), text.end());
  tree.text_.push_back('\0');
  Handler handler(tree.nodes_, depth);
  rapidjson::Reader reader;
  rapidjson::InsituStringStream stream(tree.text_.data());
  constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                              rapidjson::kParseFullPrecisionFlag;
  const rapidjson::ParseResult parsed = reader.Parse<kFlags>(stream, handler);
  if (parsed.Code() == rapidjson::kParseErrorTermination) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string(subject) + " nests deeper than " + std::to_string(depth) +
                     " lists and objects at byte " + std::to_string(parsed.Offset())};
  }
  if (parsed.IsError()) return json_error(subject, parsed.Code(), parsed.Offset());
  if (stream.Tell() != text.size()) {
    return Error{ErrorCode::kInvalidArgument, std::string(subject) + " is not valid JSON at byte " +
                                                  std::to_string(stream.Tell()) + ": a zero byte"};
  }
  return tree;
}

}  // namespace nearfield
