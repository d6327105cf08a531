#include "kernel_checks.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "base/half.h"

namespace nearfield::test {
namespace {

// Values at a 64-byte aligned address, as the kernels expect them.
template <class T>
class Aligned {
 public:
  explicit Aligned(size_t count)
      : count_(count), data_(static_cast<T*>(::operator new (bytes(), std::align_val_t{64}))) {
    std::memset(data_, 0, bytes());
  }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  ~Aligned() { ::operator delete (data_, std::align_val_t{64}); }

  T* data() { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  size_t size() const { return count_; }

 private:
  size_t bytes() const { return (count_ + 1) * sizeof(T); }

  size_t count_;
  T* data_;
};

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 32);
  }
  float unit() { return static_cast<float>(static_cast<int32_t>(next()) >> 8) * 0x1p-23f; }

 private:
  uint64_t state_;
};

// Kinds of values, each of which would show another fault.
struct FloatKind {
  const char* name;
  float (*value)(Random& random);
};
constexpr FloatKind kFloatKinds[] = {
    {"even", [](Random& random) { return random.unit(); }},
    // Magnitudes so far apart that any other order of the sums rounds otherwise.
    {"spread",
     [](Random& random) {
       return std::ldexp(random.unit(), static_cast<int>(random.next() % 40) - 20);
     }},
    {"denormal",
     [](Random& random) {
       return std::ldexp(random.unit(), -60 - static_cast<int>(random.next() % 80));
     }},
    {"large", [](Random& random) { return std::ldexp(random.unit(), 60); }},
    {"overflowing", [](Random& random) { return std::ldexp(std::fabs(random.unit()), 120); }},
    {"zeros of both signs", [](Random& random) { return random.next() & 1u ? -0.0f : 0.0f; }},
    {"mostly zero",
     [](Random& random) { return random.next() % 8 ? -0.0f : random.unit() * 0x1p-70f; }},
    {"infinite at times",
     [](Random& random) {
       return random.next() % 64 ? random.unit() : std::numeric_limits<float>::infinity();
     }},
};

// Rows of halves: any finite bits.
struct HalfKind {
  const char* name;
  uint16_t (*value)(Random& random);
};
uint16_t half_of(Random& random, uint32_t least, uint32_t most) {
  const uint32_t sign = random.next() & 0x8000u;
  return static_cast<uint16_t>(sign | (least + random.next() % (most - least + 1)));
}
constexpr HalfKind kHalfKinds[] = {
    {"any", [](Random& random) { return half_of(random, 0, 0x7bff); }},
    {"below 1", [](Random& random) { return half_of(random, 0x2000, 0x3bff); }},
    {"subnormal", [](Random& random) { return half_of(random, 0, 0x03ff); }},
    {"around the least normal", [](Random& random) { return half_of(random, 0x03fe, 0x0401); }},
    {"zeros of both signs", [](Random& random) { return half_of(random, 0, 0); }},
    {"the largest", [](Random& random) { return half_of(random, 0x7bff, 0x7bff); }},
};

struct CodeKind {
  const char* name;
  uint8_t (*value)(Random& random);
};
constexpr CodeKind kCodeKinds[] = {
    {"even", [](Random& random) { return static_cast<uint8_t>(random.next() >> 25); }},
    {"all 127", [](Random&) { return uint8_t{127}; }},
    {"all 0", [](Random&) { return uint8_t{0}; }},
    {"0 or 127", [](Random& random) { return static_cast<uint8_t>(random.next() & 1u ? 127 : 0); }},
    {"mostly 0", [](Random& random) { return static_cast<uint8_t>(random.next() % 16 ? 0 : 99); }},
};

constexpr size_t kFloatDimensions[] = {0,   16,  32,  48,  64,  80,  96,  112,  128,  144,  256,
                                       304, 384, 400, 512, 768, 784, 960, 1024, 1536, 2032, 2048};
