// Searching: scan what is small (scan.cpp), else walk the graph on codes and rerank the best on
// rows; the tail is always scanned. The answer has k rows whenever k are live.
#include <algorithm>

#include "collection/collection_impl.h"
#include "collection/row_meter.h"
#include "collection/search_limits.h"
#include "graph/calibrate.h"

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
  if (options.ef == 0U) return Error{ErrorCode::kInvalidArgument, "ef is 0; expected at least 1"};
  if (!(options.recall > 0 && options.recall < 1)) {
    return Error{ErrorCode::kInvalidArgument,
                 "recall is " + std::to_string(options.recall) +
                     "; expected more than 0 and less than 1 (an exact search finds all)"};
  }
  return {};
}

Result<Query> CollectionImpl::make_query(std::span<const float> vector) const {
  if (const auto bad = unusable_value(vector, RowType::kF32)) {
    return Error{ErrorCode::kNotFinite, "the query has " + *bad};
  }
  return Query::make(vector, options_.metric);
}

// A walk computes about 8 distances a candidate that it keeps, scattered through memory; a scan
// computes one a row, in order. A zero query is equally far from everything, so there is nothing to
// walk towards.
bool CollectionImpl::walk_pays(const Query& query, const SearchOptions& options) const {
  constexpr uint64_t kDistancesPerCandidate = 8;
  const uint64_t ef = std::max(options.ef.value_or(kUsualEf), options.k);
  return !options.exact && !query.is_zero() && ef * kDistancesPerCandidate < graph_->rows();
}

// The place, from 1, at which so many live rows are found; a guess beyond the last when there are
// fewer.
uint32_t CollectionImpl::rank_among_live(std::span<const Candidate> candidates,
                                         uint32_t wanted) const {
  uint32_t live = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    live += dead_.contains(candidates[i].slot) ? 0 : 1;
    if (live == wanted) return static_cast<uint32_t>(i + 1);
  }
  const uint64_t guess = 2 * uint64_t{candidates.size()} * wanted / std::max(live, 1U);
  return static_cast<uint32_t>(std::min<uint64_t>(guess, graph_->rows()));
}

bool CollectionImpl::walk_graph(const Query& query, const SearchOptions& options,
                                SearchScratch::Parts& scratch, TopK& best,
                                SearchStats& stats) const {
  const auto* code = reinterpret_cast<const uint8_t*>(scratch.query_code.data());
  const Codes::QueryTerms terms = codes_->query_terms(code);
  // Codes decide who is looked at, rows decide the order. Measured again are the k nearest by code
  // and half as many, which is where wide rows cost more than their walk, and where neighbours lie
  // closer together than codes can tell, all that rounding may have put behind the k-th.
  const uint64_t least = std::max<uint64_t>(2 * uint64_t{options.k}, kLeastMeasured);
  const uint64_t least_measured =
      std::max<uint64_t>(options.k + uint64_t{options.k} / 2, kLeastMeasured);
  // Tombstones still lead the way but take places in the pool, so it grows by their share.
  const uint64_t walked = graph_->rows() - graph_->removed().count();
  const auto with_dead = [&](uint64_t live) {
    return static_cast<uint32_t>(std::min<uint64_t>(
        graph_->rows(), live * walked / std::max<uint64_t>(1, walked - tombstones_)));
  };
  WalkOptions limits{.ef = with_dead(std::max(options.ef.value_or(kUsualEf), options.k))};
  if (!options.ef && graph_->slack().is_known()) {
    limits.ef = with_dead(std::max<uint64_t>(kMostCandidates, least));
    limits.stop = EarlyStop{with_dead(std::max(options.k, kLeastRank)), with_dead(least),
                            graph_->slack().at(options.recall), terms, kDeviations};
  }
  uint64_t code_distances = 0;
  const auto walk_it = [&] {
    return walk(*graph_, *codes_, *environment_.kernels, code, limits, scratch.walk,
                code_distances);
  };
  // Whether codes cannot tell what was found from what was not.
  const auto within_rounding = [&](std::span<const Candidate> found) {
    const int32_t last = found.back().distance;
    const double apart = static_cast<double>(last) - found.front().distance;
    return apart < kDeviations * codes_->rounding_error(terms, last);
  };
  auto candidates = walk_it();
  // All that was found may lie in one knot of neighbours; a wider pool mostly sees beyond it, and
  // that is much cheaper than comparing with every row.
  if (limits.stop && !candidates.empty() && within_rounding(candidates)) {
    limits = {.ef = with_dead(std::max(kUsualEf, options.k))};
    candidates = walk_it();
  }
  // The rank-th says when to stop, but the dead may crowd around a query far beyond their share.
  if (limits.stop) {
    const uint32_t rank = rank_among_live(candidates, std::max(options.k, kLeastRank));
    if (rank > limits.stop->rank + limits.stop->rank / 4) {
      limits.stop->rank = rank;
      limits.stop->least = std::max(limits.stop->least, rank);
      limits.ef = std::max(limits.ef, rank);
      candidates = walk_it();
    }
  }
  double farthest = 0;  // walk distance of the last row worth measuring, once k are
  RowMeter meter(*environment_.kernels, *rows_, query, best);
  for (const Candidate& candidate : candidates) {
    if (meter.measured() >= least_measured && candidate.distance > farthest) break;
    if (dead_.contains(candidate.slot)) continue;
    meter.add(candidate.slot);
    if (meter.measured() == options.k) {
      farthest =
          candidate.distance + kDeviations * codes_->rounding_error(terms, candidate.distance);
    }
  }
  const uint64_t live = meter.finish();
  stats.code_distances += code_distances;
  stats.distance_computations += code_distances + live;
  const bool full = candidates.size() == limits.ef && limits.ef < graph_->rows();
  if (full && live >= options.k && within_rounding(candidates)) return false;
  return live >= options.k;
}

