// Disk: what a crash may leave of the operations that a storage was asked for.
//
// Operations since the last sync may have reached the disk or not, in any order: names are there or
// not, removed ones may be back, and of the bytes that no sync has made durable any part may be
// missing, zero or garbage. A sync makes names durable, and the bytes of files that were finished.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crash/random_stream.h"
#include "nearfield/storage.h"

namespace nearfield::test {

struct Operation {
  // kGiveUp stands where a commit failed: bytes that are not durable by then never will be, since
  // the kernel may drop pages that it failed to write.
  enum class Kind { kCreate, kAppend, kFinish, kRemove, kSync, kGiveUp };
  Kind kind;
  std::string name = {};
  std::vector<std::byte> bytes = {};
};

std::string describe(const Operation& operation);

class Disk {
 public:
  using Files = MemoryStorage::Files;

  Disk() = default;
  explicit Disk(const Files& durable);

  void apply(const Operation& operation);

  Files in_order() const;                       // everything arrived
  Files torn(RandomStream& random) const;       // all but a part of the last operation, an append
  Files reordered(RandomStream& random) const;  // anything that a crash now may leave
  bool has_pending() const;                     // whether a crash now may lose anything

 private:
  struct File {
    std::vector<std::byte> bytes;
    std::vector<size_t> appends;  // where each append began
    size_t durable = 0;
    bool finished = false;
    bool given_up = false;
  };
  using FilePointer = std::shared_ptr<File>;

  static std::vector<std::byte> after_crash(const File& file, RandomStream& random);

  // What each name was since the last sync, oldest first; null: not there.
  std::map<std::string, std::vector<FilePointer>> names_;
  FilePointer last_appended_;  // by the last operation, null when that was another
};

}  // namespace nearfield::test
