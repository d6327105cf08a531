// nearfield verify: reads everything in a store and checks it.
#include <cstdio>
#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "failure.h"
#include "options.h"
#include "progress.h"
#include "store.h"

namespace nearfield::cli {
namespace {

struct VerifyCommand {
  std::string store;
  unsigned threads = all_cores();
  bool json = false;
};

// A store that does not open is a finding too, not a failure of verifying.
VerifyReport check(const VerifyCommand& command) {
  require_store(command.store);
  std::unique_ptr<Store> store;
  try {
    store = std::make_unique<Store>(command.store, Mode::kRead, command.threads);
  } catch (const Failure& failure) {
    if (!failure.damage()) throw;
    VerifyReport report;
    report.problems.push_back(failure.what());
    return report;
  }
  return take(store->database().verify(), command.store);
}

void print(const VerifyCommand& command, const VerifyReport& report) {
  if (command.json) {
    const nlohmann::ordered_json object = {{"ok", report.problems.empty()},
                                           {"segments", report.segments},
                                           {"bytes", report.bytes},
                                           {"rows", report.rows},
                                           {"problems", report.problems}};
    std::cout << object.dump() << "\n";
    return;
  }
  for (const std::string& problem : report.problems) std::printf("%s\n", problem.c_str());
  std::printf("checked %s segments, %s, %s rows: %s\n", with_commas(report.segments).c_str(),
              byte_count(report.bytes).c_str(), with_commas(report.rows).c_str(),
              report.problems.empty() ? "everything holds"
                                      : (with_commas(report.problems.size()) + " found").c_str());
}

}  // namespace

void add_verify(CLI::App& program) {
  auto options = std::make_shared<VerifyCommand>();
  CLI::App& command = *program.add_subcommand("verify", "Check everything in a store");
  command.add_option("STORE", options->store, "Folder of the store")->required();
  add_threads(command, options->threads);
  command.add_flag("--json", options->json, "Print one JSON object");
  command.footer(
      "Checks checksums, counts, ids and the graph. Exit status 1 when it finds damage.");
  command.callback([options] {
    const VerifyReport report = check(*options);
    print(*options, report);
    if (report.problems.empty()) return;
    throw failed(options->store + ": is damaged: " + with_commas(report.problems.size()) +
                 (report.problems.size() == 1 ? " problem" : " problems") + " found");
  });
}

}  // namespace nearfield::cli
