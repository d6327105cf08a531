// What the files that write and read a collection's segments share.
#pragma once

#include <string>

#include "store/store.h"

namespace nearfield {

// Rows that a commit writes together: a piece of one block.
struct Piece {
  uint32_t first;
  uint32_t rows;
};

inline Error corrupt_collection(const std::string& name, const std::string& what) {
  return {ErrorCode::kCorrupt, "collection \"" + name + "\": " + what};
}

// Takes the segments that begin in rows [from.first_row, last) and are otherwise like `from` out of
// a manifest.
inline void erase_segments(Manifest& manifest, SegmentKey from, uint32_t last) {
  SegmentKey to = from;
  to.first_row = last;
  manifest.segments.erase(manifest.segments.lower_bound(from), manifest.segments.lower_bound(to));
}

}  // namespace nearfield
