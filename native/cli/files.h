// Plain files: opening them with errors a person can use, and writing them whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <span>
#include <string>

#include "nearfield/storage.h"

namespace nearfield::cli {

// Throw a Failure when the file is missing, no regular file, or cannot be read.
std::ifstream open_input(const std::string& path);
uint64_t input_size(const std::string& path);

// Reads exactly size bytes; throws a Failure when the file ends before.
void read_exactly(std::ifstream& file, void* data, size_t size, const std::string& path);

// Whether the file would be, or is, in the folder or below it; links are followed.
bool lies_inside(const std::string& file, const std::string& folder);

// A file that is written beside its place and takes it on finish(); dropped without finish(), it
// leaves nothing behind. A link is followed to its file; a device or a pipe is written directly.
// The constructor throws a Failure when it cannot begin, or when the place is taken and `replace`
// is off.
class OutputFile final : public FileSink {
 public:
  OutputFile(std::string path, bool replace);
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  Result<void> append(std::span<const std::byte> bytes) override;
  Result<void> finish() override;

  void write(const void* data, size_t size);  // append(), as an exception
  void close();                               // finish(), as an exception

  uint64_t written() const { return written_; }
  // Whether what is written lands in standard output, where nothing else may go then.
  bool is_standard_output() const { return is_standard_output_; }

 private:
  void open_directly(int descriptor);  // a duplicate of this one; -1: opens path_

  std::string path_;    // as given
  std::string target_;  // where links lead
  std::string part_;    // empty when the file is written directly
  uint64_t written_ = 0;
  bool is_standard_output_ = false;
  std::FILE* file_ = nullptr;
};

}  // namespace nearfield::cli
