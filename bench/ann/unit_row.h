// Rows of length 1, for libraries that have the dot product and leave cosine to their users.
#pragma once

#include <cmath>
#include <cstddef>

namespace bench {

inline void write_unit_row(const float* row, size_t dimensions, float* unit) {
  double squares = 0;
  for (size_t i = 0; i < dimensions; ++i) squares += static_cast<double>(row[i]) * row[i];
  const float scale = squares > 0 ? static_cast<float>(1 / std::sqrt(squares)) : 0;
  for (size_t i = 0; i < dimensions; ++i) unit[i] = row[i] * scale;
}

}  // namespace bench
