// TextQuery: what a person typed, as clauses, and what each clause looks for in a field.
//
//   words      each is a clause
//   "a phrase" one clause: its words one after the other; an open quote reaches to the end
//   wire*      one clause: words that begin so, where the field allows it
// Everything else is text. A clause is read by each field's own analyzer: where it holds several
// words ("IT-500"), it looks for each of them; what belongs together (bigrams of one run) is a
// phrase. In a keyword field a clause is one token, and the whole query is one more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/analyzer.h"

namespace nearfield {

// What is looked up in the postings of one field.
struct Unit {
  struct Term {
    std::string text;
    uint32_t position;  // within the phrase
  };
  std::vector<Term> terms;  // several: a phrase
  bool prefix = false;      // of one term
};

class TextQuery {
 public:
  // More than these are words of a text that nobody reads as a condition: they are left out.
  static constexpr size_t kMostClauses = 64;

  explicit TextQuery(std::string_view text);

  struct Clause {
    std::string text;
    bool phrase = false;
    bool prefix = false;
  };
  const std::vector<Clause>& clauses() const { return clauses_; }
  // What a clause looks for in a field; nothing when it has no token there.
  static std::vector<Unit> units(const Clause& clause, const Analyzer& analyzer);
  // The whole query, for keyword fields. No units when it is but one clause.
  const Clause& whole() const { return whole_; }

 private:
  std::vector<Clause> clauses_;
  Clause whole_;
};

}  // namespace nearfield
