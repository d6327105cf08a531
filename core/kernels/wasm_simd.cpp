// WebAssembly SIMD: 128-bit registers, in every engine.
//
// f32: the 32 lanes in eight registers; a half step touches the first four only.
//
//   s0 [ 0 1 2 3]  s1 [ 4 5 6 7]  s2 [ 8 .. 11]  s3 [12 .. 15]
//   s4 [16 .. 19]  s5 [20 .. 23]  s6 [24 .. 27]  s7 [28 .. 31]
//   16 to 16: s0 + s4, s1 + s5, ...   8 to 8: those of s0 and s2, s1 and s3   then 4, 2, 1
//
// Behind most engines there are 16 registers, so rows go one by one: 8 of them hold sums.
//
// f16: there is no instruction that widens halves. Their bits, moved to the places of a float's,
// are floats 2^112 times too small (base/half.h), subnormal ones too, so a product makes them
// right.
//
// u7: bytes widen to 16 bits; i32x4.dot_i16x8_s multiplies those and adds neighbours.
//
// Blocks of u7 are an outer product, which needs no sums across lanes. 8 rows of b are widened and
// packed into a panel, two values of each row side by side, and 4 rows of a are widened too; two
// values of a row of a are repeated over all lanes:
//
//                  b0 b1 b2 b3   b4 b5 b6 b7     <- 2 values of each of 8 rows of b
//   a0 a0 a0 a0 [  sums 0,0..3 |  sums 0,4..7 ]
//   a1 a1 a1 a1 [  sums 1,0..3 |  sums 1,4..7 ]
//   ...                             4 rows of a: 8 registers of sums
#include <wasm_simd128.h>

#include "kernels/tables.h"

namespace nearfield::wasm_simd {
namespace {

struct Dot {
  static v128_t term(v128_t a, v128_t b) { return wasm_f32x4_mul(a, b); }
};
struct L2 {
  static v128_t term(v128_t a, v128_t b) {
    const v128_t difference = wasm_f32x4_sub(a, b);
    return wasm_f32x4_mul(difference, difference);
  }
};

// Four values of a row.
v128_t load_floats(const float* row) { return wasm_v128_load(row); }
v128_t load_floats(const uint16_t* row) {
  // Widened with their sign, so that after the shift the top bit is the sign and stays.
  const v128_t shifted = wasm_i32x4_shl(wasm_i32x4_load16x4(row), 13);
  const v128_t small = wasm_v128_and(shifted, wasm_u32x4_const_splat(0x8fffe000u));
  return wasm_f32x4_mul(small, wasm_f32x4_const_splat(0x1p112F));
}

// The 32 lanes of one row, added up to 4.
template <class Op, class Row>
v128_t sum4(const float* a, const Row* b, size_t n) {
  v128_t s[8];
  for (int k = 0; k < 8; ++k) s[k] = wasm_f32x4_const_splat(0);
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    for (int k = 0; k < 8; ++k) {
      const v128_t x = load_floats(a + i + 4 * k);
      s[k] = wasm_f32x4_add(s[k], Op::term(x, load_floats(b + i + 4 * k)));
    }
  }
  if (i < n) {
    for (int k = 0; k < 4; ++k) {
      const v128_t x = load_floats(a + i + 4 * k);
      s[k] = wasm_f32x4_add(s[k], Op::term(x, load_floats(b + i + 4 * k)));
    }
  }
  for (int k = 0; k < 4; ++k) s[k] = wasm_f32x4_add(s[k], s[k + 4]);
  return wasm_f32x4_add(wasm_f32x4_add(s[0], s[2]), wasm_f32x4_add(s[1], s[3]));
}

template <class Op, class Row>
float one(const float* a, const Row* b, size_t n) {
  const v128_t x = sum4<Op>(a, b, n);
  const v128_t y = wasm_f32x4_add(x, wasm_i32x4_shuffle(x, x, 2, 3, 2, 3));
  return wasm_f32x4_extract_lane(y, 0) + wasm_f32x4_extract_lane(y, 1);
}

template <class Op, class Row>
void four(const float* query, const Row* const rows[4], size_t n, float out[4]) {
  const v128_t s0 = sum4<Op>(query, rows[0], n), s1 = sum4<Op>(query, rows[1], n);
  const v128_t s2 = sum4<Op>(query, rows[2], n), s3 = sum4<Op>(query, rows[3], n);
  // Four rows at once: lanes 0, 1 + lanes 2, 3 of each row, then lane 0 + lane 1.
  const v128_t s01 = wasm_f32x4_add(wasm_i32x4_shuffle(s0, s1, 0, 4, 1, 5),
                                    wasm_i32x4_shuffle(s0, s1, 2, 6, 3, 7));
  const v128_t s23 = wasm_f32x4_add(wasm_i32x4_shuffle(s2, s3, 0, 4, 1, 5),
                                    wasm_i32x4_shuffle(s2, s3, 2, 6, 3, 7));
  wasm_v128_store(out, wasm_f32x4_add(wasm_i32x4_shuffle(s01, s23, 0, 1, 4, 5),
                                      wasm_i32x4_shuffle(s01, s23, 2, 3, 6, 7)));
}

v128_t load8(const uint8_t* p) { return wasm_u16x8_load8x8(p); }

v128_t add_products(v128_t sum, const uint8_t* a, const uint8_t* b) {
  return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(load8(a), load8(b)));
}

