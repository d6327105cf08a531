// Analyzer: from the text of a field to the tokens that are indexed and searched.
//
// Words are those of UAX #29 that hold a letter, a digit or an emoji, folded to NFKC_Casefold, so
// that case, width (half-width katakana) and composition make no difference. Letters of scripts
// whose words no border shows (CharClass::bigram) become bigrams of every run of them: "東京都" is
// 東京, 京都; a letter alone is a token by itself. A keyword field has one token for a whole value,
// trimmed. What is no UTF-8 is read as U+FFFD, which is no token. A token of more than
// kMaxTokenBytes is cut to its first whole characters that fit, in indexed texts and in queries
// alike.
//
// Threads: an Analyzer is immutable; a TokenList belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/fields.h"
#include "text/word_borders.h"

namespace nearfield {

// What is indexed depends on it: it changes with the rules here and with the Unicode tables. A
// store that was analysed by another version has to be analysed again.
uint32_t analysis_version();

inline constexpr size_t kMaxTokenBytes = 255;
// Between the texts of a list, so that no phrase spans two of them.
inline constexpr uint32_t kPositionGap = 100;

struct Token {
  uint32_t term, term_size;  // in TokenList::terms
  uint32_t begin, end;       // the bytes of the original text
  uint32_t position;         // counts words, and characters where there are bigrams
  bool stop;                 // a word that the field does not index; it keeps its position
  bool continues;            // a bigram that shares a character with the token before
  bool katakana;             // both characters are
};

// Tokens of one or more texts, with room to work in that is used again.
struct TokenList {
  std::vector<Token> tokens;
  std::string terms;
  uint32_t next_position = 0;

  std::string_view term(const Token& token) const {
    return std::string_view(terms).substr(token.term, token.term_size);
  }
  void clear() {
    tokens.clear();
    terms.clear();
    next_position = 0;
  }

  std::vector<Character> characters;
  std::vector<uint32_t> word_ends;
  std::vector<char32_t> folded;
};

class Analyzer {
 public:
  explicit Analyzer(const Field& field)
      : keyword_(field.type == FieldType::kKeyword),
        stop_words_(field.stop_words),
        prefix_(field.prefix) {}

  bool keyword() const { return keyword_; }
  bool prefix() const { return prefix_; }  // whether queries may ask for prefixes

  // Appends the tokens of a text. Between two texts, next_position is raised by kPositionGap.
  void analyze(std::string_view text, TokenList& out) const;

 private:
  bool keyword_;
  bool stop_words_;
  bool prefix_;
};

}  // namespace nearfield
