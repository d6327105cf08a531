// CollectionImpl: joins arena, graph and store into a Collection.
//
// Slots [0, linked) are in the graph and have codes; the slots after them are the tail, found by
// scanning. A replaced or deleted record leaves its slot dead: first a tombstone in the graph, then
// removed from it, and at last given back when the live slots are moved together (compact.cpp).
// New records always take new slots. Everything that storage holds can be told from
// (flushed rows, dead set, graph): see persist.cpp.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "arena/codes.h"
#include "arena/id_column.h"
#include "arena/rows.h"
#include "arena/slot_set.h"
#include "arena/text_column.h"
#include "collection/field_set.h"
#include "collection/segments.h"
#include "collection/top_k.h"
#include "graph/graph.h"
#include "graph/linker.h"
#include "graph/walk.h"
#include "kernels/kernels.h"
#include "nearfield/database.h"
#include "store/store.h"
#include "text/search.h"

namespace nearfield {

struct SearchScratch::Parts {
  WalkScratch walk;
  Buffer query_code;
  std::vector<Candidate> scanned;  // what a scan of codes found
  TextSearch text;
};

// Below this many rows a scan is as quick as a walk, and there is no graph.
inline constexpr uint32_t kFewestLinked = 1024;

// What the collections of a database share.
struct Environment {
  const Kernels* kernels = nullptr;
  ThreadPool* pool = nullptr;
  bool read_only = false;
};

class CollectionImpl final : public Collection {
 public:
  CollectionImpl(std::string name, uint32_t number, const CollectionOptions& options,
                 const Environment& environment);

  // The number by which segments name this collection.
  uint32_t number() const { return number_; }

  // Reads back what save() wrote. A graph that is damaged is dropped, and a sentence says so in
  // `warnings`; damaged rows, ids or metadata are an error.
  static Result<std::unique_ptr<CollectionImpl>> load(Store& store, uint32_t number,
                                                      const Environment& environment,
                                                      std::vector<std::string>& warnings);
  // Adds what changed since the last save to a commit; saved() is told when the commit succeeded.
  Result<void> save(Store::Commit& commit);
  void saved();
  bool dirty() const { return dirty_; }

  // What contradicts the rules that hold between the parts, a sentence each.
  void check(std::vector<std::string>& problems) const;

  const std::string& name() const override { return name_; }
  const CollectionOptions& options() const override { return options_; }
  Result<uint64_t> upsert(const Batch& batch) override;
  bool wants_link() const override;
  Result<LinkProgress> link(uint64_t budget_us) override;
  Result<LinkProgress> compact(uint64_t budget_us) override;
  Result<uint64_t> remove(std::span<const IdView> ids) override;
  Result<void> clear() override;
  uint64_t count() const override { return rows_->rows() - dead_.count(); }
  bool contains(IdView id) override;
  Result<Record> get(IdView id) override;
  Result<std::vector<Hit>> search(std::span<const float> query, const SearchOptions& options,
                                  SearchScratch& scratch, SearchStats* stats) const override;
  Result<std::vector<std::vector<Hit>>> search_batch(std::span<const float> queries,
                                                     const SearchOptions& options,
                                                     SearchStats* stats) const override;
  IdView id_at(uint32_t slot) const override { return ids_->get(slot); }
  std::string_view metadata_at(uint32_t slot) const override;
  std::vector<float> vector_at(uint32_t slot) const override;
  uint32_t next_live(uint32_t slot) const override;
  std::span<const Field> fields() const override { return fields_->fields(); }
  Result<void> set_fields(std::span<const Field> fields) override;
  Result<Selection> select(std::string_view filter) const override;
  Result<uint64_t> remove_selected(const Selection& selected) override;
  Result<std::vector<uint32_t>> order(const Selection& selected, std::string_view field,
                                      bool descending, uint64_t offset,
                                      uint64_t limit) const override;
  Result<std::vector<FacetCount>> facets(std::string_view field, const Selection& selected,
                                         uint32_t top) const override;
  Result<Ranking> rank(const RankOptions& options, SearchScratch& scratch,
                       SearchStats* stats) const override;
  Result<std::vector<Highlight>> highlight(uint32_t slot, std::string_view field,
                                           std::string_view query, uint32_t bytes) const override;
  CollectionStats stats() const override;

 private:
  // collection.cpp
  Result<void> check_batch(const Batch& batch) const;
  std::unique_ptr<Rows> empty_rows() const;
  // What no row of this type may hold, or nullopt: "NaN at position 3; expected ...".
  static std::optional<std::string> unusable_value(std::span<const float> vector, RowType type);
  void bury(uint32_t slot);  // its record was replaced or deleted
  void reset();

  // compact.cpp
  void count_tombstones();
  bool wants_removal() const;
  bool wants_compaction() const;
  Result<void> compact_without_graph();
  Result<void> move_together();

  // fields.cpp
  Result<void> read_fields(FieldSet& fields) const;
  Result<size_t> find_field(std::string_view name) const;

  // scan.cpp
  // Offers the live rows of [begin, end) to `best`, measuring each.
  void scan(const Query& query, uint32_t begin, uint32_t end, TopK& best, SearchStats& stats) const;
  Result<std::vector<std::vector<Hit>>> scan_batch(std::span<const float> queries, uint32_t k,
                                                   SearchStats* stats) const;

