#include "metadata/metadata_reader.h"

#include <rapidjson/reader.h>

#include <algorithm>
#include <cstring>

#include "metadata/json_error.h"

namespace nearfield {

namespace {

constexpr uint32_t kNoNode = 0xffffffff;
constexpr uint32_t kNoPath = 0xffffffff;
constexpr uint32_t kList = 0xfffffffe;  // of open containers: a list whose elements are wanted

// The wanted paths as a tree; node 0 is the record itself.
struct Node {
  std::string name;
  std::vector<uint32_t> children;  // sorted by before()
  uint32_t path = kNoPath;         // whose value the member of this name is
  bool whole = false;              // found by its whole name, not on the way through objects
};

bool before(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

class PathTree {
 public:
  explicit PathTree(std::span<const std::string> paths) : nodes_(1) {
    for (uint32_t path = 0; path < paths.size(); ++path) {
      const std::string_view name = paths[path];
      const uint32_t whole = child(0, name);
      nodes_[whole].path = path;
      nodes_[whole].whole = true;
      if (name.find('.') == std::string_view::npos) continue;
      uint32_t node = 0;
      for (size_t begin = 0; begin <= name.size();) {
        const size_t end = std::min(name.find('.', begin), name.size());
        node = child(node, name.substr(begin, end - begin));
        begin = end + 1;
      }
      nodes_[node].path = path;
    }
  }

  const Node& operator[](uint32_t node) const { return nodes_[node]; }
  uint32_t find(uint32_t node, std::string_view name) const {
    const auto place = position(node, name);
    const auto& children = nodes_[node].children;
    return place != children.end() && nodes_[*place].name == name ? *place : kNoNode;
  }

 private:
  std::vector<uint32_t>::const_iterator position(uint32_t node, std::string_view name) const {
    const auto& children = nodes_[node].children;
    return std::lower_bound(children.begin(), children.end(), name,
                            [this](uint32_t child, std::string_view wanted) {
                              return before(nodes_[child].name, wanted);
                            });
  }
  uint32_t child(uint32_t node, std::string_view name) {
    if (const uint32_t found = find(node, name); found != kNoNode) return found;
    const auto added = static_cast<uint32_t>(nodes_.size());
    nodes_[node].children.insert(position(node, name), added);
    nodes_.push_back({std::string(name), {}, kNoPath, false});
    return added;
  }

  std::vector<Node> nodes_;
};

struct Found {
  uint32_t first = 0;  // in the values
  uint32_t count = 0;
  bool list = false;
  bool whole = false;
};

}  // namespace

// Takes the events of the parser.
class MetadataReader::Handler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
 public:
  explicit Handler(const PathTree& tree, size_t paths) : tree_(tree), found_(paths) {}

  void begin() {
    std::fill(found_.begin(), found_.end(), Found{});
    values_.clear();
    open_.clear();
    member_ = kNoNode;
  }
  const Found& found(size_t path) const { return found_[path]; }
  std::span<const MetadataValue> values(size_t path) const {
    return std::span(values_).subspan(found_[path].first, found_[path].count);
  }

  bool Null() { return add({}); }
  bool Bool(bool flag) { return add({.kind = MetadataValue::Kind::kBool, .flag = flag}); }
  bool Int(int number) { return Double(number); }
  bool Uint(unsigned number) { return Double(number); }
  bool Int64(int64_t number) { return Double(static_cast<double>(number)); }
  bool Uint64(uint64_t number) { return Double(static_cast<double>(number)); }
  bool Double(double number) {
    return add({.kind = MetadataValue::Kind::kNumber, .number = number});
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return add({.kind = MetadataValue::Kind::kString, .text = {text, length}});
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    const uint32_t node = open_.back();
    member_ = node < kList ? tree_.find(node, {text, length}) : kNoNode;
    if (member_ != kNoNode) forget_below(member_);
    return true;
  }
  bool StartObject() {
    if (open_.empty()) {
      open_.push_back(0);
      return true;
    }
    const uint32_t node = member_;
    add({.kind = MetadataValue::Kind::kObject});
    open_.push_back(node != kNoNode && !tree_[node].children.empty() ? node : kNoNode);
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    open_.pop_back();
    return true;
  }
  bool StartArray() {
    if (open_.empty()) return false;
    const uint32_t node = member_;
    if (Found* found = node != kNoNode ? take(node) : nullptr; found != nullptr) {
      found->list = true;
      list_ = found;
      member_ = kNoNode;
      open_.push_back(kList);
    } else {
      add({.kind = MetadataValue::Kind::kList});
      open_.push_back(kNoNode);
    }
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    open_.pop_back();
    return true;
  }

