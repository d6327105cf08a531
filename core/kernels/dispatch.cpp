// Which tables this machine can run. The only file that asks.
#include <cstdlib>

#include "kernels/tables.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace nearfield {
namespace {

#if defined(__x86_64__)
// Clang 14 does not know it by name. That the system saves its registers follows from AVX2.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

struct Supported {
  const Kernels* tables[4];
  size_t count = 0;

  void add(const Kernels& table) { tables[count++] = &table; }

  Supported() {
#if defined(__x86_64__)
    // Each table's condition names every set its file is compiled for (CMakeLists.txt).
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni")) {
      add(avx512::kTable);
    }
    if (__builtin_cpu_supports("avx2") && has_f16c()) add(avx2::kTable);
#elif defined(__aarch64__)
#if defined(__ARM_FEATURE_DOTPROD)
    add(neon_dot::kTable);
#elif defined(__linux__)
    if (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) add(neon_dot::kTable);
#endif
    add(neon::kTable);
#elif defined(__wasm__)
    // A module with an instruction that the engine lacks does not load at all, so the choice is
    // made before: there is one module with relaxed instructions and one without.
#if defined(NEARFIELD_WASM_RELAXED)
    add(wasm_relaxed::kTable);
#endif
    add(wasm_simd::kTable);
#endif
    add(scalar::kTable);
  }
};

}  // namespace

std::span<const Kernels* const> supported_kernels() {
  static const Supported supported;
  return {supported.tables, supported.count};
}

const Kernels* find_kernels(std::string_view name) {
  const std::span<const Kernels* const> tables = supported_kernels();
  if (name.empty()) {
    const char* const forced = std::getenv("NEARFIELD_KERNELS");
    if (forced == nullptr || *forced == '\0') return tables.front();
    name = forced;
  }
  for (const Kernels* table : tables) {
    if (name == table->name) return table;
  }
  return nullptr;
}

}  // namespace nearfield
