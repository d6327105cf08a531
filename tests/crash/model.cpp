#include "crash/model.h"

#include <algorithm>
#include <set>

namespace nearfield::test {

namespace {

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::string tag_filter(const std::string& tag) { return R"({"t":)" + quoted(tag) + "}"; }

std::string below_filter(int number) { return R"({"n":{"$lt":)" + std::to_string(number) + "}}"; }

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

bool matches(const Action& action, const Values& values) {
  if (action.kind == Action::Kind::kRemoveTag) return has(values.tags, action.tag);
  return values.number && *values.number < action.number;
}

Result<void> upsert(const Action& action, Collection& collection) {
  std::vector<float> vectors;
  std::vector<std::string> texts;
  for (const ModelRecord& row : action.rows) {
    vectors.insert(vectors.end(), row.vector.begin(), row.vector.end());
    texts.push_back(row.values.json());
  }
  const std::vector<IdView> ids(action.ids.begin(), action.ids.end());
  const std::vector<std::string_view> metadata(texts.begin(), texts.end());
  NEARFIELD_TRY(collection.upsert({vectors, ids, metadata}));
  return {};
}

double squared_distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return sum;
}

// One check after the other; the first that fails is the answer.
class Comparison {
 public:
  Comparison(Collection& collection, const ModelCollection& model)
      : collection_(collection), model_(model) {}

  std::string run() {
    records();
    if (difference_.empty()) filters();
    if (difference_.empty()) texts();
    if (difference_.empty()) searches();
    return difference_.empty() ? "" : "collection " + collection_.name() + ": " + difference_;
  }

 private:
  void fail(std::string what) {
    if (difference_.empty()) difference_ = std::move(what);
  }
  void expect_count(const std::string& what, uint64_t have, uint64_t expected) {
    if (have != expected)
      fail(what + " has " + std::to_string(have) + " records, expected " +
           std::to_string(expected));
  }
  template <class Predicate>
  uint64_t count(Predicate&& predicate) const {
    return std::count_if(model_.records.begin(), model_.records.end(),
                         [&](const auto& entry) { return predicate(entry.second.values); });
  }

  void records() {
    if (collection_.options() != model_.options) fail("other options");
    if (!std::ranges::equal(collection_.fields(), model_.fields)) fail("other fields");
    expect_count("it", collection_.count(), model_.records.size());
    for (const auto& [id, expected] : model_.records) {
      const auto record = collection_.get(id);
      if (!record.ok()) return fail(record.error().detail);
      if (record->vector != expected.vector) fail("another vector of id " + describe_id(id));
      if (record->metadata != expected.values.json())
        fail("other metadata of id " + describe_id(id));
    }
  }

  void filter(const std::string& text, uint64_t expected) {
    const auto selected = collection_.select(text);
    if (!selected.ok()) return fail(text + ": " + selected.error().detail);
    expect_count(text, selected->count, expected);
  }

  void filters() {
    for (const char* tag : {"red", "blue"}) {
      filter(tag_filter(tag), count([&](const Values& values) { return has(values.tags, tag); }));
    }
    filter(below_filter(50),
           count([](const Values& values) { return values.number && *values.number < 50; }));
    filter(R"({"b":true,"k":{"$exists":true}})",
           count([](const Values& values) { return values.flag == true && !values.sku.empty(); }));
    for (const Field& field : model_.fields) {
      if (field.name == "t") facets();
      if (field.name == "n") order();
    }
  }

  void facets() {
    const auto all = collection_.select("");
    if (!all.ok()) return fail(all.error().detail);
    const auto found = collection_.facets("t", *all, 100);
    if (!found.ok()) return fail(found.error().detail);
    for (const FacetCount& facet : *found) {
      expect_count("the tag " + facet.value, facet.count,
                   count([&](const Values& values) { return has(values.tags, facet.value); }));
    }
  }

  void order() {
    const auto all = collection_.select("");
    if (!all.ok()) return fail(all.error().detail);
    const auto first = collection_.order(*all, "n", false, 0, 1);
    if (!first.ok()) return fail(first.error().detail);
    if (first->empty()) return;
    const auto record = model_.records.find(collection_.id_at(first->front()).to_id());
    if (record == model_.records.end()) return fail("an order with a record that is not there");
    const std::optional<int> least = record->second.values.number;
    expect_count("what comes before the first in order", 0, count([&](const Values& values) {
                   return values.number && (!least || *values.number < *least);
                 }));
  }

  void texts() {
    if (std::ranges::none_of(model_.fields, [](const Field& field) { return field.name == "x"; }))
      return;
    const FieldWeight field{"x"};
    for (const char* word : {"amber", "cedar"}) {
      RankOptions options;
      options.text = TextOptions{.query = word, .fields = {&field, 1}};
      options.search.k = 3;
      const auto found = collection_.rank(options, scratch_);
      if (!found.ok()) return fail(found.error().detail);
      expect_count("the word " + std::string(word), found->text_matches,
                   count([&](const Values& values) { return has(values.words, word); }));
    }
  }

