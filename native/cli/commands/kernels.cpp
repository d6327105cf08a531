// nearfield kernels: the sets of distance kernels that this machine can run.
#include <cstdio>
#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "failure.h"
#include "nearfield/database.h"

namespace nearfield::cli {

void add_kernels(CLI::App& program) {
  auto json = std::make_shared<bool>(false);
  CLI::App& command =
      *program.add_subcommand("kernels", "List the distance kernels of this machine");
  command.add_flag("--json", *json, "Print one JSON object");
  command.callback([json] {
    const auto database = take(Database::open(std::make_unique<MemoryStorage>(), {}), "kernels");
    const std::string in_use = database->info().kernels;
    const std::vector<std::string> available = available_kernels();
    if (*json) {
      const nlohmann::ordered_json object = {{"available", available}, {"in_use", in_use}};
      std::cout << object.dump() << "\n";
      return;
    }
    for (const std::string& name : available) {
      std::printf("%s%s\n", name.c_str(), name == in_use ? "  (in use)" : "");
    }
  });
}

}  // namespace nearfield::cli
