// Every line that JavaScript can call. No logic: arguments are unpacked, one call of the core is
// made, the answer is packed (boundary.h). web/src/engine/module.ts declares the same calls in
// TypeScript.
#include <emscripten/bind.h>
#include <emscripten/heap.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "boundary.h"
#include "js_storage.h"
#include "kernels/kernels.h"
#include "nearfield/database.h"
#if defined(__EMSCRIPTEN_PTHREADS__)
#include "page_threads.h"
#endif

namespace nearfield::wasm {
namespace {

using emscripten::val;

constexpr size_t kKeptStagingBytes = 1 << 20;  // a larger staging area is given back after its call

enum Staging { kVectors, kIds, kTexts, kStagings };

enum Include : unsigned { kMetadata = 1, kVector = 2, kHighlights = 4 };

// One database and what crosses into and out of it.
class Engine {
 public:
#if defined(__EMSCRIPTEN_PTHREADS__)
  // Workers whose thread waits are slow to end.
  ~Engine() { stop_threads(); }
#endif

  Reply open(val backend, bool create, bool read_only, const std::string& kernels) {
    DatabaseOptions options;
    options.create = create;
    options.read_only = read_only;
    options.kernels = kernels;
#if defined(__EMSCRIPTEN_PTHREADS__)
    options.pool = page_threads();
#endif
    auto opened = Database::open(std::make_unique<JsStorage>(std::move(backend)), options);
    if (!opened) return failure(opened.error());
    database_ = std::move(*opened);
    return {};
  }

  // The address of `size` writable bytes, 0 when there is no memory for them.
  uintptr_t stage(int which, size_t size) {
    auto buffer = Buffer::allocate(size);
    if (!buffer) return 0;
    staging_[which] = std::move(*buffer);
    return reinterpret_cast<uintptr_t>(staging_[which].data());
  }

  Reply collection(const std::string& name, unsigned dimensions, unsigned metric, unsigned row_type,
                   unsigned m, unsigned ef_construction, double seed) {
    const CollectionOptions options{.dimensions = dimensions,
                                    .metric = static_cast<Metric>(metric),
                                    .row_type = static_cast<RowType>(row_type),
                                    .m = m,
                                    .ef_construction = ef_construction,
                                    .seed = static_cast<uint64_t>(seed)};
    return handle(database_->collection(name, options));
  }

  Reply find(const std::string& name) { return handle(database_->find(name)); }

  Reply names() {
    Writer out;
    const auto names = database_->names();
    out.number(static_cast<uint32_t>(names.size()));
    for (const auto& name : names) out.text(name);
    return answer(std::move(out));
  }

  Reply drop(const std::string& name) {
    auto found = database_->find(name);
    if (!found) return failure(found.error());
    Collection* const gone = *found;
    auto dropped = database_->drop(name);
    if (!dropped) return failure(dropped.error());
    for (auto& collection : collections_) {
      if (collection == gone) collection = nullptr;
    }
    return {};
  }

  Reply upsert(int collection, unsigned rows, bool has_metadata) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    Reader ids(staged(kIds));
    Reader texts(staged(kTexts));
    std::vector<IdView> id_views(rows);
    std::vector<std::string_view> metadata(has_metadata ? rows : 0);
    for (auto& id : id_views) id = ids.id();
    for (auto& text : metadata) text = texts.text();
    if (!ids.ok() || !texts.ok()) return broken();
    auto stored =
        target->upsert({.vectors = staged_floats(), .ids = id_views, .metadata = metadata});
    release();
    if (!stored) return failure(stored.error());
    return {.value = static_cast<double>(*stored), .total = target->wants_link() ? 1.0 : 0.0};
  }

  Reply link(int collection, double budget_us) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    auto progress = target->link(static_cast<uint64_t>(budget_us));
    if (!progress) return failure(progress.error());
    return {.value = static_cast<double>(progress->done),
            .total = static_cast<double>(progress->total)};
  }