  // search.cpp
  Result<void> check_search(size_t values, const SearchOptions& options) const;
  Result<Query> make_query(std::span<const float> vector) const;
  // An error that also says which query of a batch it is about.
  static Error of_query(size_t index, Error error);
  Result<std::vector<Hit>> search_checked(std::span<const float> query,
                                          const SearchOptions& options,
                                          SearchScratch::Parts& scratch, SearchStats& stats) const;
  Result<void> encode_query(const Query& query, std::span<const float> vector,
                            SearchScratch::Parts& scratch) const;
  bool walk_pays(const Query& query, const SearchOptions& options) const;
  uint32_t rank_among_live(std::span<const Candidate> candidates, uint32_t wanted) const;
  // Offers what a walk of the graph finds; false when that are fewer than k live rows, or rows that
  // codes cannot tell from others.
  bool walk_graph(const Query& query, const SearchOptions& options, SearchScratch::Parts& scratch,
                  TopK& best, SearchStats& stats) const;

  // search_among.cpp
  Plan choose_plan(const Query& query, const SearchOptions& options) const;
  Result<void> search_among(const Query& query, std::span<const float> vector,
                            const SearchOptions& options, SearchScratch::Parts& scratch, TopK& best,
                            SearchStats& stats) const;
  bool walk_among(const Query& query, const SearchOptions& options, bool bridged,
                  SearchScratch::Parts& scratch, TopK& best, SearchStats& stats) const;
  void scan_codes(const Query& query, const SearchOptions& options, SearchScratch::Parts& scratch,
                  TopK& best, SearchStats& stats) const;
  void scan_selected(const Query& query, const Selection& selected, uint32_t from, TopK& best,
                     SearchStats& stats) const;

  // rank.cpp
  Result<std::vector<SearchedField>> searched_fields(const TextOptions& text) const;
  Result<void> fuse(const RankOptions& options, SearchScratch& scratch, SearchStats& stats,
                    Ranking& ranking) const;
  Result<void> append_others(const RankOptions& options, SearchScratch& scratch, SearchStats& stats,
                             uint64_t end, std::vector<RankedHit>& hits) const;

  // link.cpp
  Result<bool> start_next();
  Result<void> start_linking();
  Result<void> start_bulk();
  Result<void> start_batches();
  bool tail_leaves_range() const;
  void start_removal();
  void finish_linking();
  void drop_graph();  // because it is damaged: every row is in the tail again
  GraphOptions graph_options() const {
    return {.degree = 2 * options_.m,
            .ef_construction = options_.ef_construction,
            .seed = options_.seed};
  }
  void stop_linking();  // drops a linker at work; rows it has not linked stay in the tail

  // persist.cpp
  struct State;
  std::vector<std::byte> encode_state() const;
  static Result<State> decode_state(const std::string& name, std::span<const std::byte> bytes);
  Result<void> load_rows(Store& store, const State& state);
  Result<void> load_graph(Store& store, const State& state);
  Result<void> check_no_strays(const Manifest& manifest, const State& state) const;
  Result<void> save_rows(Store::Commit& commit, std::vector<Piece>& written);
  Result<void> save_graph(Store::Commit& commit);
  void make_empty_parts();

  // persist_fields.cpp
  Result<void> save_fields(Store::Commit& commit, std::span<const Piece> written);
  std::vector<std::byte> encode_fields() const;
  Result<void> load_fields(Store& store, std::vector<std::string>& warnings);
  Result<void> load_columns(Store& store, FieldSet& fields) const;
  Result<void> load_postings(Store& store, FieldSet& fields) const;
  Result<void> read_again();
  Result<void> save_postings(Store::Commit& commit, size_t field);
  void check_fields(std::vector<std::string>& problems) const;

  std::string name_;
  uint32_t number_;
  CollectionOptions options_;
  Environment environment_;
  unsigned block_shift_;

  std::unique_ptr<Rows> rows_;
  std::unique_ptr<IdColumn> ids_;
  mutable std::mutex id_table_mutex_;  // of the table that select() may have to make
  std::unique_ptr<TextColumn> metadata_;
  std::unique_ptr<FieldSet> fields_;
  SlotSet dead_;
  std::unique_ptr<Codes> codes_;  // of the slots in the graph
  std::unique_ptr<Graph> graph_;

  uint32_t tombstones_ = 0;  // dead rows that are still in the graph
  bool compacting_ = false;  // until no slot is dead, since compact() was called

  // A linker at work, and what it builds when it builds anew.
  std::unique_ptr<Codes> new_codes_;
  std::unique_ptr<Graph> new_graph_;
  std::unique_ptr<Linker> linker_;
  bool removing_ = false;  // it takes rows out

  bool dirty_ = true;          // a new collection is itself a change
  uint32_t flushed_rows_ = 0;  // rows that storage holds
  uint32_t saving_rows_ = 0;   // rows that the commit under way holds
  bool rewritten_ = false;     // slots moved: storage's rows are void
  bool graph_changed_ = false;
  bool graph_damaged_ = false;  // storage's codes and links are not what their checksums promise
  uint64_t build_distances_ = 0;
  mutable std::atomic<uint64_t> search_distances_{0};
};

}  // namespace nearfield
