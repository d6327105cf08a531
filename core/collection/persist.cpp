// What a collection writes to storage and how it comes back. FORMAT.md, part "Payloads", says the
// same in words.
//
// Rows, ids and metadata are written in pieces as they come: a flush writes the rows since the last
// one, cut at block borders, and rewrites a block whole when it is full or in too many pieces.
// Codes and links are written by block; blocks that did not change keep their segment. The state
// record says how many rows all this adds up to, and anything that does not add up is kCorrupt.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/coding.h"
#include "collection/collection_impl.h"
#include "collection/segments.h"

namespace nearfield {

namespace {

constexpr ptrdiff_t kMostPieces = 16;
constexpr unsigned kLeastBlockShift = 6;
constexpr unsigned kMostBlockShift = 12;
constexpr SegmentKind kRowKinds[] = {SegmentKind::kRows, SegmentKind::kIds, SegmentKind::kIdTexts,
                                     SegmentKind::kMetadata};
constexpr SegmentKind kGraphKinds[] = {SegmentKind::kCodes, SegmentKind::kLinks,
                                       SegmentKind::kSeeds};

// Appends `rows` rows that storage gave to an array: in place when they begin a block.
template <class T>
Result<void> append_rows(BlockArray<T>& array, Buffer bytes, uint32_t rows) {
  const uint32_t before = array.rows();
  if (before % array.block_rows() == 0) {
    array.adopt(std::move(bytes), rows);
    return {};
  }
  NEARFIELD_TRY(array.resize(before + rows));
  std::memcpy(array.row(before), bytes.data(), bytes.size());
  return {};
}

template <class T>
std::span<const std::byte> bytes_of(const BlockArray<T>& array, uint32_t first, uint32_t rows) {
  return {reinterpret_cast<const std::byte*>(array.row(first)), rows * array.stride() * sizeof(T)};
}

}  // namespace

std::vector<std::byte> CollectionImpl::encode_state() const {
  Encoder state;
  state.put(options_.dimensions);
  state.put(static_cast<uint8_t>(options_.metric));
  state.put(static_cast<uint8_t>(options_.row_type));
  state.put(static_cast<uint8_t>(block_shift_));
  state.put(uint8_t{0});
  state.put(options_.m);
  state.put(options_.ef_construction);
  state.put(options_.seed);
  state.put(rows_->rows());
  state.put(graph_->rows());
  state.put(dead_.count());
  state.put(codes_->quantizer().low);
  state.put(codes_->quantizer().step);
  state.put(codes_->quantizer().zero);
  state.put(codes_->longest());
  return state.take();
}

Result<void> CollectionImpl::save(Store::Commit& commit) {
  saving_rows_ = rows_->rows();
  std::vector<Piece> written;
  NEARFIELD_TRY(save_rows(commit, written));
  NEARFIELD_TRY(save_fields(commit, written));
  NEARFIELD_TRY(save_graph(commit));
  const SegmentKey dead{number_, SegmentKind::kDead, 0};
  if (dead_.count() == 0) {
    commit.erase(dead);
  } else {
    NEARFIELD_TRY(commit.put(dead, saving_rows_, dead_.bytes()));
  }
  commit.manifest().collections[number_] = {name_, encode_state()};
  return {};
}

void CollectionImpl::saved() {
  flushed_rows_ = saving_rows_;
  rewritten_ = false;
  graph_changed_ = false;
  graph_damaged_ = false;
  dirty_ = false;
  fields_->saved();
}

Result<void> CollectionImpl::save_rows(Store::Commit& commit, std::vector<Piece>& written) {
  Manifest& manifest = commit.manifest();
  uint32_t first = flushed_rows_;
  if (rewritten_) {
    for (const SegmentKind kind : kRowKinds) erase_segments(manifest, {number_, kind, 0}, kMaxRows);
    first = 0;
  }
  const uint32_t block_rows = 1u << block_shift_;
  while (first < saving_rows_) {
    const uint32_t block_begin = first / block_rows * block_rows;
    const uint32_t end = std::min(saving_rows_, block_begin + block_rows);
    const auto pieces =
        std::distance(manifest.segments.lower_bound({number_, SegmentKind::kRows, block_begin}),
                      manifest.segments.lower_bound({number_, SegmentKind::kRows, first}));
    if (pieces >= kMostPieces || (pieces > 0 && end == block_begin + block_rows)) {
      for (const SegmentKind kind : kRowKinds)
        erase_segments(manifest, {number_, kind, block_begin}, first);
      first = block_begin;
    }
    const uint32_t rows = end - first;
    written.push_back({first, rows});
    const auto put = [&](SegmentKind kind, std::span<const std::span<const std::byte>> parts) {
      return commit.put({number_, kind, first}, rows, parts);
    };
    std::vector<std::span<const std::byte>> parts{bytes_of(rows_->value_blocks(), first, rows)};
    if (options_.metric == Metric::kCosine)
      parts.push_back(bytes_of(rows_->scale_blocks(), first, rows));
    NEARFIELD_TRY(put(SegmentKind::kRows, parts));
    parts = {bytes_of(ids_->key_blocks(), first, rows)};
    NEARFIELD_TRY(put(SegmentKind::kIds, parts));
    for (const auto& [kind, column] : {std::pair(SegmentKind::kIdTexts, &ids_->texts()),
                                       std::pair(SegmentKind::kMetadata, metadata_.get())}) {
      const std::vector<std::byte> texts = column->encode(first, rows);
      if (texts.empty()) continue;
      parts = {std::span<const std::byte>(texts)};
      NEARFIELD_TRY(put(kind, parts));
    }
    first = end;
  }
  return {};
}

Result<void> CollectionImpl::save_graph(Store::Commit& commit) {
  if (!graph_changed_) return {};
  const uint32_t linked = graph_->rows();
  const uint32_t kept =
      graph_damaged_ ? 0 : linked;  // of the segments, those that may be compared with
  for (const SegmentKind kind : kGraphKinds)
    erase_segments(commit.manifest(), {number_, kind, kept}, kMaxRows);
  const SegmentKey removed{number_, SegmentKind::kRemoved, 0};
  if (graph_->removed().count() == 0) {
    commit.erase(removed);
  } else {
    NEARFIELD_TRY(commit.put(removed, linked, graph_->removed().bytes()));
  }
  if (linked == 0) return {};
  const uint32_t block_rows = 1u << block_shift_;
  for (uint32_t first = 0; first < linked; first += block_rows) {
    const uint32_t rows = std::min(block_rows, linked - first);
    std::vector<std::span<const std::byte>> parts{bytes_of(codes_->code_blocks(), first, rows),
                                                  bytes_of(codes_->term_blocks(), first, rows)};
    if (options_.metric == Metric::kDot)
      parts.push_back(bytes_of(codes_->lifted_blocks(), first, rows));
    NEARFIELD_TRY(commit.put({number_, SegmentKind::kCodes, first}, rows, parts));
    NEARFIELD_TRY(commit.put({number_, SegmentKind::kLinks, first}, rows,
                             bytes_of(graph_->link_blocks(), first, rows)));
  }
  return commit.put({number_, SegmentKind::kSeeds, 0}, linked, graph_->encode_seeds());
}

// What the state record tells beside the options.
struct CollectionImpl::State {
  CollectionOptions options;
  unsigned block_shift = 0;
  uint32_t rows = 0;
  uint32_t linked = 0;
  uint32_t dead = 0;
  Quantizer quantizer;
  int64_t longest = 0;
};

Result<CollectionImpl::State> CollectionImpl::decode_state(const std::string& name,
                                                           std::span<const std::byte> bytes) {
  Decoder decoder(bytes);
  State state;
  state.options.dimensions = decoder.get<uint32_t>();
  const auto metric = decoder.get<uint8_t>();
  const auto row_type = decoder.get<uint8_t>();
  state.block_shift = decoder.get<uint8_t>();
  (void)decoder.get<uint8_t>();
  state.options.m = decoder.get<uint32_t>();
  state.options.ef_construction = decoder.get<uint32_t>();
  state.options.seed = decoder.get<uint64_t>();
  state.rows = decoder.get<uint32_t>();
  state.linked = decoder.get<uint32_t>();
  state.dead = decoder.get<uint32_t>();
  state.quantizer.low = decoder.get<float>();
  state.quantizer.step = decoder.get<float>();
  state.quantizer.zero = decoder.get<int32_t>();
  state.longest = decoder.get<int64_t>();
  if (!decoder.ok() || decoder.remaining() != 0)
    return corrupt_collection(name, "its state record has the wrong length");
  if (metric > static_cast<uint8_t>(Metric::kDot))
    return corrupt_collection(name, "unknown metric " + std::to_string(metric));
  if (row_type > static_cast<uint8_t>(RowType::kF16))
    return corrupt_collection(name, "unknown row type " + std::to_string(row_type));
  state.options.metric = static_cast<Metric>(metric);
  state.options.row_type = static_cast<RowType>(row_type);
  if (auto valid = validate(state.options); !valid)
    return corrupt_collection(name, valid.error().detail);
  if (state.block_shift < kLeastBlockShift || state.block_shift > kMostBlockShift) {
    return corrupt_collection(name, "blocks of 2^" + std::to_string(state.block_shift) + " rows");
  }
  if (state.rows > kMaxRows || state.linked > state.rows || state.dead > state.rows) {
    return corrupt_collection(
        name, "counts that contradict each other: " + std::to_string(state.rows) + " rows, " +
                  std::to_string(state.linked) + " linked, " + std::to_string(state.dead) +
                  " dead");
  }
  const Quantizer& range = state.quantizer;
  if (!(range.step > 0) || !std::isfinite(range.step) || !std::isfinite(range.low) ||
      range.zero < 0 || range.zero > kMaxCode || state.longest < 0 ||
      state.longest > int64_t{kMaxCode} * kMaxCode * state.options.dimensions) {
    return corrupt_collection(name, "a range of codes that cannot be");
  }
  return state;
}

Result<std::unique_ptr<CollectionImpl>> CollectionImpl::load(Store& store, uint32_t number,
                                                             const Environment& environment,
                                                             std::vector<std::string>& warnings) {
  const auto& entry = store.manifest().collections.at(number);
  NEARFIELD_ASSIGN(const State state, decode_state(entry.name, entry.state));
  auto collection =
      std::make_unique<CollectionImpl>(entry.name, number, state.options, environment);
  collection->block_shift_ = state.block_shift;
  collection->make_empty_parts();
  NEARFIELD_TRY(collection->load_rows(store, state));
  collection->flushed_rows_ = state.rows;
  collection->dirty_ = false;
  NEARFIELD_TRY(collection->load_fields(store, warnings));
  if (auto loaded = collection->load_graph(store, state); !loaded) {
    if (loaded.error().code != ErrorCode::kCorrupt) return std::move(loaded).error();
    warnings.push_back(loaded.error().detail +
                       "; the graph is dropped and will be built again, no record is lost");
    collection->drop_graph();
  }
  return collection;
}

Result<void> CollectionImpl::load_rows(Store& store, const State& state) {
  const auto& segments = store.manifest().segments;
  const uint32_t block_rows = 1u << block_shift_;
  const size_t row_bytes = rows_->value_blocks().stride();
  const size_t scale_bytes = options_.metric == Metric::kCosine ? sizeof(float) : 0;
  uint32_t next = 0;
  for (auto it = segments.lower_bound({number_, SegmentKind::kRows, 0});
       it != segments.end() && it->first.collection == number_ &&
       it->first.kind == SegmentKind::kRows;
       ++it) {
    const auto& [key, ref] = *it;
    const std::string where = "rows from " + std::to_string(key.first_row);
    if (key.first_row != next || ref.rows == 0 || ref.rows > block_rows - next % block_rows ||
        ref.rows > state.rows - next) {
      return corrupt_collection(name_, where + " do not follow on row " + std::to_string(next));
    }
    if (ref.length != ref.rows * (row_bytes + scale_bytes))
      return corrupt_collection(name_, where + " have the wrong length");
    NEARFIELD_ASSIGN(Buffer rows, store.load(key, ref));
    NEARFIELD_TRY(
        append_rows(rows_->value_blocks(), rows.slice(0, ref.rows * row_bytes), ref.rows));
    if (scale_bytes != 0) {
      NEARFIELD_TRY(append_rows(rows_->scale_blocks(),
                                rows.slice(ref.rows * row_bytes, ref.rows * scale_bytes),
                                ref.rows));
    }

    const auto ids = segments.find({number_, SegmentKind::kIds, key.first_row});
    if (ids == segments.end() || ids->second.rows != ref.rows ||
        ids->second.length != ref.rows * sizeof(uint64_t)) {
      return corrupt_collection(name_, where + " come without their ids");
    }
    NEARFIELD_ASSIGN(Buffer keys, store.load(ids->first, ids->second));
    NEARFIELD_TRY(append_rows(ids_->key_blocks(), std::move(keys), ref.rows));

    for (const auto& [kind, column] : {std::pair(SegmentKind::kIdTexts, &ids_->texts()),
                                       std::pair(SegmentKind::kMetadata, metadata_.get())}) {
      const auto texts = segments.find({number_, kind, key.first_row});
      Buffer payload;
      if (texts != segments.end()) {
        if (texts->second.rows != ref.rows)
          return corrupt_collection(name_, where + " come with texts of other rows");
        NEARFIELD_ASSIGN(payload, store.load(texts->first, texts->second));
      }
      if (!column->adopt(std::move(payload), ref.rows))
        return corrupt_collection(name_, where + " have a text that is too short");
    }
    next += ref.rows;
  }
  if (next != state.rows) {
    return corrupt_collection(name_, "rows from " + std::to_string(next) + " to " +
                                         std::to_string(state.rows) + " are missing");
  }

  const auto dead = segments.find({number_, SegmentKind::kDead, 0});
  if (dead != segments.end()) {
    NEARFIELD_ASSIGN(const Buffer bits, store.load(dead->first, dead->second));
    if (!dead_.assign(bits.bytes(), state.rows))
      return corrupt_collection(name_, "its deleted rows lie outside");
  }
  if (dead_.count() != state.dead)
    return corrupt_collection(name_, "its deleted rows do not add up");
  return check_no_strays(store.manifest(), state);
}

// A segment that nothing reads could later be in the way of one that is written.
Result<void> CollectionImpl::check_no_strays(const Manifest& manifest, const State& state) const {
  const uint32_t block_rows = 1u << block_shift_;
  for (auto it = manifest.segments.lower_bound({number_, SegmentKind::kRows, 0});
       it != manifest.segments.end() && it->first.collection == number_; ++it) {
    const auto& [kind, first] = std::pair(it->first.kind, it->first.first_row);
    bool expected = first == 0;  // seeds, dead
    if (needs_fields(kind)) {
      expected = true;  // load_fields() looks after those
    } else if (std::ranges::find(kRowKinds, kind) != std::end(kRowKinds)) {
      expected = manifest.segments.contains({number_, SegmentKind::kRows, first});
    } else if (kind == SegmentKind::kCodes || kind == SegmentKind::kLinks) {
      expected = first < state.linked && first % block_rows == 0;
    }
    if (!expected) {
      return corrupt_collection(name_, std::string(segment_kind_name(kind)) + " from row " +
                                           std::to_string(first) + " belong to nothing");
    }
  }
  return {};
}

Result<void> CollectionImpl::load_graph(Store& store, const State& state) {
  if (state.linked == 0) return {};
  const auto& segments = store.manifest().segments;
  codes_->set_range(state.quantizer, state.longest);
  const uint32_t block_rows = 1u << block_shift_;
  const size_t code_bytes = codes_->stride();
  const size_t lifted_bytes = options_.metric == Metric::kDot ? 2 * sizeof(int32_t) : 0;
  const size_t link_bytes = graph_->degree() * sizeof(uint32_t);
  for (uint32_t first = 0; first < state.linked; first += block_rows) {
    const uint32_t rows = std::min(block_rows, state.linked - first);
    const auto part = [&](SegmentKind kind, size_t bytes_a_row) -> Result<Buffer> {
      const auto found = segments.find({number_, kind, first});
      if (found == segments.end() || found->second.rows != rows ||
          found->second.length != rows * bytes_a_row) {
        return corrupt_collection(name_, std::string(segment_kind_name(kind)) +
                                             " of the rows from " + std::to_string(first) +
                                             " are missing or have the wrong length");
      }
      return store.load(found->first, found->second);
    };
    NEARFIELD_ASSIGN(Buffer codes,
                     part(SegmentKind::kCodes, code_bytes + sizeof(int32_t) + lifted_bytes));
    codes_->code_blocks().adopt(codes.slice(0, rows * code_bytes), rows);
    codes_->term_blocks().adopt(codes.slice(rows * code_bytes, rows * sizeof(int32_t)), rows);
    if (lifted_bytes != 0) {
      codes_->lifted_blocks().adopt(
          codes.slice(rows * (code_bytes + sizeof(int32_t)), rows * lifted_bytes), rows);
    }
    NEARFIELD_ASSIGN(Buffer links, part(SegmentKind::kLinks, link_bytes));
    graph_->link_blocks().adopt(std::move(links), rows);
  }
  const auto seeds = segments.find({number_, SegmentKind::kSeeds, 0});
  if (seeds == segments.end()) return corrupt_collection(name_, "its seeds are missing");
  NEARFIELD_ASSIGN(const Buffer bytes, store.load(seeds->first, seeds->second));
  if (!graph_->decode_seeds(bytes.bytes()) ||
      std::any_of(graph_->seeds().begin(), graph_->seeds().end(),
                  [&](uint32_t seed) { return seed >= state.linked; })) {
    return corrupt_collection(name_, "its seeds lie outside the graph");
  }
  if (const auto removed = segments.find({number_, SegmentKind::kRemoved, 0});
      removed != segments.end()) {
    NEARFIELD_ASSIGN(const Buffer bits, store.load(removed->first, removed->second));
    SlotSet& out = graph_->removed();
    bool fits = out.assign(bits.bytes(), state.linked);
    for (uint32_t slot = out.next(0); fits && slot != UINT32_MAX; slot = out.next(slot + 1)) {
      fits = dead_.contains(slot);
    }
    if (!fits) return corrupt_collection(name_, "rows are out of the graph that are not deleted");
  }
  count_tombstones();
  return {};
}

void CollectionImpl::check(std::vector<std::string>& problems) const {
  const auto report = [&](const std::string& what) {
    problems.push_back(corrupt_collection(name_, what).detail);
  };
  std::vector<float> widened;
  for (uint32_t slot = next_live(0); slot < rows_->rows(); slot = next_live(slot + 1)) {
    const auto row = rows_->get(slot, widened);
    if (const auto bad = unusable_value(row, options_.row_type)) {
      report("row " + std::to_string(slot) + " has " + *bad);
    }
    if (options_.metric == Metric::kCosine && rows_->scale(slot) != inverse_length(row)) {
      report("row " + std::to_string(slot) + " has a length that is not its own");
    }
  }
  IdColumn ids(block_shift_);
  if (ids.ensure_index({}).ok() && ids.reserve(rows_->rows()).ok()) {
    for (uint32_t slot = next_live(0); slot < rows_->rows(); slot = next_live(slot + 1)) {
      const IdView id = ids_->get(slot);
      if (ids.find(id)) report("two records have the id " + describe_id(id));
      ids.append(id);
    }
  }
  for (uint32_t slot = 0; slot < graph_->rows(); ++slot) {
    const uint8_t* code = codes_->code(slot);
    if (std::any_of(code, code + codes_->stride(),
                    [](uint8_t value) { return value > kMaxCode; })) {
      report("the code of row " + std::to_string(slot) + " is out of range");
    }
  }
  check_fields(problems);
  for (uint32_t slot = next_live(0); slot < graph_->rows(); slot = next_live(slot + 1)) {
    if (graph_->removed().contains(slot)) {
      report("row " + std::to_string(slot) + " is live and out of the graph");
    }
  }
  for (const std::string& problem : check_graph(*graph_)) report(problem);
}

}  // namespace nearfield