  Reply compact(int collection, double budget_us) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    auto progress = target->compact(static_cast<uint64_t>(budget_us));
    if (!progress) return failure(progress.error());
    return {.value = static_cast<double>(progress->done),
            .total = static_cast<double>(progress->total)};
  }

  Reply remove(int collection, unsigned count) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    Reader ids(staged(kIds));
    std::vector<IdView> id_views(count);
    for (auto& id : id_views) id = ids.id();
    if (!ids.ok()) return broken();
    auto removed = target->remove(id_views);
    release();
    if (!removed) return failure(removed.error());
    return {.value = static_cast<double>(*removed), .total = target->wants_link() ? 1.0 : 0.0};
  }

  Reply clear(int collection) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    auto cleared = target->clear();
    if (!cleared) return failure(cleared.error());
    return {};
  }

  Reply get(int collection, unsigned count) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    Reader ids(staged(kIds));
    Writer out;
    for (unsigned i = 0; i < count; ++i) {
      const IdView id = ids.id();
      if (!ids.ok()) return broken();
      auto record = target->get(id);
      if (!record && record.error().code != ErrorCode::kNotFound) return failure(record.error());
      out.number(static_cast<uint8_t>(record.ok()));
      if (!record) continue;
      out.id(record->id);
      out.text(record->metadata);
      out.floats(record->vector);
    }
    release();
    return answer(std::move(out));
  }

  Reply fields(int collection) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    Writer out;
    out.number(static_cast<uint32_t>(target->fields().size()));
    for (const Field& field : target->fields()) {
      out.text(field.name);
      out.number(static_cast<uint8_t>(field.type));
      out.number(static_cast<uint8_t>(field.stop_words));
      out.number(static_cast<uint8_t>(field.prefix));
    }
    return answer(std::move(out));
  }

  Reply set_fields(int collection) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    Reader texts(staged(kTexts));
    std::vector<Field> fields;
    for (auto left = texts.number<uint32_t>(); left > 0 && texts.ok(); --left) {
      Field& field = fields.emplace_back();
      field.name = std::string(texts.text());
      field.type = static_cast<FieldType>(texts.number<uint8_t>());
      field.stop_words = texts.number<uint8_t>() != 0;
      field.prefix = texts.number<uint8_t>() != 0;
    }
    if (!texts.ok()) return broken();
    auto set = target->set_fields(fields);
    if (!set) return failure(set.error());
    return {};
  }

  // Evaluates the filter that is staged, for the next call that asks for it. How many rows match.
  Reply select(int collection) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    const auto text = staged(kTexts);
    auto selected = target->select({text.data(), text.size()});
    if (!selected) return failure(selected.error());
    selection_ = std::move(*selected);
    return {.value = static_cast<double>(selection_.count)};
  }

  Reply remove_selected(int collection) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    auto removed = target->remove_selected(selection_);
    if (!removed) return failure(removed.error());
    return {.value = static_cast<double>(*removed), .total = target->wants_link() ? 1.0 : 0.0};
  }

  Reply facets(int collection, const std::string& field, unsigned top) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    auto counts = target->facets(field, selection_, top);
    if (!counts) return failure(counts.error());
    Writer out;
    out.number(static_cast<uint32_t>(counts->size()));
    for (const FacetCount& facet : *counts) {
      out.text(facet.value);
      out.number(static_cast<double>(facet.count));
    }
    return answer(std::move(out));
  }

  // By the vector and the texts that are staged: the query, then u32 count of fields and per field
  // text name, f64 weight. `among`: only rows that were selected.
  Reply rank(int collection, bool has_vector, bool has_text, bool among, unsigned k,
             unsigned offset, double recall, unsigned ef, bool exact, unsigned include,
             unsigned fusion, double vector_weight, double text_weight, bool all_words) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    Reader texts(staged(kTexts));
    RankOptions options{.search = search_options(k, recall, ef, exact, among),
                        .offset = offset,
                        .fusion = static_cast<Fusion>(fusion),
                        .vector_weight = vector_weight,
                        .text_weight = text_weight};
    std::vector<FieldWeight> weights;
    if (has_vector) options.vector = staged_floats();
    if (has_text) {
      options.text = TextOptions{.query = texts.text(), .all_words = all_words};
      for (auto left = texts.number<uint32_t>(); left > 0 && texts.ok(); --left) {
        const std::string_view name = texts.text();
        weights.push_back({name, texts.number<double>()});
      }
      options.text->fields = weights;
      if (!texts.ok()) return broken();
    }
    SearchStats stats;
    auto ranking = target->rank(options, scratch_, &stats);
    if (!ranking) return failure(ranking.error());
    const std::string_view query = has_text ? options.text->query : std::string_view();
    return answer(pack_ranking(*target, *ranking, has_vector ? plan_name(stats.plan) : "text",
                               query, include));
  }

  // Rows that were selected, in the order of a field.
  Reply order(int collection, const std::string& field, bool descending, unsigned k,
              unsigned offset, unsigned include) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    auto slots = target->order(selection_, field, descending, offset, k);
    if (!slots) return failure(slots.error());
    Ranking ranking;
    for (const uint32_t slot : *slots) ranking.hits.push_back({slot, 0, std::nanf("")});
    return answer(pack_ranking(*target, ranking, "order", {}, include));
  }

  // ef 0: none is given, and `recall` counts.
  Reply search(int collection, unsigned queries, unsigned k, double recall, unsigned ef, bool exact,
               unsigned include, bool among) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    const SearchOptions options = search_options(k, recall, ef, exact, among);
    const auto floats = staged_floats();
    std::vector<std::vector<Hit>> answers;
    if (queries == 1) {  // its scratch is kept from search to search
      auto hits = target->search(floats, options, scratch_);
      if (!hits) return failure(hits.error());
      answers.push_back(std::move(*hits));
    } else {
      auto found = target->search_batch(floats, options);
      if (!found) return failure(found.error());
      answers = std::move(*found);
    }
    Writer out;
    for (const std::vector<Hit>& hits : answers) {
      out.number(static_cast<uint32_t>(hits.size()));
      for (const Hit& hit : hits) {
        out.number(hit.distance);
        out.id(target->id_at(hit.slot));
        if (include & kMetadata) out.text(target->metadata_at(hit.slot));
        if (include & kVector) out.floats(target->vector_at(hit.slot));
      }
    }
    release();
    return answer(std::move(out));
  }

  Reply options(int collection) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    const CollectionOptions& options = target->options();
    Writer out;
    for (const double value :
         {static_cast<double>(options.dimensions), static_cast<double>(options.metric),
          static_cast<double>(options.row_type), static_cast<double>(options.m),
          static_cast<double>(options.ef_construction), static_cast<double>(options.seed)}) {
      out.number(value);
    }
    return answer(std::move(out));
  }

  Reply stats(int collection) {
    Collection* const target = at(collection);
    if (target == nullptr) return dropped();
    const CollectionStats stats = target->stats();
    Writer out;
    for (const uint64_t value : {stats.count, stats.rows, stats.linked, stats.memory_bytes,
                                 stats.distance_computations, stats.build_distances}) {
      out.number(static_cast<double>(value));
    }
    return answer(std::move(out));
  }

  Reply flush() {
    auto flushed = database_->flush();
    if (!flushed) return failure(flushed.error());
    return {};
  }

  bool dirty() const { return database_->dirty(); }

  Reply info() {
    const DatabaseInfo info = database_->info();
    Writer out;
    out.number(static_cast<double>(info.format_version));
    out.number(static_cast<double>(info.generation));
    out.number(static_cast<double>(info.bytes));
    out.text(info.kernels);
    out.number(static_cast<uint32_t>(info.warnings.size()));
    for (const auto& warning : info.warnings) out.text(warning);
    out.number(static_cast<uint32_t>(info.bytes_by_kind.size()));
    for (const auto& [kind, bytes] : info.bytes_by_kind) {
      out.text(kind);
      out.number(static_cast<double>(bytes));
    }
    return answer(std::move(out));
  }

  // Writes the flushed state as one file of another storage.
  Reply pack(val destination, const std::string& name) {
    JsStorage storage(std::move(destination));
    auto sink = storage.create(name);
    if (!sink) return failure(sink.error());
    auto packed = database_->pack(**sink);
    if (!packed) return failure(packed.error());
    auto finished = (*sink)->finish();
    if (!finished) return failure(finished.error());
    return {};
  }

 private:
  SearchOptions search_options(unsigned k, double recall, unsigned ef, bool exact, bool among) {
    SearchOptions options{.k = k, .recall = recall, .exact = exact};
    if (ef != 0) options.ef = ef;
    if (among) options.among = &selection_;
    return options;
  }

  static Writer pack_ranking(const Collection& target, const Ranking& ranking,
                             std::string_view plan, std::string_view query, unsigned include) {
    Writer out;
    out.text(plan);
    out.number(static_cast<double>(ranking.text_matches));
    out.number(static_cast<uint32_t>(ranking.hits.size()));
    for (const RankedHit& hit : ranking.hits) {
      out.number(hit.score);
      out.number(hit.distance);
      out.id(target.id_at(hit.slot));
      if (include & kMetadata) out.text(target.metadata_at(hit.slot));
      if (include & kVector) out.floats(target.vector_at(hit.slot));
      if (include & kHighlights) pack_highlights(target, hit.slot, query, out);
    }
    return out;
  }

  static void pack_highlights(const Collection& target, uint32_t slot, std::string_view query,
                              Writer& out) {
    std::vector<std::pair<std::string_view, Highlight>> all;
    for (const Field& field : target.fields()) {
      if (field.type != FieldType::kText && field.type != FieldType::kKeyword) continue;
      auto found = target.highlight(slot, field.name, query);
      if (!found) continue;
      for (Highlight& one : *found) all.emplace_back(field.name, std::move(one));
    }
    out.number(static_cast<uint32_t>(all.size()));
    for (const auto& [field, highlight] : all) {
      out.text(field);
      out.text(highlight.text);
      out.number(static_cast<uint32_t>(highlight.ranges.size()));
      for (const auto& [begin, end] : highlight.ranges) {
        out.number(begin);
        out.number(end);
      }
    }
  }

  Collection* at(int collection) const { return collections_[static_cast<size_t>(collection)]; }

  static Reply dropped() { return failure({ErrorCode::kNotFound, "this collection was dropped"}); }
  static Reply broken() {
    return failure({ErrorCode::kInvalidArgument, "the packed ids or texts are cut short"});
  }

  Reply handle(Result<Collection*> found) {
    if (!found) return failure(found.error());
    for (size_t i = 0; i < collections_.size(); ++i) {
      if (collections_[i] == *found) return {.value = static_cast<double>(i)};
    }
    collections_.push_back(*found);
    return {.value = static_cast<double>(collections_.size() - 1)};
  }

  std::span<const char> staged(Staging which) const {
    const auto bytes = staging_[which].bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::span<const float> staged_floats() const {
    const auto bytes = staging_[kVectors].bytes();
    return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
  }

  void release() {
    for (auto& buffer : staging_) {
      if (buffer.size() > kKeptStagingBytes) buffer = Buffer();
    }
  }

  Reply answer(Writer out) {
    answer_ = std::move(out.bytes());
    return {.data = reinterpret_cast<uintptr_t>(answer_.data()),
            .size = static_cast<uint32_t>(answer_.size())};
  }

  std::unique_ptr<Database> database_;
  std::vector<Collection*> collections_;  // by handle; null once dropped
  SearchScratch scratch_;
  Selection selection_;
  Buffer staging_[kStagings];
  std::vector<char> answer_;
};

