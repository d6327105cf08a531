// Runs the kernel checks without a test framework: under qemu, and in Node as WebAssembly.
//   kernel_check [NAME...]   fails when a named table is not supported, or when any check does
#include <cstdio>

#include "kernel_checks.h"

namespace {

size_t show(const char* what, const std::vector<std::string>& failures) {
  std::printf("  %-12s %s\n", what, failures.empty() ? "ok" : "FAILED");
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < failures.size() && i < kShown; ++i) {
    std::printf("    %s\n", failures[i].c_str());
  }
  return failures.size();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nearfield;
  size_t failed = 0;
  for (int i = 1; i < argc; ++i) {
    if (find_kernels(argv[i]) != nullptr) continue;
    std::printf("table not supported: %s\n", argv[i]);
    ++failed;
  }
  for (const Kernels* table : supported_kernels()) {
    std::printf("%s\n", table->name);
    failed += show("f32", test::check_f32(*table));
    failed += show("f16", test::check_f16(*table));
    failed += show("u7", test::check_u7(*table));
    failed += show("blocks", test::check_blocks(*table));
    failed += show("self check", test::check_self_check(*table));
  }
  failed += show("dispatch", test::check_dispatch());
  return failed == 0 ? 0 : 1;
}
