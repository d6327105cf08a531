// Ids as text: in files, on the command line and in JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "nearfield/types.h"

namespace nearfield::cli {

// Text to id, by one rule everywhere: an integer as a program would print it (7, -7, not 007) is an
// integer id, a JSON string ("7") is the string inside the quotes, anything else is the string as
// it stands. Throws std::invalid_argument that says what is wrong.
Id parse_id(std::string_view text);

// An integer or a string; anything else throws std::invalid_argument.
Id id_from_json(const nlohmann::ordered_json& value);

// A record as one line of jsonl, as import reads it.
std::string record_json(IdView id, std::span<const float> vector, std::string_view metadata);

// One id a line, read by parse_id; blank lines are passed over.
std::vector<Id> read_ids(const std::string& path);

// For files of int32 ids; throws Failure for an id that is no such integer.
int32_t id_to_int32(IdView id);

}  // namespace nearfield::cli
