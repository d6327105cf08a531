// AVX2: the floor of what native programs on x86-64 meet today.
//
// f32: the 32 lanes in four registers; a half step touches the first two only.
//
//   s0 [ 0 ..  7]   s1 [ 8 .. 15]   s2 [16 .. 23]   s3 [24 .. 31]
//   16 to 16: s0 + s2, s1 + s3      8 to 8: their sum      then 4, 2, 1
//
// There are 16 registers, so four rows at a time go two by two: 8 of them hold sums.
//
// u7: vpmaddubsw adds neighbouring byte products to 16 bits (at most 2 * 127 * 127, which fits),
// vpmaddwd with ones adds those to 32.
//
// Blocks of u7 are an outer product, which needs no sums across lanes. 16 rows of b are packed into
// a panel, four bytes of each row side by side; four bytes of a row of a are repeated over all
// lanes:
//
//                     b0 b1 ... b7   b8 ... b15     <- 4 bytes of each of 16 rows of b
//   a0 a0 a0 ... a0 [  sums 0,0..7 |  sums 0,8..15 ]
//   a1 a1 a1 ... a1 [  sums 1,0..7 |  sums 1,8..15 ]
//   ...                                4 rows of a: 8 registers of sums
#include <immintrin.h>

#include "kernels/tables.h"

namespace nearfield::avx2 {
namespace {

struct Dot {
  static __m256 term(__m256 a, __m256 b) { return _mm256_mul_ps(a, b); }
};
struct L2 {
  static __m256 term(__m256 a, __m256 b) {
    const __m256 difference = _mm256_sub_ps(a, b);
    return _mm256_mul_ps(difference, difference);
  }
};

// The 32 lanes of one row.
struct Lanes {
  __m256 s0, s1, s2, s3;
};

Lanes zero() {
  const __m256 z = _mm256_setzero_ps();
  return {z, z, z, z};
}

// Eight values of a row.
__m256 load_floats(const float* row) { return _mm256_loadu_ps(row); }
__m256 load_floats(const uint16_t* row) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row)));
}

template <class Op, class Row>
void add_half(Lanes& lanes, const float* a, const Row* b) {
  lanes.s0 = _mm256_add_ps(lanes.s0, Op::term(load_floats(a), load_floats(b)));
  lanes.s1 = _mm256_add_ps(lanes.s1, Op::term(load_floats(a + 8), load_floats(b + 8)));
}

template <class Op, class Row>
void add_whole(Lanes& lanes, const float* a, const Row* b) {
  add_half<Op>(lanes, a, b);
  lanes.s2 = _mm256_add_ps(lanes.s2, Op::term(load_floats(a + 16), load_floats(b + 16)));
  lanes.s3 = _mm256_add_ps(lanes.s3, Op::term(load_floats(a + 24), load_floats(b + 24)));
}

// 32 lanes to 4.
__m128 fold(const Lanes& lanes) {
  const __m256 sum8 =
      _mm256_add_ps(_mm256_add_ps(lanes.s0, lanes.s2), _mm256_add_ps(lanes.s1, lanes.s3));
  return _mm_add_ps(_mm256_castps256_ps128(sum8), _mm256_extractf128_ps(sum8, 1));
}

template <class Op, class Row>
float one(const float* a, const Row* b, size_t n) {
  Lanes lanes = zero();
  size_t i = 0;
  for (; i + 32 <= n; i += 32) add_whole<Op>(lanes, a + i, b + i);
  if (i < n) add_half<Op>(lanes, a + i, b + i);
  const __m128 sum4 = fold(lanes);
  const __m128 sum2 = _mm_add_ps(sum4, _mm_movehl_ps(sum4, sum4));
  return _mm_cvtss_f32(_mm_add_ss(sum2, _mm_shuffle_ps(sum2, sum2, 1)));
}

// Lanes 0 + 2 and 1 + 3 of two rows: [r0 r1 r0 r1].
template <class Op, class Row>
__m128 two(const float* query, const Row* row0, const Row* row1, size_t n) {
  Lanes lanes0 = zero(), lanes1 = zero();
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    add_whole<Op>(lanes0, query + i, row0 + i);
    add_whole<Op>(lanes1, query + i, row1 + i);
  }
  if (i < n) {
    add_half<Op>(lanes0, query + i, row0 + i);
    add_half<Op>(lanes1, query + i, row1 + i);
  }
  const __m128 x = fold(lanes0), y = fold(lanes1);
  return _mm_add_ps(_mm_unpacklo_ps(x, y), _mm_unpackhi_ps(x, y));
}