Result<void> CollectionImpl::encode_query(const Query& query, std::span<const float> vector,
                                          SearchScratch::Parts& scratch) const {
  if (scratch.query_code.size() != codes_->stride()) {
    NEARFIELD_ASSIGN(scratch.query_code, Buffer::allocate(codes_->stride()));
  }
  codes_->encode_query(vector.data(), query.scale(),
                       reinterpret_cast<uint8_t*>(scratch.query_code.data()));
  return {};
}

Result<std::vector<Hit>> CollectionImpl::search_checked(std::span<const float> vector,
                                                        const SearchOptions& options,
                                                        SearchScratch::Parts& scratch,
                                                        SearchStats& stats) const {
  NEARFIELD_ASSIGN(const Query query, make_query(vector));
  const uint64_t before = stats.distance_computations;
  TopK best(options.k);
  if (options.among != nullptr) {
    NEARFIELD_TRY(search_among(query, vector, options, scratch, best, stats));
    search_distances_.fetch_add(stats.distance_computations - before, std::memory_order_relaxed);
    return best.take_sorted();
  }
  uint32_t scanned_from = 0;
  stats.plan = Plan::kScan;
  if (walk_pays(query, options)) {
    NEARFIELD_TRY(encode_query(query, vector, scratch));
    if (walk_graph(query, options, scratch, best, stats)) {
      scanned_from = graph_->rows();
      stats.plan = Plan::kWalk;
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

Error CollectionImpl::of_query(size_t index, Error error) {
  error.detail = "query " + std::to_string(index) + ": " + error.detail;
  return error;
}

Result<std::vector<std::vector<Hit>>> CollectionImpl::search_batch(std::span<const float> queries,
                                                                   const SearchOptions& options,
                                                                   SearchStats* stats) const {
  const size_t dimensions = options_.dimensions;
  if (queries.empty()) return std::vector<std::vector<Hit>>();
  NEARFIELD_TRY(
      check_search(queries.size() % dimensions == 0 ? dimensions : queries.size(), options));
  if (options.exact && options.among == nullptr) return scan_batch(queries, options.k, stats);
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
        worker.error = of_query(i, std::move(hits).error());
      }
    }
  });
  for (Worker& worker : workers) {
    if (worker.error) return std::move(*worker.error);
    if (stats == nullptr) continue;
    stats->distance_computations += worker.stats.distance_computations;
    stats->code_distances += worker.stats.code_distances;
    stats->plan = worker.stats.plan;
  }
  return answers;
}

}  // namespace nearfield
