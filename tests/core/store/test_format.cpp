// FORMAT.md shows a whole store in bytes. The document and the code must agree.
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "sample.h"

namespace nearfield::test {
namespace {

std::string hex_dump(const Bytes& bytes) {
  std::string dump;
  char text[24];
  for (size_t line = 0; line < bytes.size(); line += 16) {
    std::snprintf(text, sizeof text, "%04zx ", line);
    dump += text;
    for (size_t i = line; i < line + 16 && i < bytes.size(); ++i) {
      std::snprintf(text, sizeof text, " %02x", std::to_integer<unsigned>(bytes[i]));
      dump += text;
    }
    dump += '\n';
  }
  return dump;
}

TEST_CASE("the worked example of FORMAT.md is what the code writes") {
  MemoryStorage storage;
  auto store = Store::open(storage, true);
  Store::Commit commit = (*store)->begin();
  add_collection(commit, 1, "a");
  commit.manifest().collections[1].state = bytes_of("ok");
  REQUIRE(commit.put({1, SegmentKind::kRows, 0}, 1, bytes_of("near")).ok());
  REQUIRE(commit.finish().ok());
  REQUIRE(storage.files().size() == 2);

  std::ifstream file(NEARFIELD_FORMAT_DOCUMENT);
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  for (const auto& [name, bytes] : storage.files()) {
    const std::string dump = hex_dump(bytes);
    INFO(name << "\n" << dump);
    CHECK(text.str().find("`" + name + "`") != std::string::npos);
    CHECK(text.str().find(dump) != std::string::npos);
  }
}

}  // namespace
}  // namespace nearfield::test