Reply unpack(val source, const std::string& file, val destination) {
  JsStorage from(std::move(source));
  JsStorage to(std::move(destination));
  auto unpacked = Database::unpack(from, file, to);
  if (!unpacked) return failure(unpacked.error());
  return {};
}

std::string error_codes() {
  std::string codes;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kUnsupported); ++code) {
    if (code > 0) codes += ',';
    codes += error_code_name(static_cast<ErrorCode>(code));
  }
  return codes;
}

// Whether this build computes right on this machine: some engines run relaxed SIMD wrongly.
bool self_check() { return nearfield::self_check(*supported_kernels().front()); }

double memory_bytes() { return static_cast<double>(emscripten_get_heap_size()); }

std::string version_text() { return version(); }

}  // namespace

EMSCRIPTEN_BINDINGS(nearfield) {
  emscripten::value_object<Reply>("Reply")
      .field("code", &Reply::code)
      .field("detail", &Reply::detail)
      .field("value", &Reply::value)
      .field("total", &Reply::total)
      .field("data", &Reply::data)
      .field("size", &Reply::size);

  emscripten::class_<Engine>("Engine")
      .constructor<>()
      .function("open", &Engine::open)
      .function("stage", &Engine::stage)
      .function("collection", &Engine::collection)
      .function("find", &Engine::find)
      .function("names", &Engine::names)
      .function("drop", &Engine::drop)
      .function("upsert", &Engine::upsert)
      .function("link", &Engine::link)
      .function("compact", &Engine::compact)
      .function("remove", &Engine::remove)
      .function("clear", &Engine::clear)
      .function("get", &Engine::get)
      .function("search", &Engine::search)
      .function("fields", &Engine::fields)
      .function("setFields", &Engine::set_fields)
      .function("select", &Engine::select)
      .function("removeSelected", &Engine::remove_selected)
      .function("facets", &Engine::facets)
      .function("rank", &Engine::rank)
      .function("order", &Engine::order)
      .function("options", &Engine::options)
      .function("stats", &Engine::stats)
      .function("flush", &Engine::flush)
      .function("dirty", &Engine::dirty)
      .function("info", &Engine::info)
      .function("pack", &Engine::pack);

  emscripten::function("unpack", &unpack);
  emscripten::function("errorCodes", &error_codes);
  emscripten::function("selfCheck", &self_check);
  emscripten::function("memoryBytes", &memory_bytes);
  emscripten::function("version", &version_text);
#if defined(__EMSCRIPTEN_PTHREADS__)
  emscripten::function("planThreads", &plan_threads);
  emscripten::function("startThreads", &start_threads);
#endif
}

}  // namespace nearfield::wasm
