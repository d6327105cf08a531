#include "text/unicode.h"

#include <algorithm>
#include <array>
#include <span>

#include "text/packed_tables.h"

namespace nearfield {

namespace {

// Hangul syllables are composed by arithmetic (Unicode, section 3.12).
constexpr char32_t kSyllables = 0xac00;
constexpr char32_t kLeads = 0x1100;
constexpr char32_t kVowels = 0x1161;
constexpr char32_t kTails = 0x11a7;  // the one before the first: no tail
constexpr uint32_t kLeadCount = 19;
constexpr uint32_t kVowelCount = 21;
constexpr uint32_t kTailCount = 28;
constexpr uint32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

struct Run {
  uint32_t first, last;
  uint8_t value;
};

struct Fold {
  uint32_t first, last;
  uint32_t step;
  uint32_t target;  // of the first; the others follow at the same step. Or a place in `several`.
  bool single;
  uint8_t size;  // of the target in `several`
};

struct Composition {
  char32_t composite, first, second;
};

uint32_t unpack(const uint8_t*& at) {
  uint32_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const uint8_t byte = *at++;
    value |= (byte & 0x7fu) << shift;
    if (byte < 0x80) return value;
  }
}

// Added to a number that it is the signed difference to.
uint32_t unpack_signed(const uint8_t*& at) {
  const uint32_t value = unpack(at);
  return value >> 1 ^ (~(value & 1) + 1);
}

std::vector<Run> unpack_runs(const uint8_t* gaps, const uint8_t* lengths, const uint8_t* values) {
  std::vector<Run> runs(unpack(gaps));
  uint32_t end = 0;
  for (Run& run : runs) {
    run.first = end + unpack(gaps);
    run.last = run.first + unpack(lengths);
    run.value = *values++;
    end = run.last + 1;
  }
  return runs;
}

uint8_t value_at(std::span<const Run> runs, char32_t code) {
  const auto run = std::partition_point(runs.begin(), runs.end(),
                                        [code](const Run& r) { return r.last < code; });
  return run != runs.end() && run->first <= code ? run->value : 0;
}

bool by_parts(const Composition& a, const Composition& b) {
  return a.first != b.first ? a.first < b.first : a.second < b.second;
}

class Tables {
 public:
  Tables() {
    unpack_folds();
    unpack_compositions();
    for (char32_t code = 0; code < ascii_.size(); ++code) ascii_[code] = value_at(classes_, code);
  }

  uint8_t class_bits(char32_t code) const {
    return code < ascii_.size() ? ascii_[code] : value_at(classes_, code);
  }
  uint8_t order(char32_t code) const { return code < 0x300 ? 0 : value_at(orders_, code); }

  // REQUIRES: `code` is what a code point folds to, so that it is decomposed but not folded.
  void decompose(char32_t code, std::vector<char32_t>& out) const {
    if (code >= kSyllables && code < kSyllables + kSyllableCount) {
      const uint32_t index = code - kSyllables;
      out.push_back(kLeads + index / (kVowelCount * kTailCount));
      out.push_back(kVowels + index / kTailCount % kVowelCount);
      if (index % kTailCount != 0) out.push_back(kTails + index % kTailCount);
      return;
    }
    const auto found =
        std::partition_point(composites_.begin(), composites_.end(),
                             [code](const Composition& c) { return c.composite < code; });
    if (found == composites_.end() || found->composite != code) {
      out.push_back(code);
    } else {
      decompose(found->first, out);
      out.push_back(found->second);
    }
  }

  void fold(char32_t code, std::vector<char32_t>& out) const {
    const auto found = std::partition_point(folds_.begin(), folds_.end(),
                                            [code](const Fold& f) { return f.last < code; });
    if (found == folds_.end() || found->first > code || (code - found->first) % found->step != 0)
      return decompose(code, out);
    if (found->single) return decompose(found->target + (code - found->first), out);
    for (uint8_t i = 0; i < found->size; ++i) decompose(several_[found->target + i], out);
  }

  // The composite of two, or 0.
  char32_t composite(char32_t first, char32_t second) const {
    if (first >= kLeads && first < kLeads + kLeadCount && second >= kVowels &&
        second < kVowels + kVowelCount) {
      return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
    }
    if (first >= kSyllables && first < kSyllables + kSyllableCount &&
        (first - kSyllables) % kTailCount == 0 && second > kTails && second < kTails + kTailCount) {
      return first + (second - kTails);
    }
    const Composition wanted{0, first, second};
    const auto found = std::lower_bound(parts_.begin(), parts_.end(), wanted, by_parts);
    return found != parts_.end() && !by_parts(wanted, *found) ? found->composite : 0;
  }