constexpr size_t kHalfDimensions[] = {0,   32,  64,  96,  128, 160,  192,  256,
                                      320, 384, 512, 768, 800, 1024, 1536, 2048};
constexpr size_t kCodeDimensions[] = {0,   64,  128, 192, 256, 320,  384,  448,  512,
                                      576, 640, 768, 832, 960, 1024, 1536, 1984, 2048};

std::string hex(uint32_t bits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", static_cast<unsigned>(bits));
  return text;
}

class Report {
 public:
  explicit Report(const Kernels& table) : table_(table.name) {}

  void floats(const char* kernel, size_t n, const char* kind, float expected, float found) {
    // Which NaN comes out of infinity minus infinity is the machine's choice.
    if (std::isnan(expected) && std::isnan(found)) return;
    const auto e = std::bit_cast<uint32_t>(expected), f = std::bit_cast<uint32_t>(found);
    if (e != f) add(kernel, n, kind, hex(e), hex(f));
  }
  void integers(const char* kernel, size_t n, const char* kind, int32_t expected, int32_t found) {
    if (expected != found) {
      add(kernel, n, kind, std::to_string(expected), std::to_string(found));
    }
  }
  std::vector<std::string> lines() { return std::move(lines_); }

 private:
  void add(const char* kernel, size_t n, const char* kind, const std::string& expected,
           const std::string& found) {
    lines_.push_back(std::string(table_) + " " + kernel + " of " + std::to_string(n) + " values (" +
                     kind + "): expected " + expected + ", found " + found);
  }

  const char* table_;
  std::vector<std::string> lines_;
};

const Kernels& oracle() { return *supported_kernels().back(); }

}  // namespace

std::vector<std::string> check_f32(const Kernels& table) {
  Report report(table);
  Random random(1);
  for (const size_t n : kFloatDimensions) {
    Aligned<float> query(n);
    Aligned<float> data(4 * n);
    const float* rows[4];
    for (size_t r = 0; r < 4; ++r) rows[r] = data.data() + r * n;
    for (const FloatKind& kind : kFloatKinds) {
      for (int round = 0; round < 4; ++round) {
        for (size_t i = 0; i < n; ++i) query[i] = kind.value(random);
        for (size_t i = 0; i < 4 * n; ++i) data[i] = kind.value(random);
        const float* const q = query.data();
        report.floats("dot_f32", n, kind.name, oracle().dot_f32(q, rows[0], n),
                      table.dot_f32(q, rows[0], n));
        report.floats("l2_f32", n, kind.name, oracle().l2_f32(q, rows[1], n),
                      table.l2_f32(q, rows[1], n));
        float expected[4], found[4];
        oracle().dot4_f32(q, rows, n, expected);
        table.dot4_f32(q, rows, n, found);
        for (int r = 0; r < 4; ++r) report.floats("dot4_f32", n, kind.name, expected[r], found[r]);
        oracle().l24_f32(q, rows, n, expected);
        table.l24_f32(q, rows, n, found);
        for (int r = 0; r < 4; ++r) report.floats("l24_f32", n, kind.name, expected[r], found[r]);
      }
    }
  }
  return report.lines();
}

