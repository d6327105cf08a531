// evaluate: the slots that a filter selects.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "metadata/bitmap.h"
#include "metadata/column.h"
#include "nearfield/result.h"
#include "nearfield/types.h"
#include "query/filter.h"

namespace nearfield {

// What evaluation asks of a collection beside its columns.
class FilterSource {
 public:
  virtual ~FilterSource() = default;
  // The metadata of a slot, empty when it has none; valid until the next call. Called only when the
  // filter names undeclared members.
  virtual std::string_view metadata_at(uint32_t slot) const = 0;
  // The live slot of an id. Called only when the filter has $id; an error ends the evaluation.
  virtual Result<std::optional<uint32_t>> find_id(IdView id) const = 0;
};

// The slots of `live` that match. REQUIRES: the filter was parsed with the fields of `columns`, and
// each column has live.rows() rows. Threads: any number at a time, if `source` allows it.
Result<Bitmap> evaluate(const Filter& filter, const Columns& columns, const Bitmap& live,
                        const FilterSource& source);

}  // namespace nearfield
