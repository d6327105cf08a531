// Searching: scan what is small, else walk the graph on codes and rerank the best on rows; the
// tail is always scanned. The answer has k rows whenever k are live.
#include <algorithm>

#include "collection/collection_impl.h"

namespace nearfield {

SearchScratch::SearchScratch() : parts_(std::make_unique<Parts>()) {}
SearchScratch::~SearchScratch() = default;
SearchScratch::SearchScratch(SearchScratch&&) noexcept = default;
SearchScratch& SearchScratch::operator=(SearchScratch&&) noexcept = default;

Result<void> CollectionImpl::check_search(size_t values, const SearchOptions& options) const {
  if (values != options_.dimensions) {
    return Error{ErrorCode::kDimensionMismatch,
                 "the query has " + std::to_string(values) + " dimensions; collection \"" + name_ +
                     "\" has " + std::to_string(options_.dimensions)};
  }
  if (options.k == 0) return Error{ErrorCode::kInvalidArgument, "k is 0; expected at least 1"};
  if (options.ef == 0) return Error{ErrorCode::kInvalidArgument, "ef is 0; expected at least 1"};
  return {};
}

// A walk computes about 8 distances a candidate that it keeps, scattered through memory; a scan
// computes one a row, in order. A zero query is equally far from everything, so there is nothing to
// walk towards.
bool CollectionImpl::walk_pays(const Query& query, const SearchOptions& options) const {
  constexpr uint64_t kDistancesPerCandidate = 8;
  const uint64_t ef = std::max(options.ef, options.k);
  return !options.exact && !query.is_zero() && ef * kDistancesPerCandidate < graph_->rows();
}

namespace {

// Measures rows in fours, which share the loads of the query, and keeps the nearest.
class RowMeter {
 public:
  RowMeter(const Kernels& kernels, const Rows& rows, const Query& query, TopK& best)
      : kernels_(kernels), rows_(rows), query_(query), best_(best) {}

  void add(uint32_t slot) {
    slots_[waiting_++] = slot;
    ++measured_;
    if (waiting_ < 4) return;
    float distances[4];
    rows_.distance4(kernels_, query_, slots_, distances);
    for (uint32_t i = 0; i < 4; ++i) best_.push({slots_[i], distances[i]});
    waiting_ = 0;
  }
  // Measures what still waits; returns how many rows were measured in all.
  uint64_t finish() {
    for (uint32_t i = 0; i < waiting_; ++i)
      best_.push({slots_[i], rows_.distance(kernels_, query_, slots_[i])});
    waiting_ = 0;
    return measured_;
  }
  uint64_t measured() const { return measured_; }

