#include "run.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>

namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string command_line(const std::vector<std::string>& arguments) {
  std::string line = quoted(NEARFIELD_PROGRAM);
  for (const std::string& argument : arguments) line += " " + quoted(argument);
  return line;
}

}  // namespace

TestFolder::TestFolder() {
  static std::atomic<int> counter = 0;
  folder_ = std::filesystem::temp_directory_path() /
            ("nearfield-cli-" + std::to_string(getpid()) + "-" + std::to_string(counter++));
  std::filesystem::create_directories(folder_);
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string TestFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
  return path(name);
}

size_t Outcome::error_lines() const {
  return static_cast<size_t>(std::count(err.begin(), err.end(), '\n'));
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

Outcome nearfield(const std::vector<std::string>& arguments) {
  const TestFolder folder;
  const std::string out = folder.path("out");
  const std::string err = folder.path("err");
  const int raw = std::system(
      (command_line(arguments) + " >" + quoted(out) + " 2>" + quoted(err) + " </dev/null").c_str());
  return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, read_file(out), read_file(err)};
}

Outcome succeed(const std::vector<std::string>& arguments) {
  Outcome outcome = nearfield(arguments);
  INFO(command_line(arguments));
  INFO(outcome.out);
  CHECK(outcome.err == "");
  REQUIRE(outcome.status == 0);
  return outcome;
}

void fail(int status, const std::vector<std::string>& words,
          const std::vector<std::string>& arguments) {
  const Outcome outcome = nearfield(arguments);
  INFO(command_line(arguments));
  INFO(outcome.err);
  CHECK(outcome.status == status);
  CHECK(outcome.error_lines() == 1);
  CHECK(outcome.err.starts_with("nearfield: "));
  for (const std::string& word : words) {
    INFO("expected: " << word);
    CHECK(outcome.err.find(word) != std::string::npos);
  }
}

std::vector<float> random_rows(size_t rows, size_t dimensions, uint64_t seed) {
  std::vector<float> values(rows * dimensions);
  uint64_t state = seed * 0x9e3779b97f4a7c15u;
  for (float& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(state >> 40) / static_cast<float>(1 << 23) - 1.0f;
  }
  return values;
}
