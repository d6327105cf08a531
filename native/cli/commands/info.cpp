// nearfield info: what a store holds.
#include <cstdio>
#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "failure.h"
#include "fields.h"
#include "options.h"
#include "progress.h"
#include "store.h"

namespace nearfield::cli {
namespace {

using Json = nlohmann::ordered_json;

struct InfoCommand {
  std::string store;
  std::string collection;
  bool json = false;
};

Json graph_json(const Collection& collection) {
  const CollectionStats stats = collection.stats();
  return {{"m", collection.options().m},
          {"ef_construction", collection.options().ef_construction},
          {"rows", stats.rows},
          {"linked", stats.linked}};
}

Json collection_json(const Collection& collection) {
  const CollectionOptions& options = collection.options();
  return {{"records", collection.count()},
          {"dimensions", options.dimensions},
          {"metric", metric_name(options.metric)},
          {"storage", row_type_name(options.row_type)},
          {"fields", fields_to_json(collection.fields())},
          {"graph", graph_json(collection)}};
}

// The collection that the fields at the top describe: the chosen one, or the first; null for a
// store without any.
Collection* main_collection(Store& store, const InfoCommand& command) {
  if (!command.collection.empty()) return &store.collection(command.collection);
  const auto names = store.database().names();
  return names.empty() ? nullptr : &store.collection(names.front());
}

void print_json(Store& store, const InfoCommand& command) {
  const DatabaseInfo info = store.database().info();
  Json object = {{"records", 0},
                 {"dimensions", nullptr},
                 {"metric", nullptr},
                 {"storage", nullptr},
                 {"graph", nullptr}};
  if (const Collection* collection = main_collection(store, command)) {
    object = collection_json(*collection);
    object["collection"] = collection->name();
  }
  object["bytes"] = info.bytes;
  object["bytes_by_kind"] = Json::object();
  for (const auto& [kind, bytes] : info.bytes_by_kind) object["bytes_by_kind"][kind] = bytes;
  object["format_version"] = info.format_version;
  object["generation"] = info.generation;
  object["collections"] = Json::object();
  for (const std::string& name : store.database().names()) {
    object["collections"][name] = collection_json(store.collection(name));
  }
  std::cout << object.dump() << "\n";
}

void print_collection(const Collection& collection) {
  const CollectionOptions& options = collection.options();
  const CollectionStats stats = collection.stats();
  std::printf("collection  %s\n", collection.name().c_str());
  std::printf("  records     %s\n", with_commas(stats.count).c_str());
  std::printf("  vectors     %u dimensions, %s, kept as %s\n", options.dimensions,
              std::string(metric_name(options.metric)).c_str(),
              std::string(row_type_name(options.row_type)).c_str());
  std::printf("  graph       m %u, ef-construction %u; %s of %s rows linked\n", options.m,
              options.ef_construction, with_commas(stats.linked).c_str(),
              with_commas(stats.rows).c_str());
  for (const Field& field : collection.fields()) {
    std::printf("  field       %s: %s\n", field.name.c_str(),
                std::string(field_type_name(field.type)).c_str());
  }
}

void print_text(Store& store, const InfoCommand& command) {
  const DatabaseInfo info = store.database().info();
  std::printf("store       %s\n", command.store.c_str());
  std::printf("format      version %u, generation %s\n", info.format_version,
              with_commas(info.generation).c_str());
  std::printf("size        %s\n", byte_count(info.bytes).c_str());
  for (const auto& [kind, bytes] : info.bytes_by_kind) {
    std::printf("  %-10s  %s\n", kind.c_str(), byte_count(bytes).c_str());
  }
  const auto names = command.collection.empty() ? store.database().names()
                                                : std::vector<std::string>{command.collection};
  for (const std::string& name : names) print_collection(store.collection(name));
  if (names.empty()) std::printf("no collections\n");
}

}  // namespace

void add_info(CLI::App& program) {
  auto options = std::make_shared<InfoCommand>();
  CLI::App& command = *program.add_subcommand("info", "Describe a store");
  command.add_option("STORE", options->store, "Folder of the store")->required();
  add_collection(command, options->collection);
  command.add_flag("--json", options->json, "Print one JSON object");
  command.callback([options] {
    Store store(options->store, Mode::kRead, 1);
    options->json ? print_json(store, *options) : print_text(store, *options);
  });
}

}  // namespace nearfield::cli