int32_t dot_u7(const uint8_t* a, const uint8_t* b, size_t n) {
  v128_t s[4];
  for (int k = 0; k < 4; ++k) s[k] = wasm_i32x4_const_splat(0);
  for (size_t i = 0; i < n; i += 32) {
    for (int k = 0; k < 4; ++k) s[k] = add_products(s[k], a + i + 8 * k, b + i + 8 * k);
  }
  const v128_t x = wasm_i32x4_add(wasm_i32x4_add(s[0], s[1]), wasm_i32x4_add(s[2], s[3]));
  const v128_t y = wasm_i32x4_add(x, wasm_i32x4_shuffle(x, x, 2, 3, 2, 3));
  return wasm_i32x4_extract_lane(y, 0) + wasm_i32x4_extract_lane(y, 1);
}

void dot4_u7(const uint8_t* query, const uint8_t* const rows[4], size_t n, int32_t out[4]) {
  v128_t s[4];
  for (int r = 0; r < 4; ++r) s[r] = wasm_i32x4_const_splat(0);
  const uint8_t *row0 = rows[0], *row1 = rows[1], *row2 = rows[2], *row3 = rows[3];
  for (size_t i = 0; i < n; i += 16) {
    for (size_t k = 0; k < 16; k += 8) {
      const v128_t q = load8(query + i + k);
      s[0] = wasm_i32x4_add(s[0], wasm_i32x4_dot_i16x8(q, load8(row0 + i + k)));
      s[1] = wasm_i32x4_add(s[1], wasm_i32x4_dot_i16x8(q, load8(row1 + i + k)));
      s[2] = wasm_i32x4_add(s[2], wasm_i32x4_dot_i16x8(q, load8(row2 + i + k)));
      s[3] = wasm_i32x4_add(s[3], wasm_i32x4_dot_i16x8(q, load8(row3 + i + k)));
    }
  }
  const v128_t s01 = wasm_i32x4_add(wasm_i32x4_shuffle(s[0], s[1], 0, 4, 1, 5),
                                    wasm_i32x4_shuffle(s[0], s[1], 2, 6, 3, 7));
  const v128_t s23 = wasm_i32x4_add(wasm_i32x4_shuffle(s[2], s[3], 0, 4, 1, 5),
                                    wasm_i32x4_shuffle(s[2], s[3], 2, 6, 3, 7));
  wasm_v128_store(out, wasm_i32x4_add(wasm_i32x4_shuffle(s01, s23, 0, 1, 4, 5),
                                      wasm_i32x4_shuffle(s01, s23, 2, 3, 6, 7)));
}

constexpr size_t kTileRows = 4;
constexpr size_t kTileColumns = 8;
constexpr size_t kDepth = 512;  // values of each row in a panel: 8 KiB, and half of that for a

// Widens `depth` bytes of 4 rows, `stride` apart, and packs them to every second 16 bytes of
// `panel`. A row past the last one is the last one again; its sums are not stored.
void pack4(const uint8_t* rows, size_t last, size_t stride, size_t depth, int16_t* panel) {
  const uint8_t* row[4];
  for (size_t r = 0; r < 4; ++r) row[r] = rows + (r < last ? r : last) * stride;
  for (size_t k = 0; k < depth; k += 8) {
    const v128_t x0 = load8(row[0] + k), x1 = load8(row[1] + k);
    const v128_t x2 = load8(row[2] + k), x3 = load8(row[3] + k);
    const v128_t t0 = wasm_i32x4_shuffle(x0, x1, 0, 4, 1, 5);
    const v128_t t1 = wasm_i32x4_shuffle(x0, x1, 2, 6, 3, 7);
    const v128_t t2 = wasm_i32x4_shuffle(x2, x3, 0, 4, 1, 5);
    const v128_t t3 = wasm_i32x4_shuffle(x2, x3, 2, 6, 3, 7);
    int16_t* const to = panel + k * kTileColumns;
    wasm_v128_store(to, wasm_i64x2_shuffle(t0, t2, 0, 2));
    wasm_v128_store(to + 16, wasm_i64x2_shuffle(t0, t2, 1, 3));
    wasm_v128_store(to + 32, wasm_i64x2_shuffle(t1, t3, 0, 2));
    wasm_v128_store(to + 48, wasm_i64x2_shuffle(t1, t3, 1, 3));
  }
}