  void searches() {
    const std::vector<float> query(model_.options.dimensions, 1.0F);
    const uint64_t k = std::min<uint64_t>(5, model_.records.size());
    for (const bool exact : {true, false}) {
      const auto hits = collection_.search(query, {.k = 5, .exact = exact}, scratch_);
      if (!hits.ok()) return fail(hits.error().detail);
      expect_count("a search", hits->size(), k);
      std::set<uint32_t> slots;
      for (const Hit& hit : *hits) {
        slots.insert(hit.slot);
        if (!model_.records.contains(collection_.id_at(hit.slot).to_id()))
          fail("a search finds a record that is not there");
      }
      expect_count("a search without repetitions", slots.size(), k);
      if (exact && !hits->empty() && model_.options.metric == Metric::kL2) {
        double nearest = 1e30;
        for (const auto& [id, record] : model_.records)
          nearest = std::min(nearest, squared_distance(query, record.vector));
        if (std::abs(hits->front().distance - nearest) > 1e-3) fail("a search misses the nearest");
      }
    }
  }

  Collection& collection_;
  const ModelCollection& model_;
  SearchScratch scratch_;
  std::string difference_;
};

}  // namespace

std::string Values::json() const {
  std::string text;
  const auto member = [&](const char* name, const std::string& value) {
    text += (text.empty() ? "{" : ",") + quoted(name) + ":" + value;
  };
  if (tags.size() == 1) member("t", quoted(tags.front()));
  if (tags.size() > 1) {
    std::string list;
    for (const std::string& tag : tags) list += (list.empty() ? "[" : ",") + quoted(tag);
    member("t", list + "]");
  }
  if (number) member("n", std::to_string(*number));
  if (flag) member("b", *flag ? "true" : "false");
  if (!words.empty()) {
    std::string sentence;
    for (const std::string& word : words) sentence += (sentence.empty() ? "" : " ") + word;
    member("x", quoted(sentence));
  }
  if (!sku.empty()) member("k", quoted(sku));
  return text.empty() ? text : text + "}";
}

std::string describe(const Action& action) {
  const auto rows = std::to_string(action.ids.size());
  switch (action.kind) {
    case Action::Kind::kMake: return "make " + action.collection;
    case Action::Kind::kUpsert: return "upsert " + rows + " rows into " + action.collection;
    case Action::Kind::kRemove: return "remove " + rows + " ids from " + action.collection;
    case Action::Kind::kRemoveTag:
    case Action::Kind::kRemoveBelow:
      return "remove what a filter selects from " + action.collection;
    case Action::Kind::kSetFields: return "set the fields of " + action.collection;
    case Action::Kind::kClear: return "clear " + action.collection;
    case Action::Kind::kLink: return "link " + action.collection;
    case Action::Kind::kCompact: return "compact " + action.collection;
    case Action::Kind::kDrop: return "drop " + action.collection;
    case Action::Kind::kFlush: return "flush";
  }
  return {};
}

Result<void> perform(const Action& action, Database& database) {
  if (action.kind == Action::Kind::kFlush) return database.flush();
  if (action.kind == Action::Kind::kMake || action.kind == Action::Kind::kUpsert) {
    NEARFIELD_ASSIGN(Collection * collection,
                     database.collection(action.collection, action.options));
    if (action.kind == Action::Kind::kMake) return {};
    return upsert(action, *collection);
  }
  const auto found = database.find(action.collection);
  if (!found.ok()) return {};
  Collection& collection = **found;
  switch (action.kind) {
    case Action::Kind::kRemove: {
      const std::vector<IdView> ids(action.ids.begin(), action.ids.end());
      NEARFIELD_TRY(collection.remove(ids));
      return {};
    }
    case Action::Kind::kRemoveTag:
    case Action::Kind::kRemoveBelow: {
      NEARFIELD_ASSIGN(
          const Selection selected,
          collection.select(action.kind == Action::Kind::kRemoveTag ? tag_filter(action.tag)
                                                                    : below_filter(action.number)));
      NEARFIELD_TRY(collection.remove_selected(selected));
      return {};
    }
    case Action::Kind::kSetFields: return collection.set_fields(action.fields);
    case Action::Kind::kClear: return collection.clear();
    case Action::Kind::kLink: NEARFIELD_TRY(collection.link(action.budget_us)); return {};
    case Action::Kind::kCompact: NEARFIELD_TRY(collection.compact(action.budget_us)); return {};
    case Action::Kind::kDrop: return database.drop(action.collection);
    default: return {};
  }
}

void perform(const Action& action, Model& model) {
  if (action.kind == Action::Kind::kMake || action.kind == Action::Kind::kUpsert) {
    ModelCollection& collection = model[action.collection];
    collection.options = action.options;
    for (size_t i = 0; i < action.ids.size(); ++i)
      collection.records[action.ids[i]] = action.rows[i];
    return;
  }
  const auto found = model.find(action.collection);
  if (found == model.end()) return;
  auto& records = found->second.records;
  switch (action.kind) {
    case Action::Kind::kRemove:
      for (const Id& id : action.ids) records.erase(id);
      break;
    case Action::Kind::kRemoveTag:
    case Action::Kind::kRemoveBelow:
      std::erase_if(records,
                    [&](const auto& entry) { return matches(action, entry.second.values); });
      break;
    case Action::Kind::kSetFields: found->second.fields = action.fields; break;
    case Action::Kind::kClear: records.clear(); break;
    case Action::Kind::kDrop: model.erase(found); break;
    default: break;
  }
}

std::string difference(Database& database, const Model& model) {
  std::vector<std::string> names;
  for (const auto& [name, collection] : model) names.push_back(name);
  if (database.names() != names)
    return "other collections: " + std::to_string(database.names().size()) + ", expected " +
           std::to_string(names.size());
  for (const auto& [name, expected] : model) {
    const auto collection = database.find(name);
    if (!collection.ok()) return collection.error().detail;
    if (std::string text = Comparison(**collection, expected).run(); !text.empty()) return text;
  }
  return {};
}

}  // namespace nearfield::test
