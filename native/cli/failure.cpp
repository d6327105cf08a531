#include "failure.h"

namespace nearfield::cli {
namespace {

ExitStatus exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kDimensionMismatch:
    case ErrorCode::kNotFinite:
    case ErrorCode::kInvalidId:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kOptionsMismatch:
    case ErrorCode::kForeignFile:
    case ErrorCode::kNewerVersion:
    case ErrorCode::kCorrupt: return kBadInput;
    default: return kFailed;
  }
}

}  // namespace

Failure::Failure(const Error& error, const std::string& about)
    : std::runtime_error(about + ": " + error.detail),
      status_(exit_status(error.code)),
      damage_(error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kForeignFile) {}

}  // namespace nearfield::cli
