// Start here. A Database is a set of named collections in one Storage; a Collection holds records
// (id, vector, metadata) and finds the nearest ones.
//
//   auto database = Database::open(std::make_unique<MemoryStorage>(), {});
//   auto docs = (*database)->collection("docs", {.dimensions = 384});
//   (*docs)->upsert({.vectors = vectors, .ids = ids});
//   auto hits = (*docs)->search(query, {.k = 10});
//   (*database)->flush();
//
// Threads: one thread changes a database at a time and nobody reads meanwhile. Between changes any
// number of threads may search at once, each with a SearchScratch of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/fields.h"
#include "nearfield/options.h"
#include "nearfield/query.h"
#include "nearfield/result.h"
#include "nearfield/storage.h"
#include "nearfield/thread_pool.h"
#include "nearfield/types.h"

namespace nearfield {

// Rows to store. `vectors` is row-major, ids.size() rows of `dimensions` values; `metadata` is
// empty or one JSON text a row (an empty text: none). Everything is copied; so what the collection
// itself handed out (id_at, metadata_at) must be copied first, since storing may move it.
struct Batch {
  std::span<const float> vectors;
  std::span<const IdView> ids;
  std::span<const std::string_view> metadata = {};
};

struct LinkProgress {
  uint64_t done = 0;  // units of work; 0 of 0 when everything is linked
  uint64_t total = 0;
  bool finished() const { return done == total; }
};

struct CollectionStats {
  uint64_t count = 0;                  // live records
  uint64_t rows = 0;                   // slots in use, dead ones included
  uint64_t linked = 0;                 // of which in the graph; the others are scanned
  uint64_t memory_bytes = 0;           // rows, codes, links, ids and metadata in memory
  uint64_t distance_computations = 0;  // since the collection was opened, searches and builds
  uint64_t build_distances = 0;        // of which while linking
};

// Memory that a search works in; keeping one per thread saves allocating it for each query.
class SearchScratch {
 public:
  SearchScratch();
  ~SearchScratch();
  SearchScratch(SearchScratch&&) noexcept;
  SearchScratch& operator=(SearchScratch&&) noexcept;
  struct Parts;
  Parts& parts() { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

class Collection {
 public:
  virtual ~Collection() = default;

  virtual const std::string& name() const = 0;
  virtual const CollectionOptions& options() const = 0;

  // Stores a batch whole or, on error, not at all: kDimensionMismatch, kNotFinite (naming the
  // row), kInvalidId, kReadOnly, kOutOfMemory. A record whose id exists is replaced; of equal ids
  // within the batch the last one wins. New rows are found at once, by scanning; link() puts them
  // into the graph. Returns how many records were new.
  virtual Result<uint64_t> upsert(const Batch& batch) = 0;

  // Whether so many rows are scanned that linking pays.
  virtual bool wants_link() const = 0;
  // Links rows that are not yet in the graph, about `budget_us` microseconds of work a call on one
  // thread (0: all of it). Call again until finished(); searches and changes are allowed between
  // calls (a change may start the work over). The graph depends on rows and options alone, never
  // on budgets or threads.
  virtual Result<LinkProgress> link(uint64_t budget_us = 0) = 0;

  // As link(), and gives back the slots of all replaced and deleted records: rows are taken out of
  // the graph, links around them mended and the live ones moved together; nothing is built anew.
  // Slots change in the last step. Without calling it, link() does the same when it pays.
  virtual Result<LinkProgress> compact(uint64_t budget_us = 0) = 0;

  // Removes the records of these ids; ids that are not there are passed over. Returns how many
  // were removed.
  virtual Result<uint64_t> remove(std::span<const IdView> ids) = 0;
  virtual Result<void> clear() = 0;  // removes every record

  virtual uint64_t count() const = 0;
  virtual bool contains(IdView id) = 0;
  virtual Result<Record> get(IdView id) = 0;  // kNotFound

  // The k nearest live records, nearest first; all of them when there are fewer.
  virtual Result<std::vector<Hit>> search(std::span<const float> query,
                                          const SearchOptions& options, SearchScratch& scratch,
                                          SearchStats* stats = nullptr) const = 0;
  // Row-major queries spread over the database's pool; one list a query. An exact batch reads the
  // rows once for every 64 queries or so.
  virtual Result<std::vector<std::vector<Hit>>> search_batch(
      std::span<const float> queries, const SearchOptions& options,
      SearchStats* stats = nullptr) const = 0;

  // What stands in a slot that a search returned. REQUIRES: the slot came from this collection
  // since its last change.
  virtual IdView id_at(uint32_t slot) const = 0;
  virtual std::string_view metadata_at(uint32_t slot) const = 0;
  virtual std::vector<float> vector_at(uint32_t slot) const = 0;

  // The first live slot at or after `slot`, or rows(): how to go through all records.
  virtual uint32_t next_live(uint32_t slot) const = 0;

  virtual std::span<const Field> fields() const = 0;
  // Declares what can be filtered, ordered and ranked by, in place of the fields before. Fields
  // that are new or changed are read from the metadata of all rows; kInvalidArgument when one of
  // those does not fit, and nothing is changed.
  virtual Result<void> set_fields(std::span<const Field> fields) = 0;

  // The live rows that a filter matches; core/query/FILTERS.md has its language. An empty text
  // matches all. kInvalidArgument says what is wrong with the filter.
  virtual Result<Selection> select(std::string_view filter) const = 0;
  // Removes the records of a selection; returns how many.
  virtual Result<uint64_t> remove_selected(const Selection& selected) = 0;
  // Rows [offset, offset + limit) of a selection in the order of a field (an empty name: of their
  // slots, in which rows were stored); rows without a value come last.
  virtual Result<std::vector<uint32_t>> order(const Selection& selected, std::string_view field,
                                              bool descending, uint64_t offset,
                                              uint64_t limit) const = 0;
  // How many selected rows have each value of a tag or keyword field: the `top` most frequent.
  virtual Result<std::vector<FacetCount>> facets(std::string_view field, const Selection& selected,
                                                 uint32_t top) const = 0;

  // Full text, alone or fused with a vector; every page is full as long as rows are left.
  virtual Result<Ranking> rank(const RankOptions& options, SearchScratch& scratch,
                               SearchStats* stats = nullptr) const = 0;

  // What a text query found in a text or keyword field of a row: of each of its texts that match,
  // about `bytes` bytes around the most matches.
  virtual Result<std::vector<Highlight>> highlight(uint32_t slot, std::string_view field,
                                                   std::string_view query,
                                                   uint32_t bytes = 200) const = 0;

  virtual CollectionStats stats() const = 0;
};

struct SegmentKindBytes {
  std::string kind;
  uint64_t bytes;
};

struct DatabaseInfo {
  uint32_t format_version = 0;
  uint64_t generation = 0;  // flushes since the database was created
  uint64_t bytes = 0;       // in storage, as of the last flush
  std::vector<SegmentKindBytes> bytes_by_kind;
  std::string kernels;                // the kernel set in use: "avx512", "wasm-simd", ...
  std::vector<std::string> warnings;  // what opening had to repair, a sentence each
};

struct VerifyReport {
  uint64_t segments = 0;  // checked
  uint64_t bytes = 0;
  uint64_t rows = 0;                  // live records
  std::vector<std::string> problems;  // empty: everything holds
};

class Database {
 public:
  virtual ~Database() = default;

  // Opens what the storage holds, or an empty database. Opening reads; it never computes a
  // distance. kNotFound (create is off), kForeignFile, kNewerVersion, kCorrupt.
  static Result<std::unique_ptr<Database>> open(std::unique_ptr<Storage> storage,
                                                const DatabaseOptions& options);

  // Opens or creates a collection. kOptionsMismatch says which option differs. The pointer lives
  // as long as the database or until drop().
  virtual Result<Collection*> collection(std::string_view name,
                                         const CollectionOptions& options) = 0;
  virtual Result<Collection*> find(std::string_view name) = 0;  // kNotFound
  virtual std::vector<std::string> names() const = 0;
  virtual Result<void> drop(std::string_view name) = 0;

  // Makes everything up to now durable: when it returns, reopening the storage finds all of it;
  // when it fails, the state of the last flush.
  virtual Result<void> flush() = 0;
  virtual bool dirty() const = 0;  // whether something changed since the last flush

  virtual DatabaseInfo info() const = 0;
  // Reads everything flushed and checks checksums, counts, ids and the graph (degrees, dangling
  // links, reachability of every row). Not virtual: a program that never calls it is linked
  // without all that.
  Result<VerifyReport> verify();

  // Writes the flushed state as one file for static hosting, and the way back into an empty
  // storage.
  virtual Result<void> pack(FileSink& sink) = 0;
  static Result<void> unpack(Storage& source, std::string_view file, Storage& destination);
};

// The kernel sets that this program and machine can run, fastest first.
std::vector<std::string> available_kernels();
const char* version();  // of this library, "0.1.0"

}  // namespace nearfield
