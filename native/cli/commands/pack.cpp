// nearfield pack and unpack: a store as one file, for static hosting, and back.
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

namespace nearfield::cli {
namespace {

struct PackCommand {
  std::string store;
  std::string file;
  bool force = false;
};

void run_pack(const PackCommand& command) {
  Store store(command.store, Mode::kRead, 1);
  OutputFile file(command.file, command.force);
  take(store.database().pack(file), command.store);
  std::cout << "packed " << command.store << " into " << command.file << ", "
            << byte_count(input_size(command.file)) << "\n";
}

// A folder beside the store: it is filled first, so that a failure leaves the store alone.
class StagingFolder {
 public:
  explicit StagingFolder(const std::string& store)
      : path_(beside(store, ".unpacking")), old_(beside(store, ".old")) {}
  ~StagingFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;

  const std::string& path() const { return path_; }
  void take_place_of(const std::string& store) {
    const bool exists = std::filesystem::exists(store);
    if (exists) std::filesystem::rename(store, old_);
    std::filesystem::rename(path_, store);
    if (exists) std::filesystem::remove_all(old_);
  }

 private:
  static std::string beside(const std::string& store, const std::string& suffix) {
    std::filesystem::path path(store);
    if (!path.has_filename()) path = path.parent_path();
    return path.string() + suffix + "-" + std::to_string(getpid());
  }

  std::string path_;
  std::string old_;
};

// What stands at the place of the store may be replaced only if it is a store (--force), or an
// empty folder.
void require_free(const PackCommand& command) {
  namespace fs = std::filesystem;
  if (!fs::exists(command.store)) return;
  if (fs::is_directory(command.store) && fs::is_empty(command.store)) return;
  if (!store_exists(command.store)) {
    throw bad_input(command.store + " exists and is no Nearfield store; choose another place");
  }
  if (!command.force) throw bad_input(command.store + " exists; give --force to replace it");
  Store(command.store, Mode::kWrite, 1);  // throws when another program has it open
}

void run_unpack(const PackCommand& command) {
  input_size(command.file);  // throws when it is missing
  require_free(command);
  StagingFolder staging(command.store);
  {
    PackedFile source(command.file);
    const auto destination = open_storage(staging.path(), Access::kWrite);
    take(Database::unpack(source, PackedFile::kName, *destination), command.file);
  }
  staging.take_place_of(command.store);
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
  command.callback([options] { run_unpack(*options); });
}

}  // namespace nearfield::cli
