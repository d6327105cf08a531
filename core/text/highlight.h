// Highlights: where a query matches in a text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/query.h"

namespace nearfield {

struct ByteRange {
  uint32_t begin, end;
};

// The bytes of `text` that match, rising, none touching another. Of a phrase only words that stand
// where the phrase does.
std::vector<ByteRange> highlights(std::string_view text, const TextQuery& query,
                                  const Analyzer& analyzer);

// About `bytes` bytes of the text, from word to word, around the most ranges.
ByteRange snippet(std::string_view text, const std::vector<ByteRange>& ranges, uint32_t bytes);

}  // namespace nearfield
