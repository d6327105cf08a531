// Where words begin and end, by the default rules of UAX #29 (Unicode Text Segmentation, section
// 4).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/unicode.h"

namespace nearfield {

// A code point of a text.
struct Character {
  char32_t code;
  uint32_t begin;  // its first byte in the text
  CharClass kind;
};

// The characters of a text of less than 4 GiB, replacing what `characters` held. One more of no
// meaning stands at the end, so that character i always ends where i + 1 begins.
void read_characters(std::string_view text, std::vector<Character>& characters);

// The indices of characters that a word ends before, ascending, replacing what `ends` held; the
// last one is characters.size(), unless there are none. Runs of spaces are words here, too.
void find_word_ends(std::span<const Character> characters, std::vector<uint32_t>& ends);

}  // namespace nearfield
