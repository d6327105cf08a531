// The Unicode tables as generate_tables.mjs packs them, column by column; only unicode.cpp reads
// them. Numbers are varints, signed ones zigzag; the first column of a table begins with its rows.
#pragma once

#include <cstdint>

namespace nearfield::packed {

extern const uint32_t kUnicodeVersion;  // 1500 is Unicode 15.0

// Runs of code points of one value: gap from the run before, length less one, value.
extern const uint8_t kClassGaps[];
extern const uint8_t kClassLengths[];
extern const uint8_t kClassValues[];
extern const uint8_t kOrderGaps[];
extern const uint8_t kOrderLengths[];
extern const uint8_t kOrderValues[];

// What code points fold to: gap from the run before, head (bit 0: to several or to none; bit 1: the
// run's code points lie two apart; the rest: their number less one). Runs of single targets have an
// offset: signed, from the target that would follow the run before. Others have their target's size
// and each part's signed distance from the part before.
extern const uint8_t kFoldGaps[];
extern const uint8_t kFoldHeads[];
extern const uint8_t kFoldOffsets[];
extern const uint8_t kFoldSizes[];
extern const uint8_t kFoldSeveral[];

// Canonical composites in ascending order and their two parts, each as its difference to the row
// before.
extern const uint8_t kCompositionGaps[];
extern const uint8_t kCompositionFirsts[];
extern const uint8_t kCompositionSeconds[];

}  // namespace nearfield::packed
