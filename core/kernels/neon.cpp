// NEON, on every AArch64 processor.
//
// f32: the 32 lanes in eight registers; a half step touches the first four only.
//
//   s0 [ 0 1 2 3]  s1 [ 4 5 6 7]  s2 [ 8 .. 11]  s3 [12 .. 15]
//   s4 [16 .. 19]  s5 [20 .. 23]  s6 [24 .. 27]  s7 [28 .. 31]
//   16 to 16: s0 + s4, s1 + s5, ...   8 to 8: those of s0 and s2, s1 and s3   then 4, 2, 1
//
// There are 32 registers, so four rows at a time go two by two: 16 of them hold sums.
//
// u7: a widening multiplication gives 16-bit products; two of them are added there (at most
// 2 * 127 * 127 * 2 < 2^16) before neighbours are added to 32 bits. neon_dot.cpp does better where
// the processor can.
#include <arm_neon.h>

#include "kernels/tables.h"

namespace nearfield::neon {
namespace {

struct Dot {
  static float32x4_t term(float32x4_t a, float32x4_t b) { return vmulq_f32(a, b); }
};
struct L2 {
  static float32x4_t term(float32x4_t a, float32x4_t b) {
    const float32x4_t difference = vsubq_f32(a, b);
    return vmulq_f32(difference, difference);
  }
};

// Four values of a row.
float32x4_t load_floats(const float* row) { return vld1q_f32(row); }
float32x4_t load_floats(const uint16_t* row) {
  return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(row)));
}

// 32 lanes to 4.
float32x4_t fold(float32x4_t (&s)[8]) {
  for (int k = 0; k < 4; ++k) s[k] = vaddq_f32(s[k], s[k + 4]);
  return vaddq_f32(vaddq_f32(s[0], s[2]), vaddq_f32(s[1], s[3]));
}

template <class Op, class Row>
float one(const float* a, const Row* b, size_t n) {
  float32x4_t s[8];
  for (int k = 0; k < 8; ++k) s[k] = vdupq_n_f32(0);
  const auto add = [&](size_t i, int registers) {
    for (int k = 0; k < registers; ++k) {
      s[k] = vaddq_f32(s[k], Op::term(load_floats(a + i + 4 * k), load_floats(b + i + 4 * k)));
    }
  };
  size_t i = 0;
  for (; i + 32 <= n; i += 32) add(i, 8);
  if (i < n) add(i, 4);
  const float32x4_t sum4 = fold(s);
  const float32x2_t sum2 = vadd_f32(vget_low_f32(sum4), vget_high_f32(sum4));
  return vget_lane_f32(sum2, 0) + vget_lane_f32(sum2, 1);
}

// Lanes 0 + 2 and 1 + 3 of two rows: [r0 r1 r0 r1].
template <class Op, class Row>
float32x4_t two(const float* query, const Row* row0, const Row* row1, size_t n) {
  float32x4_t s[8], t[8];
  for (int k = 0; k < 8; ++k) s[k] = t[k] = vdupq_n_f32(0);
  const auto add = [&](size_t i, int registers) {
    for (int k = 0; k < registers; ++k) {
      const float32x4_t q = load_floats(query + i + 4 * k);
      s[k] = vaddq_f32(s[k], Op::term(q, load_floats(row0 + i + 4 * k)));
      t[k] = vaddq_f32(t[k], Op::term(q, load_floats(row1 + i + 4 * k)));
    }
  };
  size_t i = 0;
  for (; i + 32 <= n; i += 32) add(i, 8);
  if (i < n) add(i, 4);
  const float32x4_t x = fold(s), y = fold(t);
  return vaddq_f32(vzip1q_f32(x, y), vzip2q_f32(x, y));
}

template <class Op, class Row>
void four(const float* query, const Row* const rows[4], size_t n, float out[4]) {
  const float32x4_t s01 = two<Op>(query, rows[0], rows[1], n);
  const float32x4_t s23 = two<Op>(query, rows[2], rows[3], n);
  const float32x4_t low = vcombine_f32(vget_low_f32(s01), vget_low_f32(s23));
  const float32x4_t high = vcombine_f32(vget_high_f32(s01), vget_high_f32(s23));
  vst1q_f32(out, vaddq_f32(low, high));
}

