// Opening a store on disk for a command.
#pragma once

#include <memory>
#include <string>

#include "nearfield/database.h"
#include "posix_storage.h"

namespace nearfield::cli {

inline constexpr const char* kDefaultCollection = "default";

enum class Mode {
  kRead,    // creates nothing, changes nothing
  kWrite,   // the store must be there
  kCreate,  // the store is made when it is missing
};

// An open store. Until keep() is called, one that did not exist before is removed at the end.
class Store {
 public:
  Store(const std::string& path, Mode mode, unsigned threads,
        Durability durability = Durability::kFull);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  Database& database() { return *database_; }
  ThreadPool& pool() { return *pool_; }
  // The collection of this name; without a name the only one. Throws a Failure when there is none
  // or when it is not clear which.
  Collection& collection(const std::string& name);
  void keep() { is_new_ = false; }

 private:
  std::string path_;
  bool is_new_ = false;
  bool is_new_folder_ = false;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<Database> database_;
};

// False for a missing or empty folder; throws a Failure for anything else that is no store.
bool store_exists(const std::string& path);
// Throws a Failure unless a store is there.
void require_store(const std::string& path);

// Whether a file of a store, its lock included, has such a name.
bool is_store_file(const std::string& name);
// Removes the files of a store in this folder, and the folder when nothing else is in it.
void remove_store(const std::string& path);

// PosixStorage::open, with Failures.
std::unique_ptr<PosixStorage> open_storage(const std::string& path, Access access,
                                           Durability durability = Durability::kFull);

}  // namespace nearfield::cli
