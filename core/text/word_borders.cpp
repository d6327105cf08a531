#include "text/word_borders.h"

namespace nearfield {

namespace {

bool is_break(WordBreak value) {
  return value == WordBreak::kCr || value == WordBreak::kLf || value == WordBreak::kNewline;
}
bool is_letter(WordBreak value) {
  return value == WordBreak::kALetter || value == WordBreak::kHebrewLetter;
}
bool is_mid_letter(WordBreak value) {
  return value == WordBreak::kMidLetter || value == WordBreak::kMidNumLet ||
         value == WordBreak::kSingleQuote;
}
bool is_mid_number(WordBreak value) {
  return value == WordBreak::kMidNum || value == WordBreak::kMidNumLet ||
         value == WordBreak::kSingleQuote;
}

// The next character's property behind those that extend character `at` (rule WB4).
WordBreak following(std::span<const Character> characters, size_t at) {
  while (++at < characters.size()) {
    if (!characters[at].kind.extends()) return characters[at].kind.word_break();
  }
  return WordBreak::kOther;
}

// Rules WB5 to WB13b: whether `a` and `b` belong together, with the properties around them.
// `next` is a function, since only few pairs need it.
template <class Next>
bool joins(WordBreak before, WordBreak a, WordBreak b, Next next) {
  using enum WordBreak;
  if (is_letter(a)) {
    if (is_letter(b) || b == kNumeric || b == kExtendNumLet) return true;
    if (a == kHebrewLetter && b == kSingleQuote) return true;
    if (a == kHebrewLetter && b == kDoubleQuote) return next() == kHebrewLetter;
    return is_mid_letter(b) && is_letter(next());
  }
  if (a == kNumeric) {
    if (b == kNumeric || is_letter(b) || b == kExtendNumLet) return true;
    return is_mid_number(b) && next() == kNumeric;
  }
  if (is_letter(b) && is_letter(before) && is_mid_letter(a)) return true;
  if (b == kHebrewLetter && before == kHebrewLetter && a == kDoubleQuote) return true;
  if (b == kNumeric && before == kNumeric && is_mid_number(a)) return true;
  if (a == kKatakana) return b == kKatakana || b == kExtendNumLet;
  if (a == kExtendNumLet)
    return is_letter(b) || b == kNumeric || b == kKatakana || b == kExtendNumLet;
  return false;
}

}  // namespace

void read_characters(std::string_view text, std::vector<Character>& characters) {
  characters.clear();
  characters.reserve(text.size() + 1);
  for (size_t at = 0; at < text.size();) {
    const auto begin = static_cast<uint32_t>(at);
    const char32_t code = decode_utf8(text, at);
    characters.push_back({code, begin, char_class(code)});
  }
  characters.push_back({0, static_cast<uint32_t>(text.size()), {}});
}

void find_word_ends(std::span<const Character> characters, std::vector<uint32_t>& ends) {
  using enum WordBreak;
  ends.clear();
  WordBreak before = kOther;  // the last two that do not extend others
  WordBreak last = kOther;
  size_t flags = 0;  // regional indicators in a row, of which pairs are flags
  for (size_t i = 0; i < characters.size(); ++i) {
    const CharClass kind = characters[i].kind;
    const WordBreak value = kind.word_break();
    bool together = false;
    if (i > 0) {
      const WordBreak adjacent = characters[i - 1].kind.word_break();
      if (is_break(adjacent) || is_break(value)) {
        together = adjacent == kCr && value == kLf;  // WB3, WB3a, WB3b
      } else {
        together = kind.extends() ||                                                   // WB4
                   (adjacent == kZwj && kind.pictographic()) ||                        // WB3c
                   (adjacent == kWSegSpace && value == kWSegSpace) ||                  // WB3d
                   (last == kRegionalIndicator && value == last && flags % 2 == 1) ||  // WB15, 16
                   joins(before, last, value, [&] { return following(characters, i); });
      }
      if (!together) ends.push_back(static_cast<uint32_t>(i));
    }
    if (kind.extends() && together) continue;
    flags = value == kRegionalIndicator ? flags + 1 : 0;
    before = last;
    last = value;
  }
  if (!characters.empty()) ends.push_back(static_cast<uint32_t>(characters.size()));
}

}  // namespace nearfield