 private:
  // A value, or the begin of one that is not looked into.
  bool add(const MetadataValue& value) {
    if (open_.empty()) return false;
    if (open_.back() == kList) {
      values_.push_back(value);
      ++list_->count;
    } else if (member_ != kNoNode) {
      Found* const found = take(member_);
      if (found != nullptr && value.kind != MetadataValue::Kind::kNull) {
        values_.push_back(value);
        found->count = 1;
      }
      member_ = kNoNode;
    }
    return true;
  }
  // Where the value of a node goes, emptied; null when it does not count.
  Found* take(uint32_t node) {
    const uint32_t path = tree_[node].path;
    if (path == kNoPath || (found_[path].whole && !tree_[node].whole)) return nullptr;
    found_[path] = {static_cast<uint32_t>(values_.size()), 0, false, tree_[node].whole};
    return &found_[path];
  }
  // A member replaces an earlier one of its name with all that was found inside.
  void forget_below(uint32_t node) {
    for (const uint32_t child : tree_[node].children) {
      const uint32_t path = tree_[child].path;
      if (path != kNoPath && !found_[path].whole) found_[path] = {};
      forget_below(child);
    }
  }

  const PathTree& tree_;
  std::vector<Found> found_;
  std::vector<MetadataValue> values_;
  std::vector<uint32_t> open_;  // per open container its node, kList, or kNoNode: not looked into
  uint32_t member_ = kNoNode;   // whose value comes next
  Found* list_ = nullptr;
};

struct MetadataReader::Parts {
  explicit Parts(std::span<const std::string> paths) : tree(paths), handler(tree, paths.size()) {}
  PathTree tree;
  Handler handler;
  rapidjson::Reader reader;
  std::vector<char> text;  // parsed in place, so that values are views into it
};

MetadataReader::MetadataReader(std::span<const std::string> paths)
    : parts_(std::make_unique<Parts>(paths)) {}
MetadataReader::~MetadataReader() = default;
MetadataReader::MetadataReader(MetadataReader&&) noexcept = default;
MetadataReader& MetadataReader::operator=(MetadataReader&&) noexcept = default;

Result<void> MetadataReader::read(std::string_view metadata) {
  Handler& handler = parts_->handler;
  handler.begin();
  if (metadata.empty()) return {};
  std::vector<char>& text = parts_->text;
  text.assign(metadata.begin(), metadata.end());
  text.push_back('\0');
  rapidjson::InsituStringStream stream(text.data());
  // Iterative: the depth of nesting is the caller's choice.
  constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag |
                              rapidjson::kParseFullPrecisionFlag;
  const rapidjson::ParseResult parsed = parts_->reader.Parse<kFlags>(stream, handler);
  if (!parsed.IsError() && stream.Tell() == metadata.size()) return {};
  handler.begin();
  if (parsed.Code() == rapidjson::kParseErrorTermination) {
    return Error{ErrorCode::kInvalidArgument, "the metadata is not a JSON object"};
  }
  if (parsed.IsError()) return json_error("the metadata", parsed.Code(), parsed.Offset());
  return Error{ErrorCode::kInvalidArgument, "the metadata is not valid JSON at byte " +
                                                std::to_string(stream.Tell()) + ": a zero byte"};
}

std::span<const MetadataValue> MetadataReader::values(size_t path) const {
  return parts_->handler.values(path);
}

bool MetadataReader::is_list(size_t path) const { return parts_->handler.found(path).list; }

}  // namespace nearfield