 private:
  void unpack_folds() {
    const uint8_t* gaps = packed::kFoldGaps;
    const uint8_t* heads = packed::kFoldHeads;
    const uint8_t* offsets = packed::kFoldOffsets;
    const uint8_t* sizes = packed::kFoldSizes;
    const uint8_t* several = packed::kFoldSeveral;
    folds_.resize(unpack(gaps));
    uint32_t end = 0;
    uint32_t last = 0;
    for (Fold& fold : folds_) {
      const uint32_t head = unpack(heads);
      fold.first = end + unpack(gaps);
      fold.step = (head & 2) != 0 ? 2 : 1;
      fold.last = fold.first + (head >> 2) * fold.step;
      fold.single = (head & 1) == 0;
      if (fold.single) {
        fold.target = last + unpack_signed(offsets);
        last = fold.target + (fold.last - fold.first) + 1;
      } else {
        fold.target = static_cast<uint32_t>(several_.size());
        fold.size = *sizes++;
        for (uint8_t i = 0; i < fold.size; ++i) several_.push_back(last += unpack_signed(several));
      }
      end = fold.last + 1;
    }
  }

  void unpack_compositions() {
    const uint8_t* gaps = packed::kCompositionGaps;
    const uint8_t* firsts = packed::kCompositionFirsts;
    const uint8_t* seconds = packed::kCompositionSeconds;
    composites_.resize(unpack(gaps));
    Composition row{0, 0, 0};
    for (Composition& next : composites_) {
      row.composite += unpack(gaps);
      row.first += unpack_signed(firsts);
      row.second += unpack_signed(seconds);
      next = row;
    }
    parts_ = composites_;
    std::sort(parts_.begin(), parts_.end(), by_parts);
  }

  std::vector<Run> classes_ =
      unpack_runs(packed::kClassGaps, packed::kClassLengths, packed::kClassValues);
  std::vector<Run> orders_ =
      unpack_runs(packed::kOrderGaps, packed::kOrderLengths, packed::kOrderValues);
  std::vector<Fold> folds_;
  std::vector<char32_t> several_;
  std::vector<Composition> composites_;  // by composite
  std::vector<Composition> parts_;       // by parts
  std::array<uint8_t, 128> ascii_{};
};

const Tables& tables() {
  static const Tables instance;
  return instance;
}

bool continues(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80;
}

}  // namespace

uint32_t unicode_version() { return packed::kUnicodeVersion; }

CharClass char_class(char32_t code) { return {tables().class_bits(code)}; }

bool is_white_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0d) || code == 0x20 || code == 0x85 || code == 0xa0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 ||
         code == 0x202f || code == 0x205f || code == 0x3000;
}

char32_t decode_utf8(std::string_view text, size_t& at) {
  const auto lead = static_cast<uint8_t>(text[at++]);
  if (lead < 0x80) return lead;
  const unsigned more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  if (lead < 0xc2 || lead > 0xf4) return kReplacement;
  char32_t code = lead & (0x3fu >> more);
  for (unsigned i = 0; i < more; ++i) {
    if (!continues(text, at + i)) return kReplacement;
    code = code << 6 | (static_cast<uint8_t>(text[at + i]) & 0x3fu);
  }
  constexpr char32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[more] || code > 0x10ffff || surrogate) return kReplacement;
  at += more;
  return code;
}

void append_utf8(char32_t code, std::string& text) {
  if (code < 0x80) {
    text.push_back(static_cast<char>(code));
    return;
  }
  const unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned kLead[] = {0, 0xc0, 0xe0, 0xf0};
  text.push_back(static_cast<char>(kLead[more] | code >> (6 * more)));
  for (unsigned i = more; i-- > 0;)
    text.push_back(static_cast<char>(0x80u | (code >> (6 * i) & 0x3fu)));
}

void append_folded(char32_t code, std::vector<char32_t>& folded) {
  if (code < 0x80) {
    folded.push_back(code >= 'A' && code <= 'Z' ? code + ('a' - 'A') : code);
  } else {
    tables().fold(code, folded);
  }
}

void compose(std::vector<char32_t>& folded) {
  const Tables& all = tables();
  if (std::all_of(folded.begin(), folded.end(), [](char32_t code) { return code < 0x300; })) return;
  std::vector<uint8_t> orders(folded.size());
  for (size_t i = 0; i < folded.size(); ++i) {
    const uint8_t order = orders[i] = all.order(folded[i]);
    const char32_t code = folded[i];
    size_t to = i;
    if (order != 0) {
      for (; to > 0 && orders[to - 1] > order; --to) {
        folded[to] = folded[to - 1];
        orders[to] = orders[to - 1];
      }
    }
    folded[to] = code;
    orders[to] = order;
  }
  // The last character of order 0 takes what composes with it and is not cut off from it by a mark
  // of the same order that stayed.
  size_t size = 0;
  size_t starter = folded.size();
  uint8_t before = 0;
  for (size_t i = 0; i < folded.size(); ++i) {
    const bool adjacent = starter + 1 == size;
    if (starter < size && (adjacent || before < orders[i])) {
      if (const char32_t whole = all.composite(folded[starter], folded[i]); whole != 0) {
        folded[starter] = whole;
        continue;
      }
    }
    if (orders[i] == 0) starter = size;
    before = orders[i];
    folded[size++] = folded[i];
  }
  folded.resize(size);
}

}  // namespace nearfield
