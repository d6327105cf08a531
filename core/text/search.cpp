#include "text/search.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace nearfield {

namespace {

constexpr double kK1 = 1.2;
constexpr double kB = 0.75;

double idf(uint64_t rows, uint64_t with_term) {
  // More than there are, as damaged postings may say, would make a logarithm of nothing.
  const auto n = static_cast<double>(std::min(rows, with_term));
  return natural_log(1 + (static_cast<double>(rows) - n + 0.5) / (n + 0.5));
}

}  // namespace

// ln(m 2^e) = e ln 2 + 2 artanh((m - 1) / (m + 1)), with m near 1 so that few terms suffice.
double natural_log(double value) {
  constexpr double kLn2 = 0.69314718055994530942;
  const auto bits = std::bit_cast<uint64_t>(value);
  auto exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL);
  if (mantissa > 1.4142135623730951) {
    mantissa /= 2;
    ++exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double sum = 0;
  for (int power = 23; power >= 1; power -= 2) sum = sum * square + 1.0 / power;
  return exponent * kLn2 + 2 * s * sum;
}

void TextSearch::run(const TextQuery& query, std::span<const SearchedField> fields, bool all,
                     const SlotSet& dead, const Selection* among) {
  for (const uint32_t slot : touched_) {
    scores_[slot] = 0;
    clauses_[slot] = 0;
  }
  touched_.clear();
  matches_.clear();
  uint32_t rows = 0;
  for (const SearchedField& field : fields) rows = std::max(rows, field.index->rows());
  if (scores_.size() < rows) {
    scores_.resize(rows);
    clauses_.resize(rows);
  }
  uint64_t wanted = 0;  // clauses that have a token in some field
  const auto search = [&](const TextQuery::Clause& clause, const SearchedField& field,
                          uint64_t bits) {
    const auto units = TextQuery::units(clause, field.index->analyzer());
    if (units.empty()) return false;
    found_.clear();
    std::vector<uint32_t> whole;  // with `all`: rows that have every unit so far
    for (size_t u = 0; u < units.size(); ++u) {
      const size_t before = found_.size();
      find(units[u], *field.index, dead);
      if (!all) continue;
      std::vector<uint32_t> both;
      for (size_t i = before; i < found_.size(); ++i) {
        if (u == 0 || std::binary_search(whole.begin(), whole.end(), found_[i].slot))
          both.push_back(found_[i].slot);
      }
      whole = std::move(both);
    }
    for (const TextMatch& match : found_) {
      const bool counts = !all || std::binary_search(whole.begin(), whole.end(), match.slot);
      if (!counts || (among != nullptr && !among->contains(match.slot))) continue;
      if (clauses_[match.slot] == 0) touched_.push_back(match.slot);
      clauses_[match.slot] |= bits;
      scores_[match.slot] += field.weight * match.score;
    }
    return true;
  };
  for (size_t c = 0; c < query.clauses().size(); ++c) {
    const uint64_t bit = uint64_t{1} << c;
    for (const SearchedField& field : fields) {
      if (search(query.clauses()[c], field, bit)) wanted |= bit;
    }
  }
  for (const SearchedField& field : fields) {
    if (field.index->analyzer().keyword()) search(query.whole(), field, ~uint64_t{0});
  }
  for (const uint32_t slot : touched_) {
    if (!all || (clauses_[slot] & wanted) == wanted)
      matches_.push_back({slot, scores_[slot]});
    else
      scores_[slot] = 0;
  }
}

// Appends the live rows that a unit matches to found_, by slot, with its scores.
void TextSearch::find(const Unit& unit, const TextIndex& index, const SlotSet& dead) {
  const uint64_t rows = index.live_rows();
  if (rows == 0) return;
  tallies_.clear();
  double weight = 0;
  if (unit.prefix) {
    find_prefix(index.find_prefix(unit.terms.front().text));
  } else if (unit.terms.size() == 1) {
    find_term(index.find(unit.terms.front().text));
  } else {
    find_phrase(unit, index);
    for (const Unit::Term& term : unit.terms) {
      weight += idf(rows, live_rows_of(index.find(term.text), dead));
    }
  }
  std::erase_if(tallies_, [&](const Tally& tally) { return dead.contains(tally.slot); });
  if (unit.terms.size() == 1) weight = idf(rows, tallies_.size());
  const double average = static_cast<double>(index.live_tokens()) / static_cast<double>(rows);
  for (const Tally& tally : tallies_) {
    const auto tf = static_cast<double>(tally.tf);
    const double length = static_cast<double>(index.length(tally.slot)) / average;
    found_.push_back({tally.slot, weight * (tf / (tf + kK1 * (1 - kB + kB * length)))});
  }
}

