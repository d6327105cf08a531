// The tables of all instruction sets; each is there only where its file is compiled in.
// Declarations only: nothing inline may pass from a file compiled for one instruction set to
// another.
#pragma once

#include "kernels/kernels.h"

namespace nearfield {

namespace scalar {
extern const Kernels kTable;
}
namespace avx2 {
extern const Kernels kTable;
}
namespace avx512 {
extern const Kernels kTable;
}

// Tables that differ from another one in their integer kernels only take its float kernels.
namespace neon {
extern const Kernels kTable;
float dot_f32(const float* a, const float* b, size_t n);
float l2_f32(const float* a, const float* b, size_t n);
void dot4_f32(const float* query, const float* const rows[4], size_t n, float out[4]);
void l24_f32(const float* query, const float* const rows[4], size_t n, float out[4]);
float dot_f16(const float* query, const uint16_t* row, size_t n);
float l2_f16(const float* query, const uint16_t* row, size_t n);
void dot4_f16(const float* query, const uint16_t* const rows[4], size_t n, float out[4]);
void l24_f16(const float* query, const uint16_t* const rows[4], size_t n, float out[4]);
}  // namespace neon
namespace neon_dot {
extern const Kernels kTable;
}

namespace wasm_simd {
extern const Kernels kTable;
float dot_f32(const float* a, const float* b, size_t n);
float l2_f32(const float* a, const float* b, size_t n);
void dot4_f32(const float* query, const float* const rows[4], size_t n, float out[4]);
void l24_f32(const float* query, const float* const rows[4], size_t n, float out[4]);
float dot_f16(const float* query, const uint16_t* row, size_t n);
float l2_f16(const float* query, const uint16_t* row, size_t n);
void dot4_f16(const float* query, const uint16_t* const rows[4], size_t n, float out[4]);
void l24_f16(const float* query, const uint16_t* const rows[4], size_t n, float out[4]);
}  // namespace wasm_simd
namespace wasm_relaxed {
extern const Kernels kTable;
}

}  // namespace nearfield
