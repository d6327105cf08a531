#include <catch2/catch_test_macros.hpp>

#include "kernel_checks.h"

namespace nearfield::test {
namespace {

void expect_none(const std::vector<std::string>& failures) {
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < failures.size() && i < kShown; ++i) UNSCOPED_INFO(failures[i]);
  CHECK(failures.size() == 0);
}

TEST_CASE("f32 kernels equal scalar bit for bit", "[kernels]") {
  for (const Kernels* table : supported_kernels()) expect_none(check_f32(*table));
}

TEST_CASE("f16 kernels equal scalar bit for bit, and f32 on the widened rows", "[kernels]") {
  for (const Kernels* table : supported_kernels()) expect_none(check_f16(*table));
}

TEST_CASE("u7 kernels equal scalar", "[kernels]") {
  for (const Kernels* table : supported_kernels()) expect_none(check_u7(*table));
}

TEST_CASE("u7 blocks equal scalar for any row counts", "[kernels]") {
  for (const Kernels* table : supported_kernels()) expect_none(check_blocks(*table));
}

TEST_CASE("tables are chosen by name and by environment", "[kernels]") {
  expect_none(check_dispatch());
}

TEST_CASE("the self check passes right tables and fails wrong ones", "[kernels]") {
  for (const Kernels* table : supported_kernels()) expect_none(check_self_check(*table));
}

TEST_CASE("scalar is what its definition says", "[kernels]") {
  const Kernels& scalar = *find_kernels("scalar");
  alignas(64) float a[48] = {}, b[48];
  for (float& x : b) x = 1.0f;
  // Lane 0 takes elements 0 and 32: 2^24 + 1 rounds to 2^24. Element 16 is in lane 16, so that its
  // 1 is added last and rounds away too. Element by element in reverse, 1 + 1 + 2^24 would not
  // round.
  a[0] = 0x1p24f;
  a[32] = 1.0f;
  a[16] = 1.0f;
  CHECK(scalar.dot_f32(a, b, 48) == 0x1p24f);
  // Lanes 1 and 17 are added to each other before either meets lane 0.
  a[32] = 0.0f;
  a[16] = 0.0f;
  a[1] = 1.0f;
  a[17] = 1.0f;
  CHECK(scalar.dot_f32(a, b, 48) == 0x1p24f + 2.0f);
  CHECK(scalar.l2_f32(b, b, 48) == 0.0f);
  alignas(64) uint8_t c[64] = {1, 2, 3}, d[64] = {100, 10, 1};
  CHECK(scalar.dot_u7(c, d, 64) == 123);
}

}  // namespace
}  // namespace nearfield::test
