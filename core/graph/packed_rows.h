// PackedRows: the codes of some rows side by side, with what turns their products into build
// distances, so that dense kernels can run over all pairs of two sets of rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arena/codes.h"
#include "nearfield/buffer.h"
#include "nearfield/result.h"

namespace nearfield {

class PackedRows {
 public:
  // Copies the codes of these rows. Memory is kept from call to call.
  Result<void> assign(const Codes& codes, std::span<const uint32_t> slots);

  size_t size() const { return norms_.size(); }
  const uint8_t* code(size_t i) const {
    return reinterpret_cast<const uint8_t*>(buffer_.data()) + i * stride_;
  }

  // Turns products of row `i` of this with the rows of `others` into build distances, in place.
  void to_distances(size_t i, const PackedRows& others, int32_t* products) const;

 private:
  Buffer buffer_;
  size_t stride_ = 0;
  std::vector<int32_t> norms_;
  std::vector<int32_t> lifts_;  // empty when the metric has none
};

}  // namespace nearfield
