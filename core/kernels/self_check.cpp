// The known-answer test that a program may run on the table it is about to trust.
#include <bit>

#include "kernels/tables.h"

namespace nearfield {
namespace {

// Long enough for every whole step, half step and remainder of every table.
constexpr size_t kFloats = 208;
constexpr size_t kHalves = 224;
constexpr size_t kCodes = 320;
constexpr size_t kRows = 9;

struct Inputs {
  alignas(64) float floats[5 * kFloats];
  alignas(64) uint16_t halves[4 * kHalves];
  alignas(64) uint8_t codes[kRows * kCodes];
};

void fill(Inputs& inputs) {
  uint32_t state = 1;
  const auto next = [&state] { return state = state * 1664525u + 1013904223u; };
  for (float& x : inputs.floats) {
    // In [-1, 1) with all 24 bits in use, so that a fused or reordered sum shows.
    x = static_cast<float>(static_cast<int32_t>(next()) >> 8) * 0x1p-23f;
  }
  for (uint16_t& x : inputs.halves) {
    // Of either sign and below 2, a sixteenth of them subnormal, where a widening goes wrong first.
    x = static_cast<uint16_t>(next() >> 16 & 0xbfffu);
  }
  for (uint8_t& x : inputs.codes) x = static_cast<uint8_t>(next() >> 25);
  for (size_t i = 0; i < kCodes; ++i) inputs.codes[i] = 127;  // the largest sums
}

bool same_floats(const float* a, const float* b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i])) return false;
  }
  return true;
}

bool same_integers(const int32_t* a, const int32_t* b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// The float kernels of one type of rows.
template <class Value>
struct FloatKernels {
  float (*Kernels::*dot)(const float*, const Value*, size_t);
  float (*Kernels::*l2)(const float*, const Value*, size_t);
  void (*Kernels::*dot4)(const float*, const Value* const[4], size_t, float[4]);
  void (*Kernels::*l24)(const float*, const Value* const[4], size_t, float[4]);
};
constexpr FloatKernels<float> kOfF32{&Kernels::dot_f32, &Kernels::l2_f32, &Kernels::dot4_f32,
                                     &Kernels::l24_f32};
constexpr FloatKernels<uint16_t> kOfF16{&Kernels::dot_f16, &Kernels::l2_f16, &Kernels::dot4_f16,
                                        &Kernels::l24_f16};

// `values`: four rows of n, one after the other.
template <class Value>
bool check_floats(const Kernels& table, const FloatKernels<Value>& of, const float* query,
                  const Value* values, size_t n) {
  const Value* rows[4];
  for (size_t r = 0; r < 4; ++r) rows[r] = values + r * n;
  // One sum may round alike in two orders; four hardly do.
  const auto results = [&](const Kernels& kernels, float(&out)[16]) {
    for (size_t r = 0; r < 4; ++r) {
      out[r] = (kernels.*of.dot)(query, rows[r], n);
      out[4 + r] = (kernels.*of.l2)(query, rows[r], n);
    }
    (kernels.*of.dot4)(query, rows, n, out + 8);
    (kernels.*of.l24)(query, rows, n, out + 12);
  };
  float expected[16], found[16];
  results(scalar::kTable, expected);
  results(table, found);
  return same_floats(expected, found, 16);
}

bool check_u7(const Kernels& table, const Inputs& inputs) {
  constexpr size_t kAll = kRows * kRows;
  const uint8_t* rows[4];
  for (size_t r = 0; r < 4; ++r) rows[r] = inputs.codes + r * kCodes;
  const auto results = [&](const Kernels& kernels, int32_t(&out)[6 + kAll]) {
    out[0] = kernels.dot_u7(rows[0], rows[0], kCodes);
    out[1] = kernels.dot_u7(rows[2], rows[3], kCodes);
    kernels.dot4_u7(inputs.codes + 4 * kCodes, rows, kCodes, out + 2);
    kernels.dot_block_u7(inputs.codes, kRows, inputs.codes, kRows, kCodes, out + 6, kRows);
  };
  int32_t expected[6 + kAll], found[6 + kAll];
  results(scalar::kTable, expected);
  results(table, found);
  return same_integers(expected, found, 6 + kAll);
}

}  // namespace

bool self_check(const Kernels& table) {
  Inputs inputs;
  fill(inputs);
  const float* query = inputs.floats;
  return check_floats(table, kOfF32, query, inputs.floats + kFloats, kFloats) &&
         check_floats(table, kOfF16, query, inputs.halves, kHalves) && check_u7(table, inputs);
}

}  // namespace nearfield
