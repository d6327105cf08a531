// Searching fields for a text, and ranking by BM25 (Robertson and Zaragoza 2009) in Lucene's form:
//   idf * tf / (tf + k1 (1 - b + b length / average)),  idf = ln(1 + (N - n + 1/2) / (n + 1/2))
// with k1 1.2 and b 0.75. Lengths are exact, where Lucene rounds them to a byte. N, n and the
// average count live rows alone, so that a ranking depends on what is stored and not on what was.
// A phrase counts as one term: its idf is the sum of its terms', its tf how often it is there. A
// prefix is one term too, that stands wherever one of its terms does.
//
// The same bits on every machine: the logarithm is computed here, sums are in a fixed order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arena/slot_set.h"
#include "nearfield/selection.h"
#include "text/query.h"
#include "text/text_index.h"

namespace nearfield {

struct SearchedField {
  const TextIndex* index;
  double weight = 1;
};

struct TextMatch {
  uint32_t slot;
  double score;
};

// The order of a ranking: best first, ties by slot.
inline bool better(const TextMatch& a, const TextMatch& b) {
  return a.score != b.score ? a.score > b.score : a.slot < b.slot;
}

// What a search works in and what it found, until the next one. One thread at a time.
class TextSearch {
 public:
  // Finds the live rows, of `among` if that is not null, that match any clause of the query in any
  // field, or, with `all`, every clause in some field. Clauses that have no token anywhere do not
  // count; a query of nothing else matches nothing.
  void run(const TextQuery& query, std::span<const SearchedField> fields, bool all,
           const SlotSet& dead, const Selection* among);

  // What matches, in no order. `score()` of a row that does not match is 0.
  std::span<const TextMatch> matches() const { return matches_; }
  double score(uint32_t slot) const { return slot < scores_.size() ? scores_[slot] : 0; }
  // Rows [offset, offset + count) of the ranking.
  std::vector<TextMatch> best(size_t offset, size_t count) const;
  Selection selection() const;  // of what matches

 private:
  void find(const Unit& unit, const TextIndex& index, const SlotSet& dead);
  uint64_t live_rows_of(std::span<const TextIndex::Found> found, const SlotSet& dead) const;
  void find_term(std::span<const TextIndex::Found> found);
  void find_phrase(const Unit& unit, const TextIndex& index);
  void find_prefix(std::span<const TextIndex::Found> found);

  struct Tally {
    uint32_t slot;
    uint32_t tf;
  };
  std::vector<Tally> tallies_;     // of the unit at work, by slot
  std::vector<TextMatch> found_;   // of the clause at work
  std::vector<double> scores_;     // by slot; 0: not touched
  std::vector<uint64_t> clauses_;  // by slot: which were matched
  std::vector<uint32_t> touched_;
  std::vector<TextMatch> matches_;
};

// The natural logarithm of a positive, normal number.
double natural_log(double value);

}  // namespace nearfield
