// nearfield fields: what records can be filtered, ordered and searched by.
#include <iostream>
#include <memory>
#include <optional>

#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "failure.h"
#include "fields.h"
#include "options.h"
#include "store.h"

namespace nearfield::cli {
namespace {

struct FieldsCommand {
  std::string store;
  std::string collection;
  std::optional<std::string> set;
  Durability durability = Durability::kFull;
};

void run_fields(const FieldsCommand& command) {
  require_store(command.store);
  Store store(command.store, command.set ? Mode::kWrite : Mode::kRead, all_cores(),
              command.durability);
  Collection& collection = store.collection(command.collection);
  if (command.set) {
    take(collection.set_fields(parse_fields(*command.set)), command.store);
    take(store.database().flush(), command.store);
  }
  std::cout << fields_to_json(collection.fields()).dump(2) << "\n";
}

}  // namespace

void add_fields(CLI::App& program) {
  auto options = std::make_shared<FieldsCommand>();
  CLI::App& command = *program.add_subcommand(
      "fields", "Show or declare what records can be filtered, ordered and searched by");
  command.add_option("STORE", options->store, "Folder of the store")->required();
  command
      .add_option("--set", options->set,
                  "Fields to have in place of those before, read from the records' metadata")
      ->type_name("JSON");
  add_collection(command, options->collection);
  add_durability(command, options->durability);
  command.footer(
      "  --set '{\"title\": \"text\", \"tag\": \"tag\", \"price\": \"number\", \"sku\": "
      "\"keyword\"}'\n"
      "Types: tag, number, bool, text, keyword. A text may have {\"type\": \"text\", "
      "\"stopWords\": false,\n"
      "\"prefix\": false}. No record is changed, whatever fields are declared.");
  command.callback([options] { run_fields(*options); });
}

}  // namespace nearfield::cli
