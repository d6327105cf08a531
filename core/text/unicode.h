// Unicode, as far as text search needs it: UTF-8, the classes of code points that borders of words
// depend on, and folding to NFKC_Casefold, which makes case, width and composition equal.
//
// The tables are unpacked once, at the first use. Threads: every function may be called from any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nearfield {

uint32_t unicode_version();  // 1500 is Unicode 15.0

// The property Word_Break of UAX #29, in the order of generate_tables.mjs.
enum class WordBreak : uint8_t {
  kOther,
  kCr,
  kLf,
  kNewline,
  kExtend,
  kZwj,
  kRegionalIndicator,
  kFormat,
  kKatakana,
  kHebrewLetter,
  kALetter,
  kSingleQuote,
  kDoubleQuote,
  kMidNumLet,
  kMidLetter,
  kMidNum,
  kNumeric,
  kExtendNumLet,
  kWSegSpace,
};

struct CharClass {
  uint8_t bits = 0;
  WordBreak word_break() const { return static_cast<WordBreak>(bits & 0x1f); }
  bool pictographic() const { return (bits & 0x20) != 0; }
  // A letter of Han, Hiragana, Katakana, Hangul, Thai and other scripts whose words no border
  // shows.
  bool bigram() const { return (bits & 0x40) != 0; }
  // Belongs to the character before it.
  bool extends() const {
    return word_break() == WordBreak::kExtend || word_break() == WordBreak::kZwj ||
           word_break() == WordBreak::kFormat;
  }
};
CharClass char_class(char32_t code);

bool is_white_space(char32_t code);

inline constexpr char32_t kReplacement = 0xfffd;
// The code point at text[at], and moves `at` behind it. A byte that begins no well-formed sequence
// is read as kReplacement. REQUIRES: at < text.size().
char32_t decode_utf8(std::string_view text, size_t& at);
void append_utf8(char32_t code, std::string& text);

// Appends what a code point folds to, decomposed; compose() makes it NFKC_Casefold.
void append_folded(char32_t code, std::vector<char32_t>& folded);
// Puts marks into canonical order and composes what has a composite.
void compose(std::vector<char32_t>& folded);

}  // namespace nearfield
