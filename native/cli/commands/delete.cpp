// nearfield delete: removes the records of a list of ids.
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "failure.h"
#include "ids.h"
#include "options.h"
#include "progress.h"
#include "store.h"

namespace nearfield::cli {
namespace {

struct DeleteCommand {
  std::string store;
  std::string ids;
  std::string collection;
  std::optional<std::string> where;
  Durability durability = Durability::kFull;
  unsigned threads = all_cores();
  bool json = false;
};

void run_delete(const DeleteCommand& command) {
  if (command.ids.empty() && !command.where) {
    throw bad_input("--ids or --where is required: a file with one id a line, or a filter");
  }
  require_store(command.store);
  const std::vector<Id> ids = command.where ? std::vector<Id>() : read_ids(command.ids);
  const std::vector<IdView> views(ids.begin(), ids.end());

  Store store(command.store, Mode::kWrite, command.threads, command.durability);
  Collection& collection = store.collection(command.collection);
  uint64_t wanted = ids.size();
  uint64_t deleted = 0;
  if (command.where) {
    const Selection selected = take(collection.select(*command.where), "--where");
    wanted = selected.count;
    deleted = take(collection.remove_selected(selected), command.store);
  } else {
    deleted = take(collection.remove(views), command.store);
  }
  if (collection.wants_link()) take(collection.link(), command.store);
  if (store.database().dirty()) take(store.database().flush(), command.store);

  if (command.json) {
    const nlohmann::ordered_json object = {{"deleted", deleted}, {"records", collection.count()}};
    std::cout << object.dump() << "\n";
  } else {
    std::cout << "deleted " << with_commas(deleted) << " of " << with_commas(wanted)
              << (command.where ? " matches; " : " ids; ") << command.store << " holds "
              << with_commas(collection.count()) << " records\n";
  }
}

}  // namespace

void add_delete(CLI::App& program) {
  auto options = std::make_shared<DeleteCommand>();
  CLI::App& command = *program.add_subcommand("delete", "Remove records");
  command.add_option("STORE", options->store, "Folder of the store")->required();
  CLI::Option* ids =
      command.add_option("--ids", options->ids, "File with one id a line")->type_name("FILE");
  command.add_option("--where", options->where, "Filter, as for search: what matches is removed")
      ->type_name("JSON")
      ->excludes(ids);
  add_threads(command, options->threads);
  add_collection(command, options->collection);
  add_durability(command, options->durability);
  command.add_flag("--json", options->json, "Print one JSON object");
  command.footer(
      "A line that is an integer (7, -7) is an integer id; in quotes, as a JSON string (\"7\"), "
      "it\n"
      "is a string id; any other line is a string id as it stands. Ids that are not in the store\n"
      "are passed over.");
  command.callback([options] { run_delete(*options); });
}

}  // namespace nearfield::cli