std::vector<std::string> check_f16(const Kernels& table) {
  Report report(table);
  Random random(4);
  const auto compare = [&](const float* query, const uint16_t* const rows[4], size_t n,
                           const char* kind) {
    // The oracle sees the rows widened: that all tables round alike is not enough.
    Aligned<float> wide(4 * n);
    const float* wide_rows[4];
    for (size_t r = 0; r < 4; ++r) {
      wide_rows[r] = wide.data() + r * n;
      for (size_t i = 0; i < n; ++i) wide[r * n + i] = from_half(rows[r][i]);
    }
    float expected[4], found[4];
    oracle().dot4_f32(query, wide_rows, n, expected);
    table.dot4_f16(query, rows, n, found);
    for (int r = 0; r < 4; ++r) {
      report.floats("dot_f16", n, kind, expected[r], table.dot_f16(query, rows[r], n));
      report.floats("dot4_f16", n, kind, expected[r], found[r]);
    }
    oracle().l24_f32(query, wide_rows, n, expected);
    table.l24_f16(query, rows, n, found);
    for (int r = 0; r < 4; ++r) {
      report.floats("l2_f16", n, kind, expected[r], table.l2_f16(query, rows[r], n));
      report.floats("l24_f16", n, kind, expected[r], found[r]);
    }
  };
  for (const size_t n : kHalfDimensions) {
    Aligned<float> query(n);
    Aligned<uint16_t> data(4 * n);
    const uint16_t* rows[4];
    for (size_t r = 0; r < 4; ++r) rows[r] = data.data() + r * n;
    for (const FloatKind& query_kind : kFloatKinds) {
      for (const HalfKind& kind : kHalfKinds) {
        for (size_t i = 0; i < n; ++i) query[i] = query_kind.value(random);
        for (size_t i = 0; i < 4 * n; ++i) data[i] = kind.value(random);
        const std::string what = std::string(query_kind.name) + " by " + kind.name;
        compare(query.data(), rows, n, what.c_str());
      }
    }
  }
  // Every finite half by itself: against 1, its product is its value.
  constexpr size_t kAlone = 32;
  Aligned<float> query(kAlone);
  Aligned<uint16_t> data(4 * kAlone);
  const uint16_t* rows[4];
  for (size_t r = 0; r < 4; ++r) rows[r] = data.data() + r * kAlone;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7c00u) == 0x7c00u) continue;
    const size_t at = bits % kAlone;
    query[at] = 1;
    data[bits / kAlone % 4 * kAlone + at] = static_cast<uint16_t>(bits);
    compare(query.data(), rows, kAlone, "one half");
    query[at] = 0;
    data[bits / kAlone % 4 * kAlone + at] = 0;
  }
  return report.lines();
}

std::vector<std::string> check_u7(const Kernels& table) {
  Report report(table);
  Random random(2);
  for (const size_t n : kCodeDimensions) {
    Aligned<uint8_t> query(n);
    Aligned<uint8_t> data(4 * n);
    const uint8_t* rows[4];
    for (size_t r = 0; r < 4; ++r) rows[r] = data.data() + r * n;
    for (const CodeKind& kind : kCodeKinds) {
      for (int round = 0; round < 4; ++round) {
        for (size_t i = 0; i < n; ++i) query[i] = kind.value(random);
        for (size_t i = 0; i < 4 * n; ++i) data[i] = kind.value(random);
        report.integers("dot_u7", n, kind.name, oracle().dot_u7(query.data(), rows[0], n),
                        table.dot_u7(query.data(), rows[0], n));
        int32_t expected[4], found[4];
        oracle().dot4_u7(query.data(), rows, n, expected);
        table.dot4_u7(query.data(), rows, n, found);
        for (int r = 0; r < 4; ++r) {
          report.integers("dot4_u7", n, kind.name, expected[r], found[r]);
        }
      }
    }
  }
  return report.lines();
}

