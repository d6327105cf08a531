// Searching among selected rows. Few are scanned, most are walked to as if nothing were selected;
// in between the walk keeps to selected rows. A walk that looks at as many rows as are selected
// gives up for a scan (as Lucene does), so that correlation between filter and query, of either
// sign, costs at most about two scans and never a row of the answer.
#include <algorithm>
#include <bit>

#include "collection/collection_impl.h"
#include "collection/row_meter.h"
#include "collection/search_limits.h"
#include "graph/calibrate.h"

namespace nearfield {

namespace {

// Rows are measured at once where that reads no more memory than this: it is exact, and a scan of
// codes would measure many of them anyway.
constexpr uint64_t kScannedBytes = 512 << 10;
// Up to this share of the rows, selected rows are too seldom neighbours of each other for a walk.
constexpr uint64_t kScannedShare = 20;  // 1 / 20
// Where the k-th selected row is farther, by squared distance, than this many times the nearest
// rows of all, the query lies outside of what is selected, and walks are not to be trusted there.
constexpr double kOutside = 1.5;
// A scan of codes goes wrong only where rounding moved a row by more than this.
constexpr double kScanDeviations = 6;

// Calls take(slot) for the selected slots in [begin, end), rising.
template <class Take>
void for_each_selected(const Selection& selected, uint32_t begin, uint32_t end, Take take) {
  const size_t last = std::min<size_t>(selected.words.size(), (size_t{end} + 63) / 64);
  for (size_t w = begin / 64; w < last; ++w) {
    uint64_t word = selected.words[w];
    if (w == begin / 64) word &= ~uint64_t{0} << (begin % 64);
    if (w == end / 64) word &= (uint64_t{1} << (end % 64)) - 1;
    for (; word != 0; word &= word - 1) {
      take(static_cast<uint32_t>(w * 64 + static_cast<size_t>(std::countr_zero(word))));
    }
  }
}

}  // namespace

std::string_view plan_name(Plan plan) {
  switch (plan) {
    case Plan::kScan: return "scan";
    case Plan::kCodeScan: return "code-scan";
    case Plan::kBridgedWalk: return "bridged-walk";
    case Plan::kWalk: return "walk";
  }
  return {};
}

Plan CollectionImpl::choose_plan(const Query& query, const SearchOptions& options) const {
  const uint64_t selected = options.among->count;
  const uint64_t row_bytes = options_.dimensions * value_bytes(options_.row_type);
  if (options.exact || query.is_zero() || graph_->rows() == 0 ||
      selected * row_bytes <= kScannedBytes) {
    return Plan::kScan;
  }
  if (options.plan) return *options.plan;
  if (!walk_pays(query, options) || selected * kScannedShare <= rows_->rows()) {
    return Plan::kCodeScan;
  }
  return 2 * selected < rows_->rows() ? Plan::kBridgedWalk : Plan::kWalk;
}

Result<void> CollectionImpl::search_among(const Query& query, std::span<const float> vector,
                                          const SearchOptions& options,
                                          SearchScratch::Parts& scratch, TopK& best,
                                          SearchStats& stats) const {
  stats.plan = choose_plan(query, options);
  if (stats.plan == Plan::kScan) {
    scan_selected(query, *options.among, 0, best, stats);
    return {};
  }
  NEARFIELD_TRY(encode_query(query, vector, scratch));
  if (stats.plan != Plan::kCodeScan &&
      !walk_among(query, options, stats.plan == Plan::kBridgedWalk, scratch, best, stats)) {
    stats.plan = Plan::kCodeScan;
    best = TopK(options.k);
  }
  if (stats.plan == Plan::kCodeScan) scan_codes(query, options, scratch, best, stats);
  scan_selected(query, *options.among, graph_->rows(), best, stats);  // the tail
  return {};
}

// False when the walk gave up, found too few, or cannot be trusted to have found the nearest.
bool CollectionImpl::walk_among(const Query& query, const SearchOptions& options, bool bridged,
                                SearchScratch::Parts& scratch, TopK& best,
                                SearchStats& stats) const {
  const Selection& selected = *options.among;
  const auto* code = reinterpret_cast<const uint8_t*>(scratch.query_code.data());
  const Codes::QueryTerms terms = codes_->query_terms(code);
  const uint64_t least = std::max<uint64_t>(2 * uint64_t{options.k}, kLeastMeasured);
  WalkOptions limits{.ef = static_cast<uint32_t>(std::min<uint64_t>(
                         graph_->rows(), std::max<uint64_t>(kMostCandidates, least)))};
  const bool by_recall = !options.ef && graph_->slack().is_known();
  // What is known of slacks was measured without a selection: half of the misses are to be had.
  const double recall = 1 - (1 - options.recall) / 2;
  const uint32_t rank = by_recall ? std::max(options.k, kLeastRank)
                                  : std::max(options.ef.value_or(kUsualEf), options.k);
  limits.stop = EarlyStop{rank, static_cast<uint32_t>(std::max<uint64_t>(least, rank)),
                          by_recall ? graph_->slack().at(recall) : 0, terms, kDeviations};
  limits.only = &selected;
  limits.bridged = bridged;
  limits.budget = selected.count;
  uint64_t computed = 0;
  const auto candidates =
      walk(*graph_, *codes_, *environment_.kernels, code, limits, scratch.walk, computed);
  bool outside = false;
  double farthest = 0;  // walk distance of the last row worth measuring, once k are
  RowMeter meter(*environment_.kernels, *rows_, query, best);
  for (const Candidate& candidate : candidates) {
    if (meter.measured() >= least && candidate.distance > farthest) break;
    if (!selected.contains(candidate.slot)) continue;
    meter.add(candidate.slot);
    if (meter.measured() == options.k) {
      const int32_t nearest =
          bridged ? scratch.walk.nearest_seed
                  : candidates[std::min<size_t>(options.k, candidates.size()) - 1].distance;
      outside = static_cast<double>(terms.offset + candidate.distance) >
                kOutside * static_cast<double>(terms.offset + nearest);
      farthest =
          candidate.distance + kDeviations * codes_->rounding_error(terms, candidate.distance);
    }
  }
  const uint64_t measured = meter.finish();
  stats.code_distances += computed;
  stats.distance_computations += computed + measured;
  if (computed > limits.budget || candidates.size() == limits.ef || measured < options.k)
    return false;
  return !outside;
}

void CollectionImpl::scan_codes(const Query& query, const SearchOptions& options,
                                SearchScratch::Parts& scratch, TopK& best,
                                SearchStats& stats) const {
  const Kernels& kernels = *environment_.kernels;
  const auto* code = reinterpret_cast<const uint8_t*>(scratch.query_code.data());
  auto& scanned = scratch.scanned;
  scanned.clear();
  uint32_t slots[4];
  size_t waiting = 0;
  const auto measure = [&] {
    const uint8_t* codes[4];
    for (size_t i = 0; i < 4; ++i) codes[i] = codes_->code(slots[std::min(i, waiting - 1)]);
    int32_t dots[4];
    kernels.dot4_u7(code, codes, codes_->stride(), dots);
    for (size_t i = 0; i < waiting; ++i) {
      scanned.push_back({codes_->walk_distance(slots[i], dots[i]), slots[i]});
    }
    waiting = 0;
  };
  for_each_selected(*options.among, 0, graph_->rows(), [&](uint32_t slot) {
    slots[waiting++] = slot;
    if (waiting == 4) measure();
  });
  if (waiting > 0) measure();
  stats.code_distances += scanned.size();
  stats.distance_computations += scanned.size();

  RowMeter meter(kernels, *rows_, query, best);
  auto end = scanned.end();
  const size_t least = std::max<size_t>(2 * size_t{options.k}, kLeastMeasured);
  if (scanned.size() > least) {
    const auto nth = scanned.begin() + static_cast<ptrdiff_t>(least);
    std::nth_element(scanned.begin(), nth, scanned.end());
    const auto kth = scanned.begin() + options.k - 1;
    std::nth_element(scanned.begin(), kth, nth);
    const Codes::QueryTerms terms = codes_->query_terms(code);
    const double farthest =
        kth->distance + kScanDeviations * codes_->rounding_error(terms, kth->distance);
    end = std::partition(nth, scanned.end(), [&](const Candidate& candidate) {
      return candidate.distance <= farthest;
    });
  }
  for (auto candidate = scanned.begin(); candidate != end; ++candidate) meter.add(candidate->slot);
  stats.distance_computations += meter.finish();
}

void CollectionImpl::scan_selected(const Query& query, const Selection& selected, uint32_t from,
                                   TopK& best, SearchStats& stats) const {
  RowMeter meter(*environment_.kernels, *rows_, query, best);
  for_each_selected(selected, from, rows_->rows(), [&](uint32_t slot) { meter.add(slot); });
  stats.distance_computations += meter.finish();
}

}  // namespace nearfield