void widen(const uint8_t* row, size_t depth, int16_t* to) {
  for (size_t k = 0; k < depth; k += 8) wasm_v128_store(to + k, load8(row + k));
}

// Part of the block: Rows widened rows of a by all columns of the panel.
template <size_t Rows>
void tile(const int16_t* a, const int16_t* panel, size_t depth, int32_t* out, size_t out_stride,
          bool add) {
  v128_t sum0[Rows], sum1[Rows];
  for (size_t r = 0; r < Rows; ++r) {
    sum0[r] = add ? wasm_v128_load(out + r * out_stride) : wasm_i32x4_const_splat(0);
    sum1[r] = add ? wasm_v128_load(out + r * out_stride + 4) : wasm_i32x4_const_splat(0);
  }
  for (size_t k = 0; k < depth; k += 2, panel += 2 * kTileColumns) {
    const v128_t b0 = wasm_v128_load(panel);
    const v128_t b1 = wasm_v128_load(panel + 8);
    for (size_t r = 0; r < Rows; ++r) {
      const v128_t x = wasm_v128_load32_splat(a + r * kDepth + k);
      sum0[r] = wasm_i32x4_add(sum0[r], wasm_i32x4_dot_i16x8(b0, x));
      sum1[r] = wasm_i32x4_add(sum1[r], wasm_i32x4_dot_i16x8(b1, x));
    }
  }
  for (size_t r = 0; r < Rows; ++r) {
    wasm_v128_store(out + r * out_stride, sum0[r]);
    wasm_v128_store(out + r * out_stride + 4, sum1[r]);
  }
}

using Tile = void (*)(const int16_t*, const int16_t*, size_t, int32_t*, size_t, bool);
constexpr Tile kTiles[kTileRows + 1] = {nullptr, tile<1>, tile<2>, tile<3>, tile<4>};

void dot_block_u7(const uint8_t* a, size_t rows_a, const uint8_t* b, size_t rows_b, size_t n,
                  int32_t* out, size_t out_stride) {
  alignas(64) int16_t panel[kTileColumns * kDepth];
  alignas(64) int16_t wide[kTileRows * kDepth];
  for (size_t j = 0; j < rows_b; j += kTileColumns) {
    const size_t columns = rows_b - j < kTileColumns ? rows_b - j : kTileColumns;
    const size_t last = columns - 1;
    for (size_t k = 0; k < n; k += kDepth) {
      const size_t depth = n - k < kDepth ? n - k : kDepth;
      const bool add = k > 0;
      pack4(b + j * n + k, last, n, depth, panel);
      if (columns > 4) pack4(b + (j + 4) * n + k, last - 4, n, depth, panel + 8);
      for (size_t i = 0; i < rows_a; i += kTileRows) {
        const size_t rows = rows_a - i < kTileRows ? rows_a - i : kTileRows;
        for (size_t r = 0; r < rows; ++r) widen(a + (i + r) * n + k, depth, wide + r * kDepth);
        int32_t* const to = out + i * out_stride + j;
        if (columns == kTileColumns) {
          kTiles[rows](wide, panel, depth, to, out_stride, add);
          continue;
        }
        int32_t sums[kTileRows * kTileColumns];
        kTiles[rows](wide, panel, depth, sums, kTileColumns, false);
        for (size_t r = 0; r < rows; ++r) {
          for (size_t c = 0; c < columns; ++c) {
            to[r * out_stride + c] =
                (add ? to[r * out_stride + c] : 0) + sums[r * kTileColumns + c];
          }
        }
      }
    }
  }
}

}  // namespace

float dot_f32(const float* a, const float* b, size_t n) { return one<Dot>(a, b, n); }
float l2_f32(const float* a, const float* b, size_t n) { return one<L2>(a, b, n); }
void dot4_f32(const float* query, const float* const rows[4], size_t n, float out[4]) {
  four<Dot>(query, rows, n, out);
}
void l24_f32(const float* query, const float* const rows[4], size_t n, float out[4]) {
  four<L2>(query, rows, n, out);
}
float dot_f16(const float* query, const uint16_t* row, size_t n) { return one<Dot>(query, row, n); }
float l2_f16(const float* query, const uint16_t* row, size_t n) { return one<L2>(query, row, n); }
void dot4_f16(const float* query, const uint16_t* const rows[4], size_t n, float out[4]) {
  four<Dot>(query, rows, n, out);
}
void l24_f16(const float* query, const uint16_t* const rows[4], size_t n, float out[4]) {
  four<L2>(query, rows, n, out);
}

const Kernels kTable = {"wasm-simd", dot_f32,  l2_f32,  dot4_f32, l24_f32, dot_f16,
                        l2_f16,      dot4_f16, l24_f16, dot_u7,   dot4_u7, dot_block_u7};

}  // namespace nearfield::wasm_simd
