#include "text/analyzer.h"

#include <algorithm>

namespace nearfield {

namespace {

constexpr uint32_t kRules = 1;  // raise it when anything here changes what is indexed

// Below it, pictographs are signs such as ©, which are no words.
constexpr char32_t kFirstEmoji = 0x2190;

// Enough folded characters for kMaxTokenBytes, and few enough to be put in order at once: no
// composite stands for more than four.
constexpr size_t kMaxFolded = 4 * (kMaxTokenBytes + 1);

// Lucene's English set.
constexpr std::string_view kStopWords[] = {
    "a",   "an",    "and",  "are",   "as",    "at",   "be",   "but", "by",  "for",  "if",
    "in",  "into",  "is",   "it",    "no",    "not",  "of",   "on",  "or",  "such", "that",
    "the", "their", "then", "there", "these", "they", "this", "to",  "was", "will", "with"};

bool is_stop_word(std::string_view term) {
  return std::binary_search(std::begin(kStopWords), std::end(kStopWords), term);
}

// Whether a word that has such a character is a token.
bool makes_token(const Character& c) {
  switch (c.kind.word_break()) {
    case WordBreak::kALetter:
    case WordBreak::kHebrewLetter:
    case WordBreak::kNumeric:
    case WordBreak::kRegionalIndicator: return true;
    default: return c.kind.pictographic() && c.code >= kFirstEmoji;
  }
}

// Letters that continue a Hangul syllable.
bool is_jamo_tail(char32_t code) { return code >= 0x1160 && code < 0x1200; }

void append_composed(std::vector<char32_t>& folded, std::string& terms) {
  compose(folded);
  for (const char32_t code : folded) append_utf8(code, terms);
}

// Shortens a term that begins at `begin` and is the last one to kMaxTokenBytes.
void cut(std::string& terms, size_t begin) {
  if (terms.size() - begin <= kMaxTokenBytes) return;
  size_t end = begin + kMaxTokenBytes;
  while ((static_cast<uint8_t>(terms[end]) & 0xc0) == 0x80) --end;
  terms.resize(end);
}

// Makes the tokens of one text.
class Tokenizer {
 public:
  Tokenizer(bool stop_words, TokenList& out)
      : stop_words_(stop_words), out_(out), characters_(out.characters) {}

  void words() {
    uint32_t begin = 0;
    for (const uint32_t end : out_.word_ends) {
      split(begin, end);
      begin = end;
    }
    finish_run();
  }

  // Characters [begin, end) as one token.
  void whole(uint32_t begin, uint32_t end) {
    const size_t term = out_.terms.size();
    append_folded_range(begin, end);
    if (out_.terms.size() == term) return;  // of characters that fold to nothing
    const bool stop = !stop_words_ && is_stop_word(std::string_view(out_.terms).substr(term));
    push(term, begin, end, stop);
    ++out_.next_position;
  }

 private:
  // A folded letter of a run of bigrams.
  struct Unit {
    size_t term, term_size;  // in units_text_
    uint32_t first, last;    // characters
    bool katakana;
  };

  // A word of UAX #29: parts that are words, and parts that continue or begin a run of bigrams.
  void split(uint32_t begin, uint32_t end) {
    uint32_t word = begin;
    bool token = false;
    for (uint32_t i = begin; i < end; ++i) {
      const Character& c = characters_[i];
      const bool in_run = run_end_ == i && run_begin_ < i;
      if (c.kind.bigram() || (in_run && c.kind.extends())) {
        if (token) whole(word, i);
        token = false;
        if (!in_run) {
          finish_run();
          run_begin_ = i;
        }
        run_end_ = word = i + 1;
      } else if (makes_token(c)) {
        if (!token) finish_run();
        token = true;
      }
    }
    if (token) whole(word, end);
  }

  void append_folded_range(uint32_t begin, uint32_t end) {
    const size_t term = out_.terms.size();
    uint32_t i = begin;
    for (; i < end && characters_[i].code < 0x80; ++i) {
      const auto byte = static_cast<char>(characters_[i].code);
      out_.terms.push_back(byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + ('a' - 'A'))
                                                      : byte);
    }
    if (i < end) {
      out_.terms.resize(term);
      out_.folded.clear();
      for (i = begin; i < end && out_.folded.size() < kMaxFolded; ++i)
        append_folded(characters_[i].code, out_.folded);
      append_composed(out_.folded, out_.terms);
    }
    cut(out_.terms, term);
  }

  void push(size_t term, uint32_t begin, uint32_t end, bool stop, bool continues = false,
            bool katakana = false) {
    out_.tokens.push_back({static_cast<uint32_t>(term),
                           static_cast<uint32_t>(out_.terms.size() - term),
                           characters_[begin].begin, characters_[end].begin, out_.next_position,
                           stop, continues, katakana});
  }

  // The folded letters of the run: each with the marks and vowel signs that belong to it.
  void read_units() {
    units_.clear();
    units_text_.clear();
    std::vector<char32_t>& folded = out_.folded;
    folded.clear();
    uint32_t first = run_begin_;
    const auto finish_unit = [&](uint32_t last) {
      if (folded.empty()) return;
      const bool katakana = folded.front() >= 0x30a0 && folded.front() < 0x3100;
      const size_t term = units_text_.size();
      append_composed(folded, units_text_);
      units_.push_back({term, units_text_.size() - term, first, last, katakana});
      folded.clear();
    };
    for (uint32_t i = run_begin_; i < run_end_; ++i) {
      parts_.clear();
      append_folded(characters_[i].code, parts_);
      for (const char32_t part : parts_) {
        if (!char_class(part).extends() && !is_jamo_tail(part)) {
          finish_unit(std::max(first + 1, i));
          first = i;
        }
        if (folded.size() < kMaxFolded) folded.push_back(part);
      }
    }
    finish_unit(run_end_);
  }

  void finish_run() {
    if (run_begin_ == run_end_) return;
    read_units();
    run_begin_ = run_end_;
    const std::string_view text = units_text_;
    for (size_t i = 0; i < units_.size(); ++i) {
      const Unit& a = units_[i];
      const bool last = i + 1 == units_.size();
      if (!last || i == 0) {
        const Unit& b = units_[last ? i : i + 1];
        const size_t term = out_.terms.size();
        out_.terms.append(text.substr(a.term, a.term_size));
        if (!last) out_.terms.append(text.substr(b.term, b.term_size));
        cut(out_.terms, term);
        push(term, a.first, b.last, false, i > 0, a.katakana && b.katakana);
      }
      ++out_.next_position;
    }
  }

  bool stop_words_;
  TokenList& out_;
  std::vector<Character>& characters_;
  uint32_t run_begin_ = 0;  // the characters of the run of bigrams that may go on
  uint32_t run_end_ = 0;
  std::string units_text_;
  std::vector<Unit> units_;
  std::vector<char32_t> parts_;
};

}  // namespace

uint32_t analysis_version() { return unicode_version() * 1000 + kRules; }

void Analyzer::analyze(std::string_view text, TokenList& out) const {
  read_characters(text, out.characters);
  const auto size = static_cast<uint32_t>(out.characters.size() - 1);
  if (!keyword_) {
    find_word_ends(std::span(out.characters).first(size), out.word_ends);
    Tokenizer(stop_words_, out).words();
    return;
  }
  uint32_t begin = 0;
  uint32_t end = size;
  while (begin < end && is_white_space(out.characters[begin].code)) ++begin;
  while (begin < end && is_white_space(out.characters[end - 1].code)) --end;
  if (begin < end) Tokenizer(true, out).whole(begin, end);
}

}  // namespace nearfield
