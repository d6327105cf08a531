#include "text/query.h"

namespace nearfield {

namespace {

bool is_space(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f' ||
         byte == '\v';
}

// U+3000, which stands between words of East Asian texts.
bool is_wide_space(std::string_view rest) { return rest.starts_with("\xe3\x80\x80"); }

}  // namespace

TextQuery::TextQuery(std::string_view text) {
  whole_.text = std::string(text);
  for (size_t at = 0; at < text.size() && clauses_.size() < kMostClauses;) {
    if (is_space(text[at])) {
      ++at;
    } else if (is_wide_space(text.substr(at))) {
      at += 3;
    } else if (text[at] == '"') {
      const size_t end = std::min(text.find('"', at + 1), text.size());
      clauses_.push_back({std::string(text.substr(at + 1, end - at - 1)), true, false});
      at = end + 1;
    } else {
      size_t end = at;
      while (end < text.size() && !is_space(text[end]) && text[end] != '"' &&
             !is_wide_space(text.substr(end))) {
        ++end;
      }
      const std::string_view word = text.substr(at, end - at);
      const bool prefix = word.size() > 1 && word.back() == '*';
      clauses_.push_back(
          {std::string(prefix ? word.substr(0, word.size() - 1) : word), false, prefix});
      at = end;
    }
  }
  if (clauses_.size() < 2) whole_.text.clear();
}

std::vector<Unit> TextQuery::units(const Clause& clause, const Analyzer& analyzer) {
  TokenList list;
  analyzer.analyze(clause.text, list);
  std::vector<Unit> units;
  uint32_t first_position = 0;
  for (const Token& token : list.tokens) {
    if (token.stop) continue;
    const bool joins = !units.empty() && (clause.phrase || token.continues);
    if (!joins) {
      units.emplace_back();
      first_position = token.position;
    }
    units.back().terms.push_back({std::string(list.term(token)), token.position - first_position});
  }
  // A field without prefixes reads the star as text, which is no token.
  if (clause.prefix && analyzer.prefix() && !units.empty() && units.back().terms.size() == 1) {
    units.back().prefix = true;
  }
  return units;
}

}  // namespace nearfield