uint64_t TextSearch::live_rows_of(std::span<const TextIndex::Found> found,
                                  const SlotSet& dead) const {
  uint64_t rows = 0;
  for (const auto& [list, count] : found) {
    if (dead.count() == 0) {
      rows += count;
      continue;
    }
    for (PostingCursor cursor(list); cursor.next();) rows += dead.contains(cursor.slot()) ? 0 : 1;
  }
  return rows;
}

void TextSearch::find_term(std::span<const TextIndex::Found> found) {
  for (const auto& [list, count] : found) {
    for (PostingCursor cursor(list); cursor.next();)
      tallies_.push_back({cursor.slot(), cursor.frequency()});
  }
}

// Lists of several terms in one: parts follow each other by row, so sorting them is nearly done.
void TextSearch::find_prefix(std::span<const TextIndex::Found> found) {
  find_term(found);
  std::sort(tallies_.begin(), tallies_.end(),
            [](const Tally& a, const Tally& b) { return a.slot < b.slot; });
  size_t size = 0;
  for (const Tally& tally : tallies_) {
    if (size > 0 && tallies_[size - 1].slot == tally.slot) {
      tallies_[size - 1].tf += tally.tf;
    } else {
      tallies_[size++] = tally;
    }
  }
  tallies_.resize(size);
}

// Starts of the phrase so far are kept row by row and thinned out by each further term, beginning
// with the rarest.
void TextSearch::find_phrase(const Unit& unit, const TextIndex& index) {
  struct Lists {
    std::vector<TextIndex::Found> found;
    uint64_t rows = 0;
    uint32_t position = 0;
  };
  std::vector<Lists> terms;
  for (const Unit::Term& term : unit.terms) {
    Lists lists{index.find(term.text), 0, term.position};
    for (const auto& found : lists.found) lists.rows += found.rows;
    if (lists.rows == 0) return;
    terms.push_back(std::move(lists));
  }
  std::stable_sort(terms.begin(), terms.end(),
                   [](const Lists& a, const Lists& b) { return a.rows < b.rows; });
  using Start = std::pair<uint32_t, int64_t>;  // row, position
  std::vector<Start> starts;
  std::vector<Start> kept;
  for (size_t t = 0; t < terms.size(); ++t) {
    kept.clear();
    auto next = starts.begin();
    for (const auto& found : terms[t].found) {
      for (PostingCursor cursor(found.list); cursor.next();) {
        const uint32_t slot = cursor.slot();
        if (t > 0) {
          while (next != starts.end() && next->first < slot) ++next;
          if (next == starts.end()) break;
          if (next->first != slot) continue;
        }
        VarintReader positions(cursor.positions());
        int64_t position = 0;
        while (positions.remaining() > 0) {
          position += positions.next();
          const Start start{slot, position - terms[t].position};
          if (t > 0) {
            while (next != starts.end() && *next < start) ++next;
            if (next == starts.end() || *next != start) continue;
          }
          kept.push_back(start);
        }
      }
    }
    starts.swap(kept);
  }
  for (const Start& start : starts) {
    if (!tallies_.empty() && tallies_.back().slot == start.first) {
      ++tallies_.back().tf;
    } else {
      tallies_.push_back({start.first, 1});
    }
  }
}

std::vector<TextMatch> TextSearch::best(size_t offset, size_t count) const {
  std::vector<TextMatch> ranked(matches_);
  const size_t end = offset + std::min(count, ranked.size() - std::min(offset, ranked.size()));
  if (offset >= ranked.size()) return {};
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<ptrdiff_t>(end), ranked.end(),
                    better);
  return {ranked.begin() + static_cast<ptrdiff_t>(offset),
          ranked.begin() + static_cast<ptrdiff_t>(end)};
}

Selection TextSearch::selection() const {
  Selection selected;
  selected.words.resize((scores_.size() + 63) / 64);
  for (const TextMatch& match : matches_)
    selected.words[match.slot / 64] |= uint64_t{1} << (match.slot % 64);
  selected.count = matches_.size();
  return selected;
}

}  // namespace nearfield
