// nearfield export: all live records as a plain file.
#include <bit>
#include <cstdio>
#include <iostream>
#include <memory>

#include "commands/commands.h"
#include "failure.h"
#include "files.h"
#include "ids.h"
#include "options.h"
#include "progress.h"
#include "store.h"

namespace nearfield::cli {
namespace {

struct ExportCommand {
  std::string store;
  std::string file;
  std::string format;
  std::string collection;
  bool force = false;
};

static_assert(std::endian::native == std::endian::little, "the formats are little-endian");

// NumPy's header, version 1: padded so that the data begins at a multiple of 64.
std::string npy_header(uint64_t rows, uint32_t dimensions) {
  std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                           std::to_string(rows) + ", " + std::to_string(dimensions) + "), }";
  constexpr size_t kStart = 10;
  while ((kStart + dictionary.size() + 1) % 64 != 0) dictionary += ' ';
  dictionary += '\n';
  std::string header = "\x93NUMPY\x01";
  header += '\0';
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

void run_export(const ExportCommand& command) {
  Store store(command.store, Mode::kRead, 1);
  const Collection& collection = store.collection(command.collection);
  if (lies_inside(command.file, command.store)) {
    throw bad_input(command.file + " lies inside the store; choose another place");
  }
  OutputFile file(command.file, command.force);
  if (command.format == "npy") {
    const std::string header = npy_header(collection.count(), collection.options().dimensions);
    file.write(header.data(), header.size());
  }
  const uint64_t rows = collection.stats().rows;
  uint64_t written = 0;
  Progress progress;
  progress.begin("writing");
  for (uint32_t slot = collection.next_live(0); slot < rows;
       slot = collection.next_live(slot + 1)) {
    const auto vector = collection.vector_at(slot);
    if (command.format == "jsonl") {
      const std::string line =
          record_json(collection.id_at(slot), vector, collection.metadata_at(slot)) + "\n";
      file.write(line.data(), line.size());
    } else {
      file.write(vector.data(), vector.size() * sizeof(float));
    }
    ++written;
    progress.update(static_cast<double>(written) / static_cast<double>(collection.count()),
                    written);
  }
  file.close();
  progress.finish(written);
  if (file.is_standard_output()) return;
  std::cout << "wrote " << with_commas(written) << " records to " << command.file << "\n";
}

}  // namespace

void add_export(CLI::App& program) {
  auto options = std::make_shared<ExportCommand>();
  CLI::App& command = *program.add_subcommand("export", "Write all records into a plain file");
  command.add_option("STORE", options->store, "Folder of the store")->required();
  command.add_option("FILE", options->file, "File to write")->required();
  command.add_option("--format", options->format, "jsonl has ids and metadata; f32 and npy do not")
      ->type_name("jsonl|f32|npy")
      ->check(one_of({"jsonl", "f32", "npy"}))
      ->required();
  command.add_flag("--force", options->force, "Replace the file when it exists");
  add_collection(command, options->collection);
  command.callback([options] { run_export(*options); });
}

}  // namespace nearfield::cli
