// Fields as JSON, as the JavaScript package takes them: {"title": "text", "sku": {"type":
// "keyword", "prefix": false}}.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "nearfield/fields.h"

namespace nearfield::cli {

// Throws a Failure that says what was wrong and what was expected.
std::vector<Field> parse_fields(const std::string& json);
nlohmann::ordered_json fields_to_json(std::span<const Field> fields);

}  // namespace nearfield::cli
