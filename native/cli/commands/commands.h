// Each function adds one command to the program; the command runs when it is parsed.
#pragma once

#include <CLI/CLI.hpp>

namespace nearfield::cli {

void add_import(CLI::App& program);
void add_search(CLI::App& program);
void add_get(CLI::App& program);
void add_delete(CLI::App& program);
void add_compact(CLI::App& program);
void add_info(CLI::App& program);
void add_verify(CLI::App& program);
void add_pack(CLI::App& program);
void add_unpack(CLI::App& program);
void add_export(CLI::App& program);
void add_fields(CLI::App& program);
void add_kernels(CLI::App& program);

}  // namespace nearfield::cli
