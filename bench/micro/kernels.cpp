// Nanoseconds per pair of every kernel of every table, with the data in the second-level cache.
//   bench_kernels [TABLE...]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernels/kernels.h"

namespace {

using nearfield::Kernels;

constexpr size_t kDimensions[] = {64, 128, 384, 768, 1536};
constexpr size_t kCacheBytes = size_t{256} << 10;
constexpr size_t kBlockRows = 256;
constexpr size_t kMostRows = 2048;

alignas(64) float floats[kCacheBytes / sizeof(float) + 2048];
alignas(64) uint16_t halves[kCacheBytes / sizeof(uint16_t) + 2048];
alignas(64) uint8_t codes[2 * kBlockRows * 1536];
int32_t block[kBlockRows * kBlockRows];
volatile float keep;  // so that no result is unused

// The least time of a few rounds, each long enough to be measured.
template <class Function>
double nanoseconds_per_pair(size_t pairs, Function run) {
  using Clock = std::chrono::steady_clock;
  const auto time = [&](size_t times) {
    const auto start = Clock::now();
    for (size_t i = 0; i < times; ++i) run();
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  };
  size_t times = 1;
  while (time(times) < 5e6) times *= 2;
  double best = 1e300;
  for (int round = 0; round < 9; ++round) best = std::min(best, time(times));
  return best / static_cast<double>(times * pairs);
}

template <class Query, class T, class Kernel>
double pairs(Kernel kernel, const Query* query, const T* data, size_t n) {
  const size_t rows = std::min(kCacheBytes / (n * sizeof(T)), kMostRows);
  return nanoseconds_per_pair(rows, [=] {
    float sum = 0;
    for (size_t r = 0; r < rows; ++r) sum += static_cast<float>(kernel(query, data + r * n, n));
    keep = sum;
  });
}

template <class Out, class Query, class T, class Kernel>
double fours(Kernel kernel, const Query* query, const T* data, size_t n) {
  const size_t rows = std::min(kCacheBytes / (n * sizeof(T)), kMostRows) / 4 * 4;
  return nanoseconds_per_pair(rows, [=] {
    float sum = 0;
    for (size_t r = 0; r < rows; r += 4) {
      const T* const four[4] = {data + r * n, data + (r + 1) * n, data + (r + 2) * n,
                                data + (r + 3) * n};
      Out out[4];
      kernel(query, four, n, out);
      sum += static_cast<float>(out[0] + out[3]);
    }
    keep = sum;
  });
}

double blocks(const Kernels& table, size_t n) {
  return nanoseconds_per_pair(kBlockRows * kBlockRows, [&] {
    table.dot_block_u7(codes, kBlockRows, codes + kBlockRows * n, kBlockRows, n, block, kBlockRows);
    keep = static_cast<float>(block[7]);
  });
}

}  // namespace

int main(int argc, char** argv) {
  uint32_t state = 1;
  for (float& x : floats) x = static_cast<float>((state = state * 1664525u + 1013904223u) >> 20);
  for (uint16_t& x : halves) {  // normal and below 1
    x = static_cast<uint16_t>(((state = state * 1664525u + 1013904223u) >> 19) + 0x1c00u);
  }
  for (uint8_t& x : codes) x = static_cast<uint8_t>((state = state * 1664525u + 1013904223u) >> 25);

  std::printf("%-13s %6s", "ns per pair", "n");
  for (const char* kernel : {"dot_f32", "l2_f32", "dot4_f32", "l24_f32", "dot_f16", "l2_f16",
                             "dot4_f16", "l24_f16", "dot_u7", "dot4_u7", "block_u7", "GMAC/s"}) {
    std::printf(" %8s", kernel);
  }
  std::printf("\n");
  for (const Kernels* table : nearfield::supported_kernels()) {
    const auto is_wanted = [&](const char* name) { return std::strcmp(name, table->name) == 0; };
    if (argc > 1 && std::none_of(argv + 1, argv + argc, is_wanted)) continue;
    for (const size_t n : kDimensions) {
      const double block_time = blocks(*table, n);
      std::printf("%-13s %6zu", table->name, n);
      for (const double time :
           {pairs(table->dot_f32, floats, floats, n), pairs(table->l2_f32, floats, floats, n),
            fours<float>(table->dot4_f32, floats, floats, n),
            fours<float>(table->l24_f32, floats, floats, n),
            pairs(table->dot_f16, floats, halves, n), pairs(table->l2_f16, floats, halves, n),
            fours<float>(table->dot4_f16, floats, halves, n),
            fours<float>(table->l24_f16, floats, halves, n), pairs(table->dot_u7, codes, codes, n),
            fours<int32_t>(table->dot4_u7, codes, codes, n)}) {
        std::printf(" %8.2f", time);
      }
      std::printf(" %8.3f %8.1f\n", block_time, static_cast<double>(n) / block_time);
    }
  }
}
