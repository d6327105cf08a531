// Helpers: a folder that goes away, files in it, and the program as a process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

using Json = nlohmann::json;

class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const;  // returns the path
  template <class T>
  std::string write_values(const std::string& name, const std::vector<T>& values) const {
    return write(
        name, std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
  }
  bool has(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

 private:
  std::filesystem::path folder_;
};

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;

  Json json() const { return Json::parse(out); }
  size_t error_lines() const;
};

// Runs the program with these arguments; standard output and error are no terminal.
Outcome nearfield(const std::vector<std::string>& arguments);

// The same, and the test fails unless the status is 0 and nothing is on standard error.
Outcome succeed(const std::vector<std::string>& arguments);
// The same, and the test fails unless the status is this one and there is exactly one line on
// standard error, which holds all of these words.
void fail(int status, const std::vector<std::string>& words,
          const std::vector<std::string>& arguments);

std::string read_file(const std::string& path);
template <class T>
std::vector<T> read_values(const std::string& path) {
  const std::string bytes = read_file(path);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(values.data()));
  return values;
}

// Reproducible rows of values in -1..1.
std::vector<float> random_rows(size_t rows, size_t dimensions, uint64_t seed = 1);
