// The order of records by a field, for pages of a filter's matches.
#pragma once

#include <cstdint>
#include <vector>

#include "metadata/bitmap.h"
#include "metadata/column.h"

namespace nearfield {

// Slots [offset, offset + limit) of `slots` in the order of the column: numbers by value, false
// before true, strings by their bytes, a list by its least string, or its greatest when descending.
// Ties by slot; rows without a value last either way. Text fields order by whether there is one.
std::vector<uint32_t> order_by(const Column& column, const Bitmap& slots, bool descending,
                               uint64_t offset, uint64_t limit);

}  // namespace nearfield
