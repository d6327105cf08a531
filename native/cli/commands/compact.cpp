// nearfield compact: gives back the room of records that were replaced or deleted.
#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "failure.h"
#include "interrupt.h"
#include "options.h"
#include "progress.h"
#include "store.h"

namespace nearfield::cli {
namespace {

struct CompactCommand {
  std::string store;
  std::string collection;
  Durability durability = Durability::kFull;
  unsigned threads = all_cores();
  bool json = false;
};

void run_compact(const CompactCommand& command) {
  constexpr uint64_t kBudgetMicroseconds = 200'000;  // between two looks at Ctrl-C
  require_store(command.store);
  Store store(command.store, Mode::kWrite, command.threads, command.durability);
  Collection& collection = store.collection(command.collection);
  const uint64_t rows_before = collection.stats().rows;
  const uint64_t bytes_before = store.database().info().bytes;

  Progress progress;
  progress.begin("compacting");
  for (;;) {
    const LinkProgress step = take(collection.compact(kBudgetMicroseconds), command.store);
    if (step.finished()) break;
    progress.update(static_cast<double>(step.done) / static_cast<double>(step.total));
    stop_if_interrupted();
  }
  progress.finish();
  if (store.database().dirty()) {
    progress.begin("writing");
    take(store.database().flush(), command.store);
    progress.finish();
  }

  const uint64_t removed = rows_before - collection.stats().rows;
  const uint64_t bytes = store.database().info().bytes;
  if (command.json) {
    const nlohmann::ordered_json object = {{"removed", removed},
                                           {"records", collection.count()},
                                           {"bytes_before", bytes_before},
                                           {"bytes", bytes}};
    std::cout << object.dump() << "\n";
  } else {
    std::cout << "gave back " << with_commas(removed) << " rows; " << command.store << " holds "
              << with_commas(collection.count()) << " records in " << byte_count(bytes)
              << " (before: " << byte_count(bytes_before) << ")\n";
  }
}

}  // namespace

void add_compact(CLI::App& program) {
  auto options = std::make_shared<CompactCommand>();
  CLI::App& command =
      *program.add_subcommand("compact", "Give back the room of deleted and replaced records");
  command.add_option("STORE", options->store, "Folder of the store")->required();
  add_threads(command, options->threads);
  add_collection(command, options->collection);
  add_durability(command, options->durability);
  command.add_flag("--json", options->json, "Print one JSON object");
  command.footer(
      "Happens by itself, in import and delete, when there are half as many of them as others.\n"
      "Nothing is built anew: links around the rows that go are mended and the others move\n"
      "together. Stopped before its end, the store is as it was.");
  command.callback([options] { run_compact(*options); });
}

}  // namespace nearfield::cli
