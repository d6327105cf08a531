// nearfield pack and unpack: a store as one file, for static hosting, and back.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>

#include <unistd.h>

#include "commands/commands.h"
#include "failure.h"
#include "files.h"
#include "options.h"
#include "packed_file.h"
#include "progress.h"
#include "store.h"
#include "text.h"

namespace nearfield::cli {
namespace {

namespace fs = std::filesystem;

struct PackCommand {
  std::string store;
  std::string file;
  bool force = false;
  Durability durability = Durability::kFull;  // of unpack
};

void run_pack(const PackCommand& command) {
  Store store(command.store, Mode::kRead, 1);
  if (lies_inside(command.file, command.store)) {
    throw bad_input(command.file + " lies inside the store; choose another place");
  }
  OutputFile file(command.file, command.force);
  take(store.database().pack(file), command.store);
  if (file.is_standard_output()) return;
  std::cout << "packed " << command.store << " into " << command.file << ", "
            << byte_count(file.written()) << "\n";
}

Failure cannot_place(const std::string& store) {
  if (errno == ENOTEMPTY || errno == EEXIST) {
    return bad_input(store + " exists; give --force to replace it");
  }
  return failed(store + ": cannot be made: " + std::strerror(errno));
}

// A folder beside the store: it is filled first, so that a failure leaves the store alone.
class StagingFolder {
 public:
  // `folder` is the place of the store; where it is a link, the folder behind it.
  explicit StagingFolder(const fs::path& folder)
      : folder_(folder.string()),
        path_(folder_ + ".unpacking-" + std::to_string(getpid())),
        old_(folder_ + ".old-" + std::to_string(getpid())) {}
  ~StagingFolder() { remove_store(path_); }
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;

  const std::string& path() const { return path_; }

  // The place must be free or an empty folder still: of several programs only one gets it.
  void take_place(const std::string& store) {
    if (std::rename(path_.c_str(), folder_.c_str()) != 0) throw cannot_place(store);
  }

  // The lock of the old store is to be held.
  void take_place_of_old(const std::string& store) {
    if (std::rename(folder_.c_str(), old_.c_str()) != 0) throw cannot_place(store);
    if (std::rename(path_.c_str(), folder_.c_str()) != 0) {
      const Failure failure = cannot_place(store);
      std::rename(old_.c_str(), folder_.c_str());
      throw failure;
    }
    remove_store(old_);
    std::error_code error;
    if (fs::exists(old_, error)) {
      std::fprintf(stderr, "nearfield: warning: %s holds other files and was kept\n", old_.c_str());
    }
  }

 private:
  std::string folder_;
  std::string path_;
  std::string old_;
};

// Throws unless the folder holds a store and nothing else.
void require_only_a_store(const std::string& store) {
  bool has_data = false;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(store, error)) {
    const std::string name = entry.path().filename().string();
    if (!is_store_file(name) || !fs::is_regular_file(entry.symlink_status(error))) {
      throw bad_input(store + " exists and is no Nearfield store, or holds other files (" +
                      shown(name) + "); choose another place");
    }
    has_data |= name != "lock";
  }
  if (error) throw failed(store + ": " + error.message());
  if (!has_data) throw bad_input(store + " exists and is no Nearfield store");
}

void run_unpack(const PackCommand& command) {
  input_size(command.file);  // throws when it is missing
  // Throws for a place that no store can be at; the lock is taken below, where it is needed.
  open_storage(command.store, Access::kRead);
  std::error_code error;
  fs::path folder = fs::weakly_canonical(fs::absolute(command.store), error);
  if (error) throw bad_input(command.store + ": " + error.message());
  if (!folder.has_filename()) folder = folder.parent_path();

  const bool replaces = fs::exists(folder, error) && !fs::is_empty(folder, error);
  std::unique_ptr<PosixStorage> old;
  if (replaces) {
    require_only_a_store(command.store);
    if (!command.force) throw bad_input(command.store + " exists; give --force to replace it");
    if (lies_inside(command.file, command.store)) {
      throw bad_input(command.file + " lies inside the store to replace; move it first");
    }
    old = open_storage(command.store, Access::kWrite);  // throws when another program has it open
  }
  StagingFolder staging(folder);
  {
    PackedFile source(command.file);
    const auto destination = open_storage(staging.path(), Access::kWrite, command.durability);
    take(Database::unpack(source, PackedFile::kName, *destination), command.file);
  }
  replaces ? staging.take_place_of_old(command.store) : staging.take_place(command.store);
  if (command.durability == Durability::kFull)
    take(sync_posix_name(folder.string()), command.store);
  std::cout << "unpacked " << command.file << " into " << command.store << "\n";
}

}  // namespace

void add_pack(CLI::App& program) {
  auto options = std::make_shared<PackCommand>();
  CLI::App& command = *program.add_subcommand("pack", "Write a store as one file");
  command.add_option("STORE", options->store, "Folder of the store")->required();
  command.add_option("FILE", options->file, "File to write")->required();
  command.add_flag("--force", options->force, "Replace the file when it exists");
  command.callback([options] { run_pack(*options); });
}

void add_unpack(CLI::App& program) {
  auto options = std::make_shared<PackCommand>();
  CLI::App& command = *program.add_subcommand("unpack", "Make a store out of a packed file");
  command.add_option("FILE", options->file, "File that pack wrote")->required();
  command.add_option("STORE", options->store, "Folder of the store to make")->required();
  command.add_flag("--force", options->force, "Replace the store when it exists");
  add_durability(command, options->durability);
  command.callback([options] { run_unpack(*options); });
}

}  // namespace nearfield::cli
