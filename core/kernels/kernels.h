// Distance kernels: the table through which everything else computes.
//
// One file and one namespace per instruction set (scalar.cpp, avx2.cpp, ...), each exporting one
// table; only dispatch.cpp asks the machine what it can do. A database takes a table once, when it
// opens.
//
// Every kernel of every table returns the same bits as scalar.cpp:
//   - u7 kernels are integer sums of products of values 0..127, which no order changes and no
//     8-bit dot instruction saturates (2 * 127 * 127 < 2^15);
//   - f32 kernels add in one fixed order, whatever the register width: element i belongs to lane
//     i % 32, each lane is summed by itself (multiply, then add: never fused), and the lanes are
//     then added pairwise, 16 to 16, 8 to 8, 4 to 4, 2 to 2, 1 to 1. AVX-512 holds the lanes in two
//     registers, AVX2 in four, 128-bit sets in eight;
//   - f16 kernels widen each value of a row, which is exact, and go on as the f32 kernels do.
// So distances, rankings and graphs are equal natively and in every browser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace nearfield {

// Rows are padded with zeros to these multiples, so that no kernel has a tail.
inline constexpr size_t kFloatPad = 16;  // floats: one cache line
inline constexpr size_t kHalfPad = 32;   // halves: one cache line
inline constexpr size_t kCodePad = 64;   // bytes: one cache line

struct Kernels {
  const char* name;

  // f32. `n` is a multiple of kFloatPad; pointers are 64-byte aligned.
  float (*dot_f32)(const float* a, const float* b, size_t n);
  float (*l2_f32)(const float* a, const float* b, size_t n);  // sum of (a - b)^2
  // out[r] = dot or l2 of `query` and rows[r]; four rows share each load of the query.
  void (*dot4_f32)(const float* query, const float* const rows[4], size_t n, float out[4]);
  void (*l24_f32)(const float* query, const float* const rows[4], size_t n, float out[4]);

  // An f32 query against rows of f16 (base/half.h), of finite values. `n` is a multiple of
  // kHalfPad; pointers are 64-byte aligned.
  float (*dot_f16)(const float* query, const uint16_t* row, size_t n);
  float (*l2_f16)(const float* query, const uint16_t* row, size_t n);
  void (*dot4_f16)(const float* query, const uint16_t* const rows[4], size_t n, float out[4]);
  void (*l24_f16)(const float* query, const uint16_t* const rows[4], size_t n, float out[4]);

  // u7 codes. `n` is a multiple of kCodePad; pointers are 64-byte aligned.
  int32_t (*dot_u7)(const uint8_t* a, const uint8_t* b, size_t n);
  void (*dot4_u7)(const uint8_t* query, const uint8_t* const rows[4], size_t n, int32_t out[4]);
  // out[i * out_stride + j] = dot(a + i * n, b + j * n) for i < rows_a, j < rows_b: all pairs of
  // two blocks of packed codes. Any counts; tiled inside so that a load serves several products.
  void (*dot_block_u7)(const uint8_t* a, size_t rows_a, const uint8_t* b, size_t rows_b, size_t n,
                       int32_t* out, size_t out_stride);
};

// The tables that were compiled in and that this machine can run, fastest first; the last one is
// always "scalar".
std::span<const Kernels* const> supported_kernels();
// The table of this name, or null. An empty name asks for the one in the environment variable
// NEARFIELD_KERNELS and, when that is not set, for the fastest.
const Kernels* find_kernels(std::string_view name);

// Whether every kernel of `table` gives scalar's bits on a few fixed inputs; takes well under a
// millisecond. Engines exist whose vector instructions are wrong (Node 20: the relaxed integer
// dot), so a program that chose a table by features alone asks this before it trusts it.
bool self_check(const Kernels& table);

}  // namespace nearfield
