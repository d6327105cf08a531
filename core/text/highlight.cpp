#include "text/highlight.h"

#include <algorithm>

#include "text/word_borders.h"

namespace nearfield {

namespace {

class Marker {
 public:
  Marker(std::string_view text, const Analyzer& analyzer) { analyzer.analyze(text, list_); }

  void mark(const Unit& unit) {
    for (size_t i = 0; i < list_.tokens.size(); ++i) {
      if (unit.prefix) {
        if (list_.term(list_.tokens[i]).starts_with(unit.terms.front().text)) mark(i);
      } else {
        mark_phrase(unit, i);
      }
    }
  }

  std::vector<ByteRange> ranges() {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
    std::vector<ByteRange> joined;
    for (const ByteRange& range : ranges_) {
      if (!joined.empty() && range.begin <= joined.back().end) {
        joined.back().end = std::max(joined.back().end, range.end);
      } else {
        joined.push_back(range);
      }
    }
    return joined;
  }

 private:
  void mark(size_t token) {
    ranges_.push_back({list_.tokens[token].begin, list_.tokens[token].end});
  }

  // Marks a phrase that starts at a token.
  void mark_phrase(const Unit& unit, size_t first) {
    std::vector<size_t> found;
    size_t at = first;
    for (const Unit::Term& term : unit.terms) {
      const uint32_t position = list_.tokens[first].position + term.position;
      while (at < list_.tokens.size() && list_.tokens[at].position < position) ++at;
      if (at == list_.tokens.size() || list_.tokens[at].position != position ||
          list_.term(list_.tokens[at]) != term.text) {
        return;
      }
      found.push_back(at);
    }
    for (const size_t token : found) mark(token);
  }

  TokenList list_;
  std::vector<ByteRange> ranges_;
};

}  // namespace

std::vector<ByteRange> highlights(std::string_view text, const TextQuery& query,
                                  const Analyzer& analyzer) {
  Marker marker(text, analyzer);
  for (const TextQuery::Clause& clause : query.clauses()) {
    for (const Unit& unit : TextQuery::units(clause, analyzer)) marker.mark(unit);
  }
  if (analyzer.keyword()) {
    for (const Unit& unit : TextQuery::units(query.whole(), analyzer)) marker.mark(unit);
  }
  return marker.ranges();
}

ByteRange snippet(std::string_view text, const std::vector<ByteRange>& ranges, uint32_t bytes) {
  const auto size = static_cast<uint32_t>(text.size());
  if (size <= bytes) return {0, size};
  // The window that begins with a range and holds the most of them; then centred.
  uint32_t begin = 0;
  uint32_t end = 0;
  size_t most = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    size_t j = i;
    while (j < ranges.size() && ranges[j].end <= ranges[i].begin + bytes) ++j;
    if (j - i <= most) continue;
    most = j - i;
    begin = ranges[i].begin;
    end = ranges[j - 1].end;
  }
  const uint32_t spare = bytes - std::min(bytes, end - begin);
  begin -= std::min(begin, spare / 3);
  end = std::min(size, begin + bytes);
  begin = std::min(begin, size - bytes);
  // To borders of words, without cutting into the ranges inside.
  std::vector<Character> characters;
  read_characters(text, characters);
  std::vector<uint32_t> ends;
  find_word_ends(std::span(characters).first(characters.size() - 1), ends);
  ByteRange cut{begin == 0 ? 0 : size, size};
  for (const uint32_t index : ends) {
    const uint32_t border = characters[index].begin;
    if (border >= begin) cut.begin = std::min(cut.begin, border);
    if (border <= end) cut.end = border;
  }
  if (cut.begin >= cut.end || cut.end > end) return {begin, end};  // one long word
  return cut;
}

}  // namespace nearfield
