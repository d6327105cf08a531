// nearfield get: one record.
#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "failure.h"
#include "ids.h"
#include "options.h"
#include "store.h"

namespace nearfield::cli {
namespace {

constexpr size_t kShownValues = 8;

struct GetCommand {
  std::string store;
  std::string id;
  std::string collection;
  bool text_id = false;
  bool json = false;
};

Id wanted_id(const GetCommand& command) {
  if (command.text_id) return command.id;
  try {
    return parse_id(command.id);
  } catch (const std::invalid_argument& error) {
    throw bad_input(error.what());
  }
}

void print(const Record& record) {
  std::printf("id        %s\nvector   ", describe_id(record.id).c_str());
  for (size_t i = 0; i < record.vector.size() && i < kShownValues; ++i) {
    std::printf(" %.6g", static_cast<double>(record.vector[i]));
  }
  if (record.vector.size() > kShownValues) {
    std::printf(" ... (%zu values; --json prints all)", record.vector.size());
  }
  std::printf("\nmetadata  %s\n", record.metadata.empty() ? "none" : record.metadata.c_str());
}

void run_get(const GetCommand& command) {
  const Id id = wanted_id(command);
  Store store(command.store, Mode::kRead, 1);
  Collection& collection = store.collection(command.collection);
  if (!collection.contains(id)) {
    throw bad_input(command.store + ": no record has the id " + describe_id(id));
  }
  const Record record = take(collection.get(id), command.store);
  if (command.json) {
    std::cout << record_json(record.id, record.vector, record.metadata) << "\n";
  } else {
    print(record);
  }
}

}  // namespace

void add_get(CLI::App& program) {
  auto options = std::make_shared<GetCommand>();
  CLI::App& command = *program.add_subcommand("get", "Show one record");
  command.add_option("STORE", options->store, "Folder of the store")->required();
  command.add_option("ID", options->id, "Id; one that is written as an integer is an integer")
      ->required();
  command.add_flag("--text-id", options->text_id, "The id is a string, whatever it looks like");
  add_collection(command, options->collection);
  command.add_flag("--json", options->json, "Print one JSON object, as import reads it");
  command.callback([options] { run_get(*options); });
}

}  // namespace nearfield::cli
