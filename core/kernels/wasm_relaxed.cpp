// WebAssembly relaxed SIMD: the plain float kernels, and u7 by the relaxed dot product, which adds
// four neighbouring byte products to each of four 32-bit lanes. Its result is open only for
// operands with the top bit set; codes have none. (Relaxed multiply-add is of no use here: whether
// it fuses is the engine's choice.)
//
// Blocks of u7 are an outer product, which needs no sums across lanes. 8 rows of b are packed into
// a panel, four bytes of each row side by side; four bytes of a row of a are repeated over all
// lanes:
//
//                  b0 b1 b2 b3   b4 b5 b6 b7     <- 4 bytes of each of 8 rows of b
//   a0 a0 a0 a0 [  sums 0,0..3 |  sums 0,4..7 ]
//   a1 a1 a1 a1 [  sums 1,0..3 |  sums 1,4..7 ]
//   ...                             4 rows of a: 8 registers of sums
#include <wasm_simd128.h>

#include "kernels/tables.h"

namespace nearfield::wasm_relaxed {
namespace {

v128_t add_products(v128_t sum, v128_t a, v128_t b) {
  return wasm_i32x4_relaxed_dot_i8x16_i7x16_add(a, b, sum);
}

int32_t dot_u7(const uint8_t* a, const uint8_t* b, size_t n) {
  v128_t s[4];
  for (int k = 0; k < 4; ++k) s[k] = wasm_i32x4_const_splat(0);
  for (size_t i = 0; i < n; i += 64) {
    for (int k = 0; k < 4; ++k) {
      s[k] = add_products(s[k], wasm_v128_load(a + i + 16 * k), wasm_v128_load(b + i + 16 * k));
    }
  }
  const v128_t x = wasm_i32x4_add(wasm_i32x4_add(s[0], s[1]), wasm_i32x4_add(s[2], s[3]));
  const v128_t y = wasm_i32x4_add(x, wasm_i32x4_shuffle(x, x, 2, 3, 2, 3));
  return wasm_i32x4_extract_lane(y, 0) + wasm_i32x4_extract_lane(y, 1);
}

void dot4_u7(const uint8_t* query, const uint8_t* const rows[4], size_t n, int32_t out[4]) {
  v128_t even[4], odd[4];
  for (int r = 0; r < 4; ++r) even[r] = odd[r] = wasm_i32x4_const_splat(0);
  const uint8_t* const row[4] = {rows[0], rows[1], rows[2], rows[3]};
  for (size_t i = 0; i < n; i += 32) {
    const v128_t q0 = wasm_v128_load(query + i);
    const v128_t q1 = wasm_v128_load(query + i + 16);
    for (int r = 0; r < 4; ++r) {
      even[r] = add_products(even[r], q0, wasm_v128_load(row[r] + i));
      odd[r] = add_products(odd[r], q1, wasm_v128_load(row[r] + i + 16));
    }
  }
  for (int r = 0; r < 4; ++r) even[r] = wasm_i32x4_add(even[r], odd[r]);
  const v128_t s01 = wasm_i32x4_add(wasm_i32x4_shuffle(even[0], even[1], 0, 4, 1, 5),
                                    wasm_i32x4_shuffle(even[0], even[1], 2, 6, 3, 7));
  const v128_t s23 = wasm_i32x4_add(wasm_i32x4_shuffle(even[2], even[3], 0, 4, 1, 5),
                                    wasm_i32x4_shuffle(even[2], even[3], 2, 6, 3, 7));
  wasm_v128_store(out, wasm_i32x4_add(wasm_i32x4_shuffle(s01, s23, 0, 1, 4, 5),
                                      wasm_i32x4_shuffle(s01, s23, 2, 3, 6, 7)));
}

constexpr size_t kTileRows = 4;
constexpr size_t kTileColumns = 8;
constexpr size_t kDepth = 512;  // bytes of each row in a panel: 4 KiB

// Packs `depth` bytes of 4 rows, `stride` apart, to every second 16 bytes of `panel`. A row past
// the last one is the last one again; its sums are not stored.
void pack4(const uint8_t* rows, size_t last, size_t stride, size_t depth, uint8_t* panel) {
  const uint8_t* row[4];
  for (size_t r = 0; r < 4; ++r) row[r] = rows + (r < last ? r : last) * stride;
  for (size_t k = 0; k < depth; k += 16) {
    const v128_t x0 = wasm_v128_load(row[0] + k), x1 = wasm_v128_load(row[1] + k);
    const v128_t x2 = wasm_v128_load(row[2] + k), x3 = wasm_v128_load(row[3] + k);
    const v128_t t0 = wasm_i32x4_shuffle(x0, x1, 0, 4, 1, 5);
    const v128_t t1 = wasm_i32x4_shuffle(x0, x1, 2, 6, 3, 7);
    const v128_t t2 = wasm_i32x4_shuffle(x2, x3, 0, 4, 1, 5);
    const v128_t t3 = wasm_i32x4_shuffle(x2, x3, 2, 6, 3, 7);
    uint8_t* const to = panel + k * kTileColumns;
    wasm_v128_store(to, wasm_i64x2_shuffle(t0, t2, 0, 2));
    wasm_v128_store(to + 32, wasm_i64x2_shuffle(t0, t2, 1, 3));
    wasm_v128_store(to + 64, wasm_i64x2_shuffle(t1, t3, 0, 2));
    wasm_v128_store(to + 96, wasm_i64x2_shuffle(t1, t3, 1, 3));
  }
}

// Part of the block: Rows rows of a by all columns of the panel.
template <size_t Rows>
void tile(const uint8_t* a, size_t stride, const uint8_t* panel, size_t depth, int32_t* out,
          size_t out_stride, bool add) {
  v128_t sum0[Rows], sum1[Rows];
  for (size_t r = 0; r < Rows; ++r) {
    sum0[r] = add ? wasm_v128_load(out + r * out_stride) : wasm_i32x4_const_splat(0);
    sum1[r] = add ? wasm_v128_load(out + r * out_stride + 4) : wasm_i32x4_const_splat(0);
  }
  for (size_t k = 0; k < depth; k += 4, panel += 4 * kTileColumns) {
    const v128_t b0 = wasm_v128_load(panel);
    const v128_t b1 = wasm_v128_load(panel + 16);
    for (size_t r = 0; r < Rows; ++r) {
      const v128_t x = wasm_v128_load32_splat(a + r * stride + k);
      sum0[r] = add_products(sum0[r], b0, x);
      sum1[r] = add_products(sum1[r], b1, x);
    }
  }
  for (size_t r = 0; r < Rows; ++r) {
    wasm_v128_store(out + r * out_stride, sum0[r]);
    wasm_v128_store(out + r * out_stride + 4, sum1[r]);
  }
}

using Tile = void (*)(const uint8_t*, size_t, const uint8_t*, size_t, int32_t*, size_t, bool);
constexpr Tile kTiles[kTileRows + 1] = {nullptr, tile<1>, tile<2>, tile<3>, tile<4>};

void dot_block_u7(const uint8_t* a, size_t rows_a, const uint8_t* b, size_t rows_b, size_t n,
                  int32_t* out, size_t out_stride) {
  alignas(64) uint8_t panel[kTileColumns * kDepth];
  for (size_t j = 0; j < rows_b; j += kTileColumns) {
    const size_t columns = rows_b - j < kTileColumns ? rows_b - j : kTileColumns;
    const size_t last = columns - 1;
    for (size_t k = 0; k < n; k += kDepth) {
      const size_t depth = n - k < kDepth ? n - k : kDepth;
      const bool add = k > 0;
      pack4(b + j * n + k, last, n, depth, panel);
      if (columns > 4) pack4(b + (j + 4) * n + k, last - 4, n, depth, panel + 16);
      for (size_t i = 0; i < rows_a; i += kTileRows) {
        const size_t rows = rows_a - i < kTileRows ? rows_a - i : kTileRows;
        int32_t* const to = out + i * out_stride + j;
        if (columns == kTileColumns) {
          kTiles[rows](a + i * n + k, n, panel, depth, to, out_stride, add);
          continue;
        }
        int32_t sums[kTileRows * kTileColumns];
        kTiles[rows](a + i * n + k, n, panel, depth, sums, kTileColumns, false);
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

const Kernels kTable = {"wasm-relaxed",
                        wasm_simd::dot_f32,
                        wasm_simd::l2_f32,
                        wasm_simd::dot4_f32,
                        wasm_simd::l24_f32,
                        wasm_simd::dot_f16,
                        wasm_simd::l2_f16,
                        wasm_simd::dot4_f16,
                        wasm_simd::l24_f16,
                        dot_u7,
                        dot4_u7,
                        dot_block_u7};

}  // namespace nearfield::wasm_relaxed