std::vector<std::string> check_blocks(const Kernels& table) {
  Report report(table);
  Random random(3);
  constexpr size_t kMost = 83;  // above every tile, and no multiple of any
  constexpr size_t kSpare =
      3;  // columns between the rows of the output, which must stay as they are
  constexpr int32_t kUntouched = -77;
  const auto check = [&](size_t rows_a, size_t rows_b, size_t n, const CodeKind& kind) {
    Aligned<uint8_t> a(rows_a * n), b(rows_b * n);
    for (size_t i = 0; i < rows_a * n; ++i) a[i] = kind.value(random);
    for (size_t i = 0; i < rows_b * n; ++i) b[i] = kind.value(random);
    const size_t stride = rows_b + kSpare;
    std::vector<int32_t> expected(rows_a * stride + 1, kUntouched), found = expected;
    oracle().dot_block_u7(a.data(), rows_a, b.data(), rows_b, n, expected.data(), stride);
    table.dot_block_u7(a.data(), rows_a, b.data(), rows_b, n, found.data(), stride);
    const std::string what = std::string(kind.name) + ", " + std::to_string(rows_a) + " by " +
                             std::to_string(rows_b) + " rows";
    for (size_t i = 0; i < expected.size(); ++i) {
      report.integers("dot_block_u7", n, what.c_str(), expected[i], found[i]);
    }
  };
  const CodeKind& even = kCodeKinds[0];
  for (size_t rows_a = 0; rows_a <= 9; ++rows_a) {
    for (size_t rows_b = 0; rows_b <= 9; ++rows_b) {
      for (const size_t n : {64, 128, 320}) check(rows_a, rows_b, n, even);
    }
  }
  for (const size_t rows_a : {1, 4, 13}) {
    for (size_t rows_b = 10; rows_b <= kMost; ++rows_b) check(rows_a, rows_b, 64, even);
  }
  for (const CodeKind& kind : kCodeKinds) {
    for (const size_t n : {64, 512, 576, 1088, 1536}) check(kMost, kMost, n, kind);
  }
  return report.lines();
}

std::vector<std::string> check_dispatch() {
  std::vector<std::string> failures;
  const auto expect = [&](bool good, const std::string& what) {
    if (!good) failures.push_back(what);
  };
  const auto force = [](const char* name) {
    if (name == nullptr) {
      unsetenv("NEARFIELD_KERNELS");
    } else {
      setenv("NEARFIELD_KERNELS", name, 1);
    }
  };
  const char* const before_ptr = std::getenv("NEARFIELD_KERNELS");
  const std::string before = before_ptr == nullptr ? "" : before_ptr;

  const auto tables = supported_kernels();
  expect(!tables.empty(), "there is no table");
  expect(std::string_view(tables.back()->name) == "scalar", "the last table is not scalar");
  force(nullptr);
  expect(find_kernels("") == tables.front(), "no name does not give the fastest table");
  force("");
  expect(find_kernels("") == tables.front(), "an empty variable does not give the fastest table");
  for (const Kernels* table : tables) {
    const std::string name = table->name;
    expect(find_kernels(name) == table, "a name does not give its table: " + name);
    force(table->name);
    expect(find_kernels("") == table, "the variable does not give its table: " + name);
    expect(find_kernels("scalar") == tables.back(), "a name does not win over the variable");
    for (const Kernels* other : tables) {
      if (other == table) continue;
      expect(table->dot_block_u7 != other->dot_block_u7,
             "two tables run the same code: " + name + " and " + other->name);
    }
  }
  force("abacus");
  expect(find_kernels("") == nullptr, "an unknown variable gives a table");
  expect(find_kernels("abacus") == nullptr, "an unknown name gives a table");
  expect(find_kernels("scala") == nullptr, "part of a name gives a table");

  force(before_ptr == nullptr ? nullptr : before.c_str());
  return failures;
}

