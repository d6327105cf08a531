// Ranking by text, and by text and vector together.
//
// Fusing needs both lists in part only: the best kWindow of either. Rows behind that follow in the
// order of the vector, so that pages stay full, and do not change while one goes on to the next.
#include <algorithm>
#include <cmath>
#include <limits>

#include "collection/collection_impl.h"
#include "text/highlight.h"

namespace nearfield {

namespace {

constexpr uint32_t kWindow = 256;
constexpr double kRankOffset = 60;  // of reciprocal rank fusion
constexpr float kNoDistance = std::numeric_limits<float>::quiet_NaN();

Error invalid(const std::string& what) { return {ErrorCode::kInvalidArgument, what}; }

bool ranks_before(const RankedHit& a, const RankedHit& b) {
  return a.score != b.score ? a.score > b.score : a.slot < b.slot;
}

// Keeps rows [offset, offset + k) of a list.
void cut_page(std::vector<RankedHit>& hits, uint64_t offset, uint64_t k) {
  hits.erase(hits.begin(),
             hits.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(offset, hits.size())));
  if (hits.size() > k) hits.resize(static_cast<size_t>(k));
}

double score_of(Metric metric, float distance) {
  switch (metric) {
    case Metric::kCosine: return 1 - static_cast<double>(distance);
    case Metric::kL2: return 1 / (1 + static_cast<double>(distance));
    case Metric::kDot: return 0 - static_cast<double>(distance);  // never -0
  }
  return 0;
}

}  // namespace

Result<std::vector<SearchedField>> CollectionImpl::searched_fields(const TextOptions& text) const {
  std::vector<SearchedField> searched;
  if (text.fields.empty()) {
    for (size_t i = 0; i < fields_->fields().size(); ++i) {
      if (fields_->text(i) != nullptr) searched.push_back({fields_->text(i)});
    }
    if (searched.empty())
      return invalid("collection \"" + name_ + "\" has no text or keyword field to search in");
  }
  for (const FieldWeight& field : text.fields) {
    NEARFIELD_ASSIGN(const size_t index, find_field(field.field));
    if (fields_->text(index) == nullptr) {
      return invalid("field \"" + std::string(field.field) + "\" is a " +
                     std::string(field_type_name(fields_->fields()[index].type)) +
                     "; expected a text or keyword field to search in");
    }
    if (!(field.weight >= 0) || !std::isfinite(field.weight)) {
      return invalid("the weight of field \"" + std::string(field.field) + "\" is " +
                     std::to_string(field.weight) + "; expected a finite number from 0 up");
    }
    searched.push_back({fields_->text(index), field.weight});
  }
  return searched;
}

Result<Ranking> CollectionImpl::rank(const RankOptions& options, SearchScratch& scratch,
                                     SearchStats* stats) const {
  SearchStats own;
  SearchStats& counted = stats != nullptr ? *stats : own;
  Ranking ranking;
  const uint64_t end = uint64_t{options.offset} + options.search.k;
  if (options.search.k == 0) return invalid("k is 0; expected at least 1");
  if (end > kMaxRows)
    return invalid("offset and k add up to " + std::to_string(end) + "; expected at most " +
                   std::to_string(kMaxRows));
  if (!options.text) {
    if (options.vector.empty())
      return invalid("nothing to rank by; expected a vector, a text or both");
    SearchOptions search = options.search;
    search.k = static_cast<uint32_t>(end);
    NEARFIELD_ASSIGN(const auto hits, this->search(options.vector, search, scratch, &counted));
    for (const Hit& hit : hits)
      ranking.hits.push_back({hit.slot, score_of(options_.metric, hit.distance), hit.distance});
    cut_page(ranking.hits, options.offset, options.search.k);
    return ranking;
  }
  NEARFIELD_ASSIGN(const auto fields, searched_fields(*options.text));
  TextSearch& text = scratch.parts().text;
  text.run(TextQuery(options.text->query), fields, options.text->all_words, dead_,
           options.search.among);
  ranking.text_matches = text.matches().size();
  if (options.vector.empty()) {
    for (const TextMatch& match : text.best(options.offset, options.search.k))
      ranking.hits.push_back({match.slot, match.score, kNoDistance});
    return ranking;
  }
  if (options.fusion == Fusion::kRerank) {
    const Selection matches = text.selection();
    SearchOptions search = options.search;
    search.k = static_cast<uint32_t>(end);
    search.among = &matches;
    NEARFIELD_ASSIGN(const auto hits, this->search(options.vector, search, scratch, &counted));
    for (const Hit& hit : hits)
      ranking.hits.push_back({hit.slot, score_of(options_.metric, hit.distance), hit.distance});
    cut_page(ranking.hits, options.offset, options.search.k);
    return ranking;
  }
  NEARFIELD_TRY(fuse(options, scratch, counted, ranking));
  return ranking;
}