 private:
  const Kernels& kernels_;
  const Rows& rows_;
  const Query& query_;
  TopK& best_;
  uint32_t slots_[4];
  uint32_t waiting_ = 0;
  uint64_t measured_ = 0;
};

}  // namespace

void CollectionImpl::scan(const Query& query, uint32_t begin, uint32_t end, TopK& best,
                          SearchStats& stats) const {
  RowMeter meter(*environment_.kernels, *rows_, query, best);
  for (uint32_t slot = begin; slot < end; ++slot) {
    if (!dead_.contains(slot)) meter.add(slot);
  }
  stats.distance_computations += meter.finish();
}

bool CollectionImpl::walk_graph(const Query& query, const SearchOptions& options,
                                SearchScratch::Parts& scratch, TopK& best,
                                SearchStats& stats) const {
  // Dead rows still lead the way but take places in the pool, so it grows by their share, which
  // compaction keeps below one half.
  const uint64_t wanted = std::max(options.ef, options.k);
  const uint64_t ef =
      std::min<uint64_t>(graph_->rows(), wanted * rows_->rows() / std::max<uint64_t>(1, count()));
  const auto* code = reinterpret_cast<const uint8_t*>(scratch.query_code.data());
  uint64_t code_distances = 0;
  const auto candidates = walk(*graph_, *codes_, *environment_.kernels, code,
                               static_cast<uint32_t>(ef), scratch.walk, code_distances);
  // Codes decide who is looked at, rows decide the order. Measured again are the 2 k nearest by
  // code, and where neighbours lie closer together than codes can tell, all that rounding may have
  // put behind the k-th.
  constexpr uint64_t kLeastMeasured = 32;
  constexpr double kDeviations = 3;
  const uint64_t least = std::max<uint64_t>(2 * uint64_t{options.k}, kLeastMeasured);
  double farthest = 0;  // walk distance of the last row worth measuring, once k are
  RowMeter meter(*environment_.kernels, *rows_, query, best);
  for (const Candidate& candidate : candidates) {
    if (meter.measured() >= least && candidate.distance > farthest) break;
    if (dead_.contains(candidate.slot)) continue;
    meter.add(candidate.slot);
    if (meter.measured() == options.k) {
      farthest =
          candidate.distance + kDeviations * codes_->rounding_error(code, candidate.distance);
    }
  }
  const uint64_t live = meter.finish();
  stats.code_distances += code_distances;
  stats.distance_computations += code_distances + live;
  const bool full = candidates.size() == ef && ef < graph_->rows();
  if (full && live >= options.k) {
    // When the whole pool lies within rounding, codes cannot tell it from rows that did not fit.
    const int32_t first = candidates.front().distance;
    const int32_t last = candidates.back().distance;
    if (last - first < kDeviations * codes_->rounding_error(code, last)) return false;
  }
  return live >= options.k;
}

Result<std::vector<Hit>> CollectionImpl::search_checked(std::span<const float> vector,
                                                        const SearchOptions& options,
                                                        SearchScratch::Parts& scratch,
                                                        SearchStats& stats) const {
  if (const auto bad = unusable_value(vector, RowType::kF32)) {
    return Error{ErrorCode::kNotFinite, "the query has " + *bad};
  }
  NEARFIELD_ASSIGN(const Query query, Query::make(vector, options_.metric));
  const uint64_t before = stats.distance_computations;
  TopK best(options.k);
  uint32_t scanned_from = 0;
  if (walk_pays(query, options)) {
    if (scratch.query_code.size() != codes_->stride()) {
      NEARFIELD_ASSIGN(scratch.query_code, Buffer::allocate(codes_->stride()));
    }
    codes_->encode_query(vector.data(), query.scale(),
                         reinterpret_cast<uint8_t*>(scratch.query_code.data()));
    if (walk_graph(query, options, scratch, best, stats)) {
      scanned_from = graph_->rows();
    } else {
      best = TopK(options.k);  // compare with all of them
    }
  }
  scan(query, scanned_from, rows_->rows(), best, stats);
  search_distances_.fetch_add(stats.distance_computations - before, std::memory_order_relaxed);
  return best.take_sorted();
}

Result<std::vector<Hit>> CollectionImpl::search(std::span<const float> query,
                                                const SearchOptions& options,
                                                SearchScratch& scratch, SearchStats* stats) const {
  NEARFIELD_TRY(check_search(query.size(), options));
  SearchStats own;
  return search_checked(query, options, scratch.parts(), stats != nullptr ? *stats : own);
}

Result<std::vector<std::vector<Hit>>> CollectionImpl::search_batch(std::span<const float> queries,
                                                                   const SearchOptions& options,
                                                                   SearchStats* stats) const {
  const size_t dimensions = options_.dimensions;
  if (queries.empty()) return std::vector<std::vector<Hit>>();
  NEARFIELD_TRY(
      check_search(queries.size() % dimensions == 0 ? dimensions : queries.size(), options));
  const size_t count = queries.size() / dimensions;
  std::vector<std::vector<Hit>> answers(count);
  ThreadPool& pool = *environment_.pool;
  struct Worker {
    SearchScratch scratch;
    SearchStats stats;
    std::optional<Error> error;
  };
  std::vector<Worker> workers(pool.workers());
  constexpr size_t kGrain = 8;
  pool.parallel_for(count, kGrain, [&](size_t begin, size_t end, unsigned index) {
    Worker& worker = workers[index];
    for (size_t i = begin; i < end && !worker.error; ++i) {
      auto hits = search_checked(queries.subspan(i * dimensions, dimensions), options,
                                 worker.scratch.parts(), worker.stats);
      if (hits) {
        answers[i] = std::move(hits).value();
      } else {
        worker.error = std::move(hits).error();
        worker.error->detail = "query " + std::to_string(i) + ": " + worker.error->detail;
      }
    }
  });
  for (Worker& worker : workers) {
    if (worker.error) return std::move(*worker.error);
    if (stats == nullptr) continue;
    stats->distance_computations += worker.stats.distance_computations;
    stats->code_distances += worker.stats.code_distances;
  }
  return answers;
}

}  // namespace nearfield
