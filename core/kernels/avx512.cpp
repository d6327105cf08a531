// AVX-512 with VNNI (Ice Lake, Cascade Lake, Zen 4 and later).
//
// f32: the 32 lanes in two registers; a half step touches the first only.
//
//   low  [ 0  1 ... 15 ]      low + high -> 16 -> 8 -> 4 -> 2 -> 1
//   high [16 17 ... 31 ]
//
// u7: vpdpbusd adds four neighbouring byte products to each of sixteen 32-bit lanes. GCC keeps
// arrays of registers in registers only where their loops are unrolled early, hence the pragmas.
//
// Blocks of u7 are an outer product, which needs no sums across lanes. 32 rows of b are packed into
// a panel, four bytes of each row side by side; four bytes of a row of a are repeated over all
// lanes:
//
//                     b0 b1 ... b15   b16 ... b31     <- 4 bytes of each of 32 rows of b
//   a0 a0 a0 ... a0 [   sums 0,0..15 |  sums 0,16..31 ]
//   a1 a1 a1 ... a1 [   sums 1,0..15 |  sums 1,16..31 ]
//   ...                                  8 rows of a: 16 registers of sums
#include <immintrin.h>

#include "kernels/tables.h"

namespace nearfield::avx512 {
namespace {

struct Dot {
  static __m512 term(__m512 a, __m512 b) { return _mm512_mul_ps(a, b); }
};
struct L2 {
  static __m512 term(__m512 a, __m512 b) {
    const __m512 difference = _mm512_sub_ps(a, b);
    return _mm512_mul_ps(difference, difference);
  }
};

// Sixteen values of a row.
__m512 load_floats(const float* row) { return _mm512_loadu_ps(row); }
__m512 load_floats(const uint16_t* row) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row)));
}

// 32 lanes to 4.
__m128 fold(__m512 low, __m512 high) {
  const __m512 sum16 = _mm512_add_ps(low, high);
  const __m256 upper = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(sum16), 1));
  const __m256 sum8 = _mm256_add_ps(_mm512_castps512_ps256(sum16), upper);
  return _mm_add_ps(_mm256_castps256_ps128(sum8), _mm256_extractf128_ps(sum8, 1));
}

template <class Op, class Row>
float one(const float* a, const Row* b, size_t n) {
  __m512 low = _mm512_setzero_ps();
  __m512 high = _mm512_setzero_ps();
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    low = _mm512_add_ps(low, Op::term(load_floats(a + i), load_floats(b + i)));
    high = _mm512_add_ps(high, Op::term(load_floats(a + i + 16), load_floats(b + i + 16)));
  }
  if (i < n) low = _mm512_add_ps(low, Op::term(load_floats(a + i), load_floats(b + i)));
  const __m128 sum4 = fold(low, high);
  const __m128 sum2 = _mm_add_ps(sum4, _mm_movehl_ps(sum4, sum4));
  return _mm_cvtss_f32(_mm_add_ss(sum2, _mm_shuffle_ps(sum2, sum2, 1)));
}

template <class Op, class Row>
void four(const float* query, const Row* const rows[4], size_t n, float out[4]) {
  __m512 low[4], high[4];
  for (int r = 0; r < 4; ++r) low[r] = high[r] = _mm512_setzero_ps();
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m512 q0 = load_floats(query + i);
    const __m512 q1 = load_floats(query + i + 16);
    for (int r = 0; r < 4; ++r) {
      low[r] = _mm512_add_ps(low[r], Op::term(q0, load_floats(rows[r] + i)));
      high[r] = _mm512_add_ps(high[r], Op::term(q1, load_floats(rows[r] + i + 16)));
    }
  }
  if (i < n) {
    const __m512 q0 = load_floats(query + i);
    for (int r = 0; r < 4; ++r) {
      low[r] = _mm512_add_ps(low[r], Op::term(q0, load_floats(rows[r] + i)));
    }
  }
  // Four rows at once: lanes 0, 1 + lanes 2, 3 of each row, then lane 0 + lane 1.
  const __m128 s0 = fold(low[0], high[0]), s1 = fold(low[1], high[1]);
  const __m128 s2 = fold(low[2], high[2]), s3 = fold(low[3], high[3]);
  const __m128 s01 = _mm_add_ps(_mm_unpacklo_ps(s0, s1), _mm_unpackhi_ps(s0, s1));
  const __m128 s23 = _mm_add_ps(_mm_unpacklo_ps(s2, s3), _mm_unpackhi_ps(s2, s3));
  _mm_storeu_ps(out, _mm_add_ps(_mm_movelh_ps(s01, s23), _mm_movehl_ps(s23, s01)));
}

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

