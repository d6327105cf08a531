#include "store.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "failure.h"
#include "threads/std_thread_pool.h"

namespace nearfield::cli {
namespace {

namespace fs = std::filesystem;

// Where a new store would be made; known before the work is done rather than after.
void require_place(const std::string& path) {
  fs::path folder = fs::absolute(path);
  if (!folder.has_filename()) folder = folder.parent_path();
  const fs::path parent = folder.parent_path();
  if (!fs::is_directory(parent)) {
    throw bad_input("the store " + path + " cannot be made: there is no folder " + parent.string());
  }
  if (access((fs::exists(folder) ? folder : parent).c_str(), W_OK | X_OK) != 0) {
    throw failed("the store " + path + " cannot be made: its folder is not writable");
  }
}

std::unique_ptr<Database> open_database(const std::string& path, Access access, bool create,
                                        ThreadPool* pool,
                                        Durability durability = Durability::kFull) {
  DatabaseOptions options;
  options.create = create;
  options.read_only = access == Access::kRead;
  options.pool = pool;
  return take(Database::open(open_storage(path, access, durability), options), path);
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

bool is_store_file(const std::string& name) {
  return name == "lock" ||
         (name.ends_with(".nf") && (name.starts_with("manifest-") || name.starts_with("data-")));
}

void remove_store(const std::string& path) {
  std::error_code ignored;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    if (is_store_file(entry.path().filename().string())) files.push_back(entry.path());
  }
  for (const fs::path& file : files) fs::remove(file, ignored);
  fs::remove(path, ignored);
}

std::unique_ptr<PosixStorage> open_storage(const std::string& path, Access access,
                                           Durability durability) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 &&
      (errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP)) {
    throw bad_input(path + ": no store can be there: " + std::strerror(errno));
  }
  return take(PosixStorage::open(path, access, durability), "store");
}

bool store_exists(const std::string& path) {
  const auto files = take(open_storage(path, Access::kRead)->list(), path);
  if (files.empty()) return false;
  const bool has_manifest = std::any_of(files.begin(), files.end(), [](const std::string& name) {
    return name.starts_with("manifest");
  });
  if (!has_manifest) {
    open_database(path, Access::kRead, false, nullptr);  // throws and says what is there instead
    throw bad_input(path + " holds files but no store");
  }
  return true;
}

void require_store(const std::string& path) {
  if (!store_exists(path)) throw bad_input("no store at " + path);
}

Store::Store(const std::string& path, Mode mode, unsigned threads, Durability durability)
    : path_(path) {
  is_new_ = !store_exists(path);
  if (is_new_ && mode != Mode::kCreate) throw bad_input("no store at " + path);
  if (is_new_) {
    is_new_folder_ = !fs::exists(path);
    require_place(path);
  }
  pool_ = std::make_unique<StdThreadPool>(threads);
  const Access access = mode == Mode::kRead ? Access::kRead : Access::kWrite;
  std::error_code error;
  if (access == Access::kWrite && !is_new_ && !fs::exists(fs::path(path) / "lock", error)) {
    // Where there is no store to open, no lock is to be left behind.
    open_database(path, Access::kRead, false, nullptr);
  }
  database_ = open_database(path, access, mode == Mode::kCreate, pool_.get(), durability);
  for (const std::string& warning : database_->info().warnings) {
    std::fprintf(stderr, "nearfield: warning: %s\n", warning.c_str());
  }
}

Store::~Store() {
  database_.reset();
  if (!is_new_) return;
  remove_store(path_);
  std::error_code ignored;
  if (!is_new_folder_) fs::create_directory(path_, ignored);
}

Collection& Store::collection(const std::string& name) {
  const auto names = database_->names();
  if (name.empty() && names.size() == 1) return *take(database_->find(names.front()), path_);
  if (names.empty()) throw bad_input(path_ + ": has no collection yet");
  if (name.empty()) {
    throw bad_input(path_ + ": has several collections; give --collection with one of " +
                    list(names));
  }
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw bad_input(path_ + ": has no collection \"" + name + "\"; it has " + list(names));
  }
  return *take(database_->find(name), path_);
}

}  // namespace nearfield::cli