template <class Op, class Row>
void four(const float* query, const Row* const rows[4], size_t n, float out[4]) {
  const __m128 s01 = two<Op>(query, rows[0], rows[1], n);
  const __m128 s23 = two<Op>(query, rows[2], rows[3], n);
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

__m256i load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
void store(void* p, __m256i x) { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }

__m256i add_products(__m256i sum, __m256i a, __m256i b) {
  const __m256i pairs = _mm256_maddubs_epi16(a, b);
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

int32_t dot_u7(const uint8_t* a, const uint8_t* b, size_t n) {
  __m256i s0 = _mm256_setzero_si256(), s1 = s0, s2 = s0, s3 = s0;
  size_t i = 0;
  for (; i + 128 <= n; i += 128) {
    s0 = add_products(s0, load(a + i), load(b + i));
    s1 = add_products(s1, load(a + i + 32), load(b + i + 32));
    s2 = add_products(s2, load(a + i + 64), load(b + i + 64));
    s3 = add_products(s3, load(a + i + 96), load(b + i + 96));
  }
  if (i < n) {
    s0 = add_products(s0, load(a + i), load(b + i));
    s1 = add_products(s1, load(a + i + 32), load(b + i + 32));
  }
  const __m256i sum8 = _mm256_add_epi32(_mm256_add_epi32(s0, s1), _mm256_add_epi32(s2, s3));
  const __m128i sum4 =
      _mm_add_epi32(_mm256_castsi256_si128(sum8), _mm256_extracti128_si256(sum8, 1));
  const __m128i sum2 = _mm_add_epi32(sum4, _mm_unpackhi_epi64(sum4, sum4));
  return _mm_cvtsi128_si32(_mm_add_epi32(sum2, _mm_shuffle_epi32(sum2, 1)));
}

void dot4_u7(const uint8_t* query, const uint8_t* const rows[4], size_t n, int32_t out[4]) {
  __m256i s[4];
  for (int r = 0; r < 4; ++r) s[r] = _mm256_setzero_si256();
  for (size_t i = 0; i < n; i += 32) {
    const __m256i q = load(query + i);
    for (int r = 0; r < 4; ++r) s[r] = add_products(s[r], q, load(rows[r] + i));
  }
  const __m256i s01 = _mm256_hadd_epi32(s[0], s[1]);
  const __m256i s23 = _mm256_hadd_epi32(s[2], s[3]);
  const __m256i sums = _mm256_hadd_epi32(s01, s23);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                   _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1)));
}

constexpr size_t kTileRows = 4;
constexpr size_t kTileColumns = 16;
constexpr size_t kDepth =
    512;  // bytes of each row in a panel: 8 KiB, a quarter of a first-level cache

// Packs `depth` bytes of 8 rows, `stride` apart, to every second 32 bytes of `panel`. A row past
// the last one is the last one again; its sums are not stored.
void pack8(const uint8_t* rows, size_t last, size_t stride, size_t depth, uint8_t* panel) {
  const uint8_t* row[8];
  for (size_t r = 0; r < 8; ++r) row[r] = rows + (r < last ? r : last) * stride;
  const auto load16 = [](const uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  };
  for (size_t k = 0; k < depth; k += 16) {
    // 16 bytes of rows r and r + 4; then a 4 x 4 transposition in each 128-bit half.
    __m256i x[4];
    for (size_t r = 0; r < 4; ++r) {
      x[r] = _mm256_inserti128_si256(_mm256_castsi128_si256(load16(row[r] + k)),
                                     load16(row[r + 4] + k), 1);
    }
    const __m256i t0 = _mm256_unpacklo_epi32(x[0], x[1]), t1 = _mm256_unpackhi_epi32(x[0], x[1]);
    const __m256i t2 = _mm256_unpacklo_epi32(x[2], x[3]), t3 = _mm256_unpackhi_epi32(x[2], x[3]);
    uint8_t* to = panel + k * kTileColumns;
    store(to, _mm256_unpacklo_epi64(t0, t2));
    store(to + 64, _mm256_unpackhi_epi64(t0, t2));
    store(to + 128, _mm256_unpacklo_epi64(t1, t3));
    store(to + 192, _mm256_unpackhi_epi64(t1, t3));
  }
}

// Part of the block: Rows rows of a by all columns of the panel.
template <size_t Rows>
void tile(const uint8_t* a, size_t stride, const uint8_t* panel, size_t depth, int32_t* out,
          size_t out_stride, bool add) {
  __m256i sum0[Rows], sum1[Rows];
  for (size_t r = 0; r < Rows; ++r) {
    sum0[r] = add ? load(out + r * out_stride) : _mm256_setzero_si256();
    sum1[r] = add ? load(out + r * out_stride + 8) : _mm256_setzero_si256();
  }
  for (size_t k = 0; k < depth; k += 4, panel += 4 * kTileColumns) {
    const __m256i b0 = load(panel);
    const __m256i b1 = load(panel + 32);
    for (size_t r = 0; r < Rows; ++r) {
      int32_t four_bytes;
      __builtin_memcpy(&four_bytes, a + r * stride + k, 4);
      const __m256i x = _mm256_set1_epi32(four_bytes);
      sum0[r] = add_products(sum0[r], b0, x);
      sum1[r] = add_products(sum1[r], b1, x);
    }
  }
  for (size_t r = 0; r < Rows; ++r) {
    store(out + r * out_stride, sum0[r]);
    store(out + r * out_stride + 8, sum1[r]);
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
      pack8(b + j * n + k, last, n, depth, panel);
      if (columns > 8) pack8(b + (j + 8) * n + k, last - 8, n, depth, panel + 32);
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

const Kernels kTable = {"avx2", dot_f32,  l2_f32,  dot4_f32, l24_f32, dot_f16,
                        l2_f16, dot4_f16, l24_f16, dot_u7,   dot4_u7, dot_block_u7};

}  // namespace nearfield::avx2