__m512i load(const uint8_t* p) { return _mm512_loadu_si512(p); }

void add_products(__m512i& sum, __m512i a, __m512i b) {
  sum = _mm512_dpbusd_epi32(sum, a, b);
  __asm__("" : "+v"(sum));  // GCC 12 otherwise copies every sum twice in each step of a loop
}

int32_t dot_u7(const uint8_t* a, const uint8_t* b, size_t n) {
  // Four sums, because vpdpbusd takes several cycles but can start two in each.
  __m512i s0 = _mm512_setzero_si512(), s1 = s0, s2 = s0, s3 = s0;
  size_t i = 0;
  for (; i + 256 <= n; i += 256) {
    add_products(s0, load(a + i), load(b + i));
    add_products(s1, load(a + i + 64), load(b + i + 64));
    add_products(s2, load(a + i + 128), load(b + i + 128));
    add_products(s3, load(a + i + 192), load(b + i + 192));
  }
  if (i + 128 <= n) {
    add_products(s0, load(a + i), load(b + i));
    add_products(s1, load(a + i + 64), load(b + i + 64));
    i += 128;
  }
  if (i < n) add_products(s2, load(a + i), load(b + i));
  return _mm512_reduce_add_epi32(
      _mm512_add_epi32(_mm512_add_epi32(s0, s1), _mm512_add_epi32(s2, s3)));
}

void dot4_u7(const uint8_t* query, const uint8_t* const rows[4], size_t n, int32_t out[4]) {
  __m512i even[4], odd[4];
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) even[r] = odd[r] = _mm512_setzero_si512();
  size_t i = 0;
  for (; i + 128 <= n; i += 128) {
    const __m512i q0 = load(query + i);
    const __m512i q1 = load(query + i + 64);
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      add_products(even[r], q0, load(rows[r] + i));
      add_products(odd[r], q1, load(rows[r] + i + 64));
    }
  }
  if (i < n) {
    const __m512i q0 = load(query + i);
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) add_products(even[r], q0, load(rows[r] + i));
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) even[r] = _mm512_add_epi32(even[r], odd[r]);
  const __m512i s01 = _mm512_add_epi32(_mm512_unpacklo_epi32(even[0], even[1]),
                                       _mm512_unpackhi_epi32(even[0], even[1]));
  const __m512i s23 = _mm512_add_epi32(_mm512_unpacklo_epi32(even[2], even[3]),
                                       _mm512_unpackhi_epi32(even[2], even[3]));
  // Every 128-bit part now holds a sum of each row.
  const __m512i parts =
      _mm512_add_epi32(_mm512_unpacklo_epi64(s01, s23), _mm512_unpackhi_epi64(s01, s23));
  const __m256i half =
      _mm256_add_epi32(_mm512_castsi512_si256(parts), _mm512_extracti64x4_epi64(parts, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                   _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));
}

constexpr size_t kTileRows = 8;
constexpr size_t kTileColumns = 32;
constexpr size_t kDepth = 512;  // bytes of each row in a panel: 16 KiB, half of a first-level cache

// Packs `depth` bytes of 16 rows, `stride` apart, to every second 64 bytes of `panel`. A row past
// the last one is the last one again; its sums are not stored.
void pack16(const uint8_t* rows, size_t last, size_t stride, size_t depth, uint8_t* panel) {
  const uint8_t* row[16];
  for (size_t r = 0; r < 16; ++r) row[r] = rows + (r < last ? r : last) * stride;
  const auto load16 = [](const uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  };
  for (size_t k = 0; k < depth; k += 16) {
    // 16 bytes of rows r, r + 4, r + 8 and r + 12; then a 4 x 4 transposition in each 128-bit part.
    __m512i x[4];
    for (size_t r = 0; r < 4; ++r) {
      x[r] = _mm512_castsi128_si512(load16(row[r] + k));
      x[r] = _mm512_inserti32x4(x[r], load16(row[r + 4] + k), 1);
      x[r] = _mm512_inserti32x4(x[r], load16(row[r + 8] + k), 2);
      x[r] = _mm512_inserti32x4(x[r], load16(row[r + 12] + k), 3);
    }
    const __m512i t0 = _mm512_unpacklo_epi32(x[0], x[1]), t1 = _mm512_unpackhi_epi32(x[0], x[1]);
    const __m512i t2 = _mm512_unpacklo_epi32(x[2], x[3]), t3 = _mm512_unpackhi_epi32(x[2], x[3]);
    uint8_t* to = panel + k * kTileColumns;
    _mm512_store_si512(to, _mm512_unpacklo_epi64(t0, t2));
    _mm512_store_si512(to + 128, _mm512_unpackhi_epi64(t0, t2));
    _mm512_store_si512(to + 256, _mm512_unpacklo_epi64(t1, t3));
    _mm512_store_si512(to + 384, _mm512_unpackhi_epi64(t1, t3));
  }
}