// Fills a ranking by vector and by the text that scratch has searched for.
Result<void> CollectionImpl::fuse(const RankOptions& options, SearchScratch& scratch,
                                  SearchStats& stats, Ranking& ranking) const {
  const double vector_weight = options.vector_weight;
  const double text_weight = options.text_weight;
  if (!(vector_weight >= 0) || !(text_weight >= 0) || !(vector_weight + text_weight > 0) ||
      !std::isfinite(vector_weight + text_weight)) {
    return invalid("the weights of vector and text are " + std::to_string(vector_weight) + " and " +
                   std::to_string(text_weight) + "; expected finite numbers from 0 up, not both 0");
  }
  const TextSearch& text = scratch.parts().text;
  SearchOptions search = options.search;
  search.k = kWindow;
  NEARFIELD_ASSIGN(const auto nearest, this->search(options.vector, search, scratch, &stats));
  const auto by_text = text.best(0, kWindow);

  // One entry a row: by vector first, then those that only the text has, measured now.
  auto& hits = ranking.hits;
  for (const Hit& hit : nearest) hits.push_back({hit.slot, 0, hit.distance});
  std::vector<uint32_t> slots;
  for (const Hit& hit : nearest) slots.push_back(hit.slot);
  std::sort(slots.begin(), slots.end());
  NEARFIELD_ASSIGN(const Query query, make_query(options.vector));
  for (const TextMatch& match : by_text) {
    if (std::binary_search(slots.begin(), slots.end(), match.slot)) continue;
    hits.push_back({match.slot, 0, rows_->distance(*environment_.kernels, query, match.slot)});
    ++stats.distance_computations;
  }
  if (options.fusion == Fusion::kReciprocalRank) {
    for (size_t i = 0; i < nearest.size(); ++i)
      hits[i].score = 1 / (kRankOffset + static_cast<double>(i + 1));
    std::sort(hits.begin(), hits.end(),
              [](const RankedHit& a, const RankedHit& b) { return a.slot < b.slot; });
    for (size_t i = 0; i < by_text.size(); ++i) {
      const auto hit =
          std::lower_bound(hits.begin(), hits.end(), by_text[i].slot,
                           [](const RankedHit& a, uint32_t slot) { return a.slot < slot; });
      hit->score += 1 / (kRankOffset + static_cast<double>(i + 1));
    }
  } else {
    double best_text = 0;
    double nearest_score = -std::numeric_limits<double>::infinity();
    double farthest_score = std::numeric_limits<double>::infinity();
    for (const RankedHit& hit : hits) {
      best_text = std::max(best_text, text.score(hit.slot));
      nearest_score = std::max(nearest_score, score_of(options_.metric, hit.distance));
      farthest_score = std::min(farthest_score, score_of(options_.metric, hit.distance));
    }
    const double spread = nearest_score - farthest_score;
    for (RankedHit& hit : hits) {
      const double near =
          spread > 0 ? (score_of(options_.metric, hit.distance) - farthest_score) / spread : 1;
      const double textual = best_text > 0 ? text.score(hit.slot) / best_text : 0;
      hit.score = (vector_weight * near + text_weight * textual) / (vector_weight + text_weight);
    }
  }
  std::sort(hits.begin(), hits.end(), ranks_before);
  const uint64_t end = uint64_t{options.offset} + options.search.k;
  if (end > hits.size()) NEARFIELD_TRY(append_others(options, scratch, stats, end, hits));
  cut_page(hits, options.offset, options.search.k);
  return {};
}

// Appends the rows that are not in the list, nearest first, until it has `end`. Compared with every
// row, since an order that pages go through must not depend on how far a walk looked.
Result<void> CollectionImpl::append_others(const RankOptions& options, SearchScratch& scratch,
                                           SearchStats& stats, uint64_t end,
                                           std::vector<RankedHit>& hits) const {
  std::vector<uint32_t> slots;
  for (const RankedHit& hit : hits) slots.push_back(hit.slot);
  std::sort(slots.begin(), slots.end());
  SearchOptions search = options.search;
  search.exact = true;
  search.k = static_cast<uint32_t>(std::min<uint64_t>(end, kMaxRows));
  NEARFIELD_ASSIGN(const auto others, this->search(options.vector, search, scratch, &stats));
  for (const Hit& hit : others) {
    if (hits.size() == end) break;
    if (std::binary_search(slots.begin(), slots.end(), hit.slot)) continue;
    hits.push_back({hit.slot, 0, hit.distance});
  }
  return {};
}

Result<std::vector<Highlight>> CollectionImpl::highlight(uint32_t slot, std::string_view field,
                                                         std::string_view query,
                                                         uint32_t bytes) const {
  NEARFIELD_ASSIGN(const size_t index, find_field(field));
  const TextIndex* text = fields_->text(index);
  if (text == nullptr)
    return invalid("field \"" + std::string(field) + "\" is no text or keyword field");
  Extractor extractor({&fields_->fields()[index], 1});
  NEARFIELD_TRY(extractor.read(metadata_at(slot)));
  const TextQuery parsed(query);
  std::vector<Highlight> found;
  for (const MetadataValue& value : extractor.values(0)) {
    const auto ranges = highlights(value.text, parsed, text->analyzer());
    if (ranges.empty()) continue;
    const ByteRange window = snippet(value.text, ranges, bytes);
    Highlight& one = found.emplace_back();
    one.text = std::string(value.text.substr(window.begin, window.end - window.begin));
    for (const ByteRange& range : ranges) {
      const uint32_t begin = std::max(range.begin, window.begin);
      const uint32_t end = std::min(range.end, window.end);
      if (begin < end) one.ranges.emplace_back(begin - window.begin, end - window.begin);
    }
  }
  return found;
}

}  // namespace nearfield