// Adds the products of 32 bytes.
uint32x4_t add_products(uint32x4_t sum, uint8x16_t a0, uint8x16_t a1, uint8x16_t b0,
                        uint8x16_t b1) {
  uint16x8_t low = vmull_u8(vget_low_u8(a0), vget_low_u8(b0));
  low = vmlal_u8(low, vget_low_u8(a1), vget_low_u8(b1));
  uint16x8_t high = vmull_high_u8(a0, b0);
  high = vmlal_high_u8(high, a1, b1);
  return vpadalq_u16(vpadalq_u16(sum, low), high);
}

int32_t dot_u7(const uint8_t* a, const uint8_t* b, size_t n) {
  uint32x4_t even = vdupq_n_u32(0), odd = even;
  for (size_t i = 0; i < n; i += 64) {
    even = add_products(even, vld1q_u8(a + i), vld1q_u8(a + i + 16), vld1q_u8(b + i),
                        vld1q_u8(b + i + 16));
    odd = add_products(odd, vld1q_u8(a + i + 32), vld1q_u8(a + i + 48), vld1q_u8(b + i + 32),
                       vld1q_u8(b + i + 48));
  }
  return static_cast<int32_t>(vaddvq_u32(vaddq_u32(even, odd)));
}

// Four rows and, for the blocks, several queries at a time: each load of a row serves all of them.
template <size_t Queries>
void tile(const uint8_t* query, size_t query_stride, const uint8_t* const rows[4], size_t n,
          int32_t* out, size_t out_stride) {
  uint32x4_t s[Queries][4];
  for (size_t q = 0; q < Queries; ++q) {
    for (int r = 0; r < 4; ++r) s[q][r] = vdupq_n_u32(0);
  }
  for (size_t i = 0; i < n; i += 32) {
    uint8x16_t x[Queries][2];
    for (size_t q = 0; q < Queries; ++q) {
      x[q][0] = vld1q_u8(query + q * query_stride + i);
      x[q][1] = vld1q_u8(query + q * query_stride + i + 16);
    }
    for (int r = 0; r < 4; ++r) {
      const uint8x16_t y0 = vld1q_u8(rows[r] + i), y1 = vld1q_u8(rows[r] + i + 16);
      for (size_t q = 0; q < Queries; ++q)
        s[q][r] = add_products(s[q][r], x[q][0], x[q][1], y0, y1);
    }
  }
  for (size_t q = 0; q < Queries; ++q) {
    const uint32x4_t sums = vpaddq_u32(vpaddq_u32(s[q][0], s[q][1]), vpaddq_u32(s[q][2], s[q][3]));
    vst1q_s32(out + q * out_stride, vreinterpretq_s32_u32(sums));
  }
}

void dot4_u7(const uint8_t* query, const uint8_t* const rows[4], size_t n, int32_t out[4]) {
  tile<1>(query, 0, rows, n, out, 0);
}

void dot_block_u7(const uint8_t* a, size_t rows_a, const uint8_t* b, size_t rows_b, size_t n,
                  int32_t* out, size_t out_stride) {
  size_t j = 0;
  for (; j + 4 <= rows_b; j += 4) {
    const uint8_t* const rows[4] = {b + j * n, b + (j + 1) * n, b + (j + 2) * n, b + (j + 3) * n};
    size_t i = 0;
    for (; i + 4 <= rows_a; i += 4)
      tile<4>(a + i * n, n, rows, n, out + i * out_stride + j, out_stride);
    for (; i < rows_a; ++i) tile<1>(a + i * n, n, rows, n, out + i * out_stride + j, out_stride);
  }
  for (; j < rows_b; ++j) {
    for (size_t i = 0; i < rows_a; ++i) out[i * out_stride + j] = dot_u7(a + i * n, b + j * n, n);
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

const Kernels kTable = {"neon", dot_f32,  l2_f32,  dot4_f32, l24_f32, dot_f16,
                        l2_f16, dot4_f16, l24_f16, dot_u7,   dot4_u7, dot_block_u7};

}  // namespace nearfield::neon