// Part of the block: Rows rows of a by the columns of the panel that `columns` has a bit for.
template <size_t Rows>
void tile(const uint8_t* a, size_t stride, const uint8_t* panel, size_t depth, int32_t* out,
          size_t out_stride, uint32_t columns, bool add) {
  const __mmask16 mask0 = static_cast<__mmask16>(columns);
  const __mmask16 mask1 = static_cast<__mmask16>(columns >> 16);
  __m512i sum0[Rows], sum1[Rows];
#pragma GCC unroll 8
  for (size_t r = 0; r < Rows; ++r) {
    sum0[r] = sum1[r] = _mm512_setzero_si512();
    if (add) {
      sum0[r] = _mm512_maskz_loadu_epi32(mask0, out + r * out_stride);
      sum1[r] = _mm512_maskz_loadu_epi32(mask1, out + r * out_stride + 16);
    }
  }
  for (size_t k = 0; k < depth; k += 4, panel += 4 * kTileColumns) {
    const __m512i b0 = load(panel);
    const __m512i b1 = load(panel + 64);
#pragma GCC unroll 8
    for (size_t r = 0; r < Rows; ++r) {
      int32_t four_bytes;
      __builtin_memcpy(&four_bytes, a + r * stride + k, 4);
      const __m512i x = _mm512_set1_epi32(four_bytes);
      add_products(sum0[r], b0, x);
      add_products(sum1[r], b1, x);
    }
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < Rows; ++r) {
    _mm512_mask_storeu_epi32(out + r * out_stride, mask0, sum0[r]);
    _mm512_mask_storeu_epi32(out + r * out_stride + 16, mask1, sum1[r]);
  }
}

using Tile = void (*)(const uint8_t*, size_t, const uint8_t*, size_t, int32_t*, size_t, uint32_t,
                      bool);
constexpr Tile kTiles[kTileRows + 1] = {nullptr, tile<1>, tile<2>, tile<3>, tile<4>,
                                        tile<5>, tile<6>, tile<7>, tile<8>};

void dot_block_u7(const uint8_t* a, size_t rows_a, const uint8_t* b, size_t rows_b, size_t n,
                  int32_t* out, size_t out_stride) {
  alignas(64) uint8_t panel[kTileColumns * kDepth];
  for (size_t j = 0; j < rows_b; j += kTileColumns) {
    const size_t count = rows_b - j < kTileColumns ? rows_b - j : kTileColumns;
    const size_t last = count - 1;
    const uint32_t columns = 0xffffffffu >> (kTileColumns - count);
    for (size_t k = 0; k < n; k += kDepth) {
      const size_t depth = n - k < kDepth ? n - k : kDepth;
      pack16(b + j * n + k, last, n, depth, panel);
      if (count > 16) pack16(b + (j + 16) * n + k, last - 16, n, depth, panel + 64);
      for (size_t i = 0; i < rows_a; i += kTileRows) {
        const size_t rows = rows_a - i < kTileRows ? rows_a - i : kTileRows;
        kTiles[rows](a + i * n + k, n, panel, depth, out + i * out_stride + j, out_stride, columns,
                     k > 0);
      }
    }
  }
}

}  // namespace

const Kernels kTable = {"avx512", dot_f32,  l2_f32,  dot4_f32, l24_f32, dot_f16,
                        l2_f16,   dot4_f16, l24_f16, dot_u7,   dot4_u7, dot_block_u7};

}  // namespace nearfield::avx512