std::vector<std::string> check_self_check(const Kernels& table) {
  std::vector<std::string> failures;
  if (!self_check(table)) {
    failures.push_back(std::string(table.name) + " does not pass its self check");
  }
  const auto expect_caught = [&](const char* kernel, const Kernels& wrong) {
    if (self_check(wrong)) {
      failures.push_back(std::string("the self check passes a wrong ") + kernel);
    }
  };
  // The last of several results is off by one bit, or a sum saturates, or is fused.
  Kernels wrong = table;
  wrong.dot_f32 = [](const float* a, const float* b, size_t n) {
    return std::nextafter(oracle().dot_f32(a, b, n), 9.0f);
  };
  expect_caught("dot_f32", wrong);
  wrong = table;
  wrong.l2_f32 = [](const float* a, const float* b, size_t n) {
    float lane[32] = {};
    for (size_t i = 0; i < n; ++i) {
      lane[i % 32] = std::fma(a[i] - b[i], a[i] - b[i], lane[i % 32]);
    }
    for (size_t width = 16; width > 0; width /= 2) {
      for (size_t l = 0; l < width; ++l) lane[l] += lane[l + width];
    }
    return lane[0];
  };
  expect_caught("l2_f32", wrong);
  wrong = table;
  wrong.dot4_f32 = [](const float* q, const float* const rows[4], size_t n, float out[4]) {
    oracle().dot4_f32(q, rows, n, out);
    out[3] = std::nextafter(out[3], 9.0f);
  };
  expect_caught("dot4_f32", wrong);
  wrong = table;
  wrong.l24_f32 = [](const float* q, const float* const rows[4], size_t n, float out[4]) {
    oracle().l24_f32(q, rows, n, out);
    out[3] = std::nextafter(out[3], 9.0f);
  };
  expect_caught("l24_f32", wrong);
  // A sum is fused, a subnormal half counts as zero, or the last of four is off by one bit.
  wrong = table;
  wrong.dot_f16 = [](const float* query, const uint16_t* row, size_t n) {
    float lane[32] = {};
    for (size_t i = 0; i < n; ++i) {
      lane[i % 32] = std::fma(query[i], from_half(row[i]), lane[i % 32]);
    }
    for (size_t width = 16; width > 0; width /= 2) {
      for (size_t l = 0; l < width; ++l) lane[l] += lane[l + width];
    }
    return lane[0];
  };
  expect_caught("dot_f16", wrong);
  wrong = table;
  wrong.l2_f16 = [](const float* query, const uint16_t* row, size_t n) {
    Aligned<uint16_t> flushed(n);
    for (size_t i = 0; i < n; ++i) flushed[i] = (row[i] & 0x7c00u) == 0 ? uint16_t{0} : row[i];
    return oracle().l2_f16(query, flushed.data(), n);
  };
  expect_caught("l2_f16", wrong);
  wrong = table;
  wrong.dot4_f16 = [](const float* q, const uint16_t* const rows[4], size_t n, float out[4]) {
    oracle().dot4_f16(q, rows, n, out);
    out[3] = std::nextafter(out[3], 9.0f);
  };
  expect_caught("dot4_f16", wrong);
  wrong = table;
  wrong.l24_f16 = [](const float* q, const uint16_t* const rows[4], size_t n, float out[4]) {
    oracle().l24_f16(q, rows, n, out);
    out[3] = std::nextafter(out[3], 9.0f);
  };
  expect_caught("l24_f16", wrong);
  wrong = table;
  wrong.dot_u7 = [](const uint8_t* a, const uint8_t* b, size_t n) {
    int32_t sum = 0;  // saturates pairs at 15 bits less one
    for (size_t i = 0; i < n; i += 2) {
      const int32_t pair = a[i] * b[i] + a[i + 1] * b[i + 1];
      sum += pair < 32257 ? pair : 32257;
    }
    return sum;
  };
  expect_caught("dot_u7", wrong);
  wrong = table;
  wrong.dot4_u7 = [](const uint8_t* q, const uint8_t* const rows[4], size_t n, int32_t out[4]) {
    oracle().dot4_u7(q, rows, n, out);
    ++out[3];
  };
  expect_caught("dot4_u7", wrong);
  wrong = table;
  wrong.dot_block_u7 = [](const uint8_t* a, size_t rows_a, const uint8_t* b, size_t rows_b,
                          size_t n, int32_t* out, size_t stride) {
    oracle().dot_block_u7(a, rows_a, b, rows_b, n, out, stride);
    ++out[(rows_a - 1) * stride + rows_b - 1];
  };
  expect_caught("dot_block_u7", wrong);
  return failures;
}

}  // namespace nearfield::test
