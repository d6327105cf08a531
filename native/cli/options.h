// Options that several commands share, and validators whose messages say what was expected.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "posix_storage.h"

namespace nearfield::cli {

// A whole number within [least, most].
CLI::Validator whole_number(uint64_t least, uint64_t most);
// A share: above 0 and below 1.
CLI::Validator share();
// One of a few words.
CLI::Validator one_of(std::vector<std::string> words);

// "--threads N": fills `threads`, which holds the default.
void add_threads(CLI::App& command, unsigned& threads);
// "--durability full|none"
void add_durability(CLI::App& command, Durability& durability);
// "--collection NAME"
void add_collection(CLI::App& command, std::string& name);

unsigned all_cores();

}  // namespace nearfield::cli
