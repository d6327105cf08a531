// AArch64 with the dot product instructions (every Apple processor that runs macOS, Neoverse,
// Cortex from A75 on): the float kernels of neon.cpp, and u7 by udot, which adds four neighbouring
// byte products to each of four 32-bit lanes.
//
// Blocks of u7 are an outer product, which needs no sums across lanes. 8 rows of b are packed into
// a panel, four bytes of each row side by side; udot itself takes four bytes of a row of a for all
// lanes:
//
//        b0 b1 b2 b3   b4 b5 b6 b7     <- 4 bytes of each of 8 rows of b
//   a0 [ sums 0,0..3 | sums 0,4..7 ]
//   a1 [ sums 1,0..3 | sums 1,4..7 ]
//   ...                  8 rows of a: 16 registers of sums
#include <arm_neon.h>

#include "kernels/tables.h"

namespace nearfield::neon_dot {
namespace {

int32_t dot_u7(const uint8_t* a, const uint8_t* b, size_t n) {
  uint32x4_t s[4];
  for (int k = 0; k < 4; ++k) s[k] = vdupq_n_u32(0);
  for (size_t i = 0; i < n; i += 64) {
    for (int k = 0; k < 4; ++k) {
      s[k] = vdotq_u32(s[k], vld1q_u8(a + i + 16 * k), vld1q_u8(b + i + 16 * k));
    }
  }
  return static_cast<int32_t>(vaddvq_u32(vaddq_u32(vaddq_u32(s[0], s[1]), vaddq_u32(s[2], s[3]))));
}

void dot4_u7(const uint8_t* query, const uint8_t* const rows[4], size_t n, int32_t out[4]) {
  uint32x4_t even[4], odd[4];
  for (int r = 0; r < 4; ++r) even[r] = odd[r] = vdupq_n_u32(0);
  for (size_t i = 0; i < n; i += 32) {
    const uint8x16_t q0 = vld1q_u8(query + i), q1 = vld1q_u8(query + i + 16);
    for (int r = 0; r < 4; ++r) {
      even[r] = vdotq_u32(even[r], q0, vld1q_u8(rows[r] + i));
      odd[r] = vdotq_u32(odd[r], q1, vld1q_u8(rows[r] + i + 16));
    }
  }
  for (int r = 0; r < 4; ++r) even[r] = vaddq_u32(even[r], odd[r]);
  const uint32x4_t sums = vpaddq_u32(vpaddq_u32(even[0], even[1]), vpaddq_u32(even[2], even[3]));
  vst1q_s32(out, vreinterpretq_s32_u32(sums));
}

constexpr size_t kTileRows = 8;
constexpr size_t kTileColumns = 8;
constexpr size_t kDepth = 1024;  // bytes of each row in a panel: 8 KiB

// Packs `depth` bytes of 4 rows, `stride` apart, to every second 16 bytes of `panel`. A row past
// the last one is the last one again; its sums are not stored.
void pack4(const uint8_t* rows, size_t last, size_t stride, size_t depth, uint8_t* panel) {
  const uint8_t* row[4];
  for (size_t r = 0; r < 4; ++r) row[r] = rows + (r < last ? r : last) * stride;
  for (size_t k = 0; k < depth; k += 16) {
    uint32x4_t x[4];
    for (int r = 0; r < 4; ++r) x[r] = vreinterpretq_u32_u8(vld1q_u8(row[r] + k));
    const uint64x2_t t0 = vreinterpretq_u64_u32(vzip1q_u32(x[0], x[1]));
    const uint64x2_t t1 = vreinterpretq_u64_u32(vzip2q_u32(x[0], x[1]));
    const uint64x2_t t2 = vreinterpretq_u64_u32(vzip1q_u32(x[2], x[3]));
    const uint64x2_t t3 = vreinterpretq_u64_u32(vzip2q_u32(x[2], x[3]));
    uint8_t* const to = panel + k * kTileColumns;
    vst1q_u8(to, vreinterpretq_u8_u64(vzip1q_u64(t0, t2)));
    vst1q_u8(to + 32, vreinterpretq_u8_u64(vzip2q_u64(t0, t2)));
    vst1q_u8(to + 64, vreinterpretq_u8_u64(vzip1q_u64(t1, t3)));
    vst1q_u8(to + 96, vreinterpretq_u8_u64(vzip2q_u64(t1, t3)));
  }
}

// Four bytes of each row: lane `Lane` of the 16 that were loaded.
template <size_t Rows, int Lane>
void step(uint32x4_t (&sum0)[Rows], uint32x4_t (&sum1)[Rows], const uint8x16_t (&x)[Rows],
          const uint8_t* panel) {
  const uint8x16_t b0 = vld1q_u8(panel + Lane * 32), b1 = vld1q_u8(panel + Lane * 32 + 16);
  for (size_t r = 0; r < Rows; ++r) {
    sum0[r] = vdotq_laneq_u32(sum0[r], b0, x[r], Lane);
    sum1[r] = vdotq_laneq_u32(sum1[r], b1, x[r], Lane);
  }
}

// Part of the block: Rows rows of a by all columns of the panel.
template <size_t Rows>
void tile(const uint8_t* a, size_t stride, const uint8_t* panel, size_t depth, int32_t* out,
          size_t out_stride, bool add) {
  const uint32x4_t zero = vdupq_n_u32(0);
  uint32x4_t sum0[Rows], sum1[Rows];
  for (size_t r = 0; r < Rows; ++r) {
    sum0[r] = add ? vreinterpretq_u32_s32(vld1q_s32(out + r * out_stride)) : zero;
    sum1[r] = add ? vreinterpretq_u32_s32(vld1q_s32(out + r * out_stride + 4)) : zero;
  }
  for (size_t k = 0; k < depth; k += 16, panel += 16 * kTileColumns) {
    uint8x16_t x[Rows];
    for (size_t r = 0; r < Rows; ++r) x[r] = vld1q_u8(a + r * stride + k);
    step<Rows, 0>(sum0, sum1, x, panel);
    step<Rows, 1>(sum0, sum1, x, panel);
    step<Rows, 2>(sum0, sum1, x, panel);
    step<Rows, 3>(sum0, sum1, x, panel);
  }
  for (size_t r = 0; r < Rows; ++r) {
    vst1q_s32(out + r * out_stride, vreinterpretq_s32_u32(sum0[r]));
    vst1q_s32(out + r * out_stride + 4, vreinterpretq_s32_u32(sum1[r]));
  }
}

using Tile = void (*)(const uint8_t*, size_t, const uint8_t*, size_t, int32_t*, size_t, bool);
constexpr Tile kTiles[kTileRows + 1] = {nullptr, tile<1>, tile<2>, tile<3>, tile<4>,
                                        tile<5>, tile<6>, tile<7>, tile<8>};

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

const Kernels kTable = {"neon-dot",    neon::dot_f32, neon::l2_f32, neon::dot4_f32,
                        neon::l24_f32, neon::dot_f16, neon::l2_f16, neon::dot4_f16,
                        neon::l24_f16, dot_u7,        dot4_u7,      dot_block_u7};

}  // namespace nearfield::neon_dot
