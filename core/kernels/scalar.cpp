// The kernels in plain C++: the definition that every other table must equal bit for bit.
//
//   element   0  1  2 ... 31 | 32 33 ... 63 | 64 ...
//   lane      0  1  2 ... 31 |  0  1 ... 31 |  0 ...      lane = element % 32
//
//   lanes     0 ................ 31
//             \__ 0..15 + 16..31 __/     then 8 to 8, 4 to 4, 2 to 2, 1 to 1
//
// A vector is a whole number of half steps of 16 elements, so the last one may touch lanes 0..15
// only.
#include "base/half.h"
#include "kernels/tables.h"

namespace nearfield::scalar {
namespace {

constexpr size_t kLanes = 32;
constexpr size_t kHalf = 16;

float sum_lanes(float (&lane)[kLanes]) {
  for (size_t width = kLanes / 2; width > 0; width /= 2) {
    for (size_t l = 0; l < width; ++l) lane[l] += lane[l + width];
  }
  return lane[0];
}

float widen(float value) { return value; }
float widen(uint16_t value) { return from_half(value); }

template <class Row>
float dot(const float* query, const Row* row, size_t n) {
  float lane[kLanes] = {};
  for (size_t i = 0; i < n; i += kHalf) {
    float* half = lane + i % kLanes;
    for (size_t l = 0; l < kHalf; ++l) half[l] += query[i + l] * widen(row[i + l]);
  }
  return sum_lanes(lane);
}

template <class Row>
float l2(const float* query, const Row* row, size_t n) {
  float lane[kLanes] = {};
  for (size_t i = 0; i < n; i += kHalf) {
    float* half = lane + i % kLanes;
    for (size_t l = 0; l < kHalf; ++l) {
      const float difference = query[i + l] - widen(row[i + l]);
      half[l] += difference * difference;
    }
  }
  return sum_lanes(lane);
}

template <class Row>
void dot4(const float* query, const Row* const rows[4], size_t n, float out[4]) {
  for (size_t r = 0; r < 4; ++r) out[r] = dot(query, rows[r], n);
}

template <class Row>
void l24(const float* query, const Row* const rows[4], size_t n, float out[4]) {
  for (size_t r = 0; r < 4; ++r) out[r] = l2(query, rows[r], n);
}

int32_t dot_u7(const uint8_t* a, const uint8_t* b, size_t n) {
  int32_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void dot4_u7(const uint8_t* query, const uint8_t* const rows[4], size_t n, int32_t out[4]) {
  for (size_t r = 0; r < 4; ++r) out[r] = dot_u7(query, rows[r], n);
}

void dot_block_u7(const uint8_t* a, size_t rows_a, const uint8_t* b, size_t rows_b, size_t n,
                  int32_t* out, size_t out_stride) {
  for (size_t i = 0; i < rows_a; ++i) {
    for (size_t j = 0; j < rows_b; ++j) out[i * out_stride + j] = dot_u7(a + i * n, b + j * n, n);
  }
}

}  // namespace

const Kernels kTable = {"scalar",      dot<float>,    l2<float>,    dot4<float>,
                        l24<float>,    dot<uint16_t>, l2<uint16_t>, dot4<uint16_t>,
                        l24<uint16_t>, dot_u7,        dot4_u7,      dot_block_u7};

}  // namespace nearfield::scalar
