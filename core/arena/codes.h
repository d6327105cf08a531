// Codes: the 7-bit codes of a collection's rows and the integers that turn a product of codes into
// a distance. The graph is built and walked on these alone, so it is the same on every machine.
//
// Two distances, both integers of which smaller is nearer:
//   walk   from a query to a row:  walk_term(x) - 2 q.x       (a constant of the query is left out)
//   build  between two rows:       squared Euclidean distance of the codes
// Under L2 and cosine (on normalised rows) the two agree. Under dot the walk ranks by inner product
// while the graph is built as if every row had one more coordinate, its lift, that brings all rows
// to one length: nearest in that space is largest inner product (Bachrach et al. 2014).
//
// Invariant: rows() rows are encoded, in slot order. Threads: as BlockArray.
#pragma once

#include <cstdint>
#include <span>

#include "arena/block_array.h"
#include "arena/quantizer.h"
#include "kernels/kernels.h"
#include "nearfield/result.h"
#include "nearfield/types.h"

namespace nearfield {

class Codes {
 public:
  Codes(uint32_t dimensions, Metric metric, unsigned block_shift);

  const Quantizer& quantizer() const { return quantizer_; }
  // The squared length, in code units, that rows are lifted to; dot only.
  int64_t longest() const { return longest_; }
  void set_range(const Quantizer& quantizer, int64_t longest) {
    quantizer_ = quantizer;
    longest_ = longest;
  }

  uint32_t dimensions() const { return dimensions_; }
  uint32_t rows() const { return codes_.rows(); }
  size_t stride() const { return codes_.stride(); }  // bytes, a multiple of kCodePad
  const uint8_t* code(uint32_t slot) const { return codes_.row(slot); }

  int32_t walk_distance(uint32_t slot, int32_t dot) const {
    // Terms of a damaged file may be anything: they wrap.
    return static_cast<int32_t>(static_cast<uint32_t>(*walk_terms_.row(slot)) -
                                2 * static_cast<uint32_t>(dot));
  }
  int32_t walk_term(uint32_t slot) const { return *walk_terms_.row(slot); }
  // The build distance of two rows whose codes have this product.
  int32_t build_distance(uint32_t a, uint32_t b, int32_t dot) const {
    if (metric_ != Metric::kDot) return *walk_terms_.row(a) + *walk_terms_.row(b) - 2 * dot;
    const int32_t* x = lifted_.row(a);
    const int32_t* y = lifted_.row(b);
    const int32_t lift = x[1] - y[1];
    return x[0] + y[0] - 2 * dot + lift * lift;
  }

  // Grows or shrinks; new rows are zero until encoded.
  Result<void> resize(uint32_t rows);
  // Encodes one row. `row` has `dimensions` floats; `scale` is 1 / length under cosine, 0 for a
  // zero row, else 1.
  void encode(uint32_t slot, const float* row, float scale);
  // Copies the code of a row into another slot.
  void move(uint32_t to, uint32_t from) {
    codes_.move(to, from);
    walk_terms_.move(to, from);
    if (metric_ == Metric::kDot) lifted_.move(to, from);
  }
  // Encodes a query (the same map; `out` has stride() bytes, 64-byte aligned).
  void encode_query(const float* query, float scale, uint8_t* out) const;
  // What belongs to a query beside its code.
  struct QueryTerms {
    int64_t squared_length;  // of its code, around the code of zero
    // Added to a walk distance it makes the squared distance of the codes, under dot that of the
    // lifted ones.
    int64_t offset;
  };
  QueryTerms query_terms(const uint8_t* query) const;
  // By how much rounding to codes moves a walk distance: one standard deviation, in units of walk
  // distances, for a row at walk distance `distance`.
  double rounding_error(const QueryTerms& query, int32_t distance) const;
  // The squared length of a code vector around the code of zero: what longest() is the maximum of.
  int64_t squared_length(const uint8_t* code) const;

  // Storage: the arrays that are segments; the lifted terms exist under dot only.
  BlockArray<uint8_t>& code_blocks() { return codes_; }
  const BlockArray<uint8_t>& code_blocks() const { return codes_; }
  BlockArray<int32_t>& term_blocks() { return walk_terms_; }
  const BlockArray<int32_t>& term_blocks() const { return walk_terms_; }
  BlockArray<int32_t>& lifted_blocks() { return lifted_; }
  const BlockArray<int32_t>& lifted_blocks() const { return lifted_; }

  uint64_t memory_bytes() const {
    return codes_.memory_bytes() + walk_terms_.memory_bytes() + lifted_.memory_bytes();
  }

 private:
  // A zero row has no direction: it is at cosine distance 1 from everything, other zero rows too,
  // and so at squared distance 2 from unit vectors. Its code lies at 1 from them, so its term is
  // raised by the square of a unit length; else it would be everybody's neighbour.
  int32_t zero_row_lift() const;

  uint32_t dimensions_;
  Metric metric_;
  Quantizer quantizer_;
  int64_t longest_ = 0;
  BlockArray<uint8_t> codes_;
  BlockArray<int32_t> walk_terms_;
  BlockArray<int32_t> lifted_;  // dot only: squared length of the code, lift
};

}  // namespace nearfield
