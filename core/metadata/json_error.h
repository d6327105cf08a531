// The sentence that tells where a text is no JSON, from what RapidJSON reports.
#pragma once

#include <rapidjson/error/en.h>

#include <string>
#include <string_view>

#include "nearfield/result.h"

namespace nearfield {

inline Error json_error(std::string_view subject, rapidjson::ParseErrorCode code, size_t byte) {
  std::string_view what = rapidjson::GetParseError_En(code);
  if (what.ends_with('.')) what.remove_suffix(1);
  return {ErrorCode::kInvalidArgument, std::string(subject) + " is not valid JSON at byte " +
                                           std::to_string(byte) + ": " + std::string(what)};
}

}  // namespace nearfield
