// nearfield: the native program. Commands throw; here every error becomes one line on standard
// error and an exit status (failure.h).
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>

#include "commands/commands.h"
#include "failure.h"
#include "nearfield/database.h"
#include "text.h"

namespace nearfield::cli {
namespace {

void build(CLI::App& program) {
  program.name("nearfield");
  program.require_subcommand(1);
  program.set_version_flag("--version", std::string("nearfield ") + version());
  program.get_formatter()->column_width(34);
  program.footer(
      "Exit status: 0 success; 1 the machine failed, or verify found damage; 2 bad input, a file\n"
      "or store that is damaged, foreign or of a newer version among it; 130 interrupted.\n"
      "nearfield COMMAND --help describes a command.");
  add_import(program);
  add_search(program);
  add_get(program);
  add_delete(program);
  add_compact(program);
  add_info(program);
  add_verify(program);
  add_pack(program);
  add_unpack(program);
  add_export(program);
  add_fields(program);
  add_kernels(program);
}

int report(int status, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::cout.flush();
  std::fprintf(stderr, "nearfield: %s\n", escape_controls(message).c_str());
  return status;
}

std::string describe(const CLI::App& program, const CLI::ParseError& error) {
  if (!program.get_subcommands().empty()) return error.what();
  std::string commands;
  for (const CLI::App* command : program.get_subcommands(nullptr)) {
    commands += (commands.empty() ? "" : ", ") + command->get_name();
  }
  const std::vector<std::string> rest = program.remaining();
  return (rest.empty() ? "no command" : "unknown command \"" + rest.front() + "\"") +
         ", expected one of " + commands;
}

std::string help_hint(const CLI::App& program) {
  std::string command = "nearfield";
  for (const CLI::App* chosen : program.get_subcommands()) command += " " + chosen->get_name();
  return "; see " + command + " --help";
}

int run(int argc, char** argv) {
  CLI::App program("A vector store: import vectors, search the nearest, look after the files.");
  build(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& wish) {  // --help, --version
    return program.exit(wish);
  } catch (const CLI::ParseError& error) {
    return report(kBadInput, describe(program, error) + help_hint(program));
  } catch (const Failure& failure) {
    return report(failure.status(), failure.what());
  } catch (const std::bad_alloc&) {
    return report(kFailed, "out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    return report(kFailed, error.path1().string() + ": " + error.code().message());
  } catch (const std::exception& error) {
    return report(kFailed, error.what());
  }
  if (!std::cout.flush()) return report(kFailed, "standard output cannot be written");
  return kSuccess;
}

}  // namespace
}  // namespace nearfield::cli

int main(int argc, char** argv) { return nearfield::cli::run(argc, argv); }
