// Result<T>: how every fallible call of Nearfield reports failure. No exceptions cross this
// interface. A Result holds either a value or an Error; reading the wrong one is a bug of the
// caller and stops the program in debug builds.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace nearfield {

// The closed list of what can go wrong. The JavaScript class NearfieldError carries the same
// codes, spelled by error_code_name().
enum class ErrorCode : uint8_t {
  kInvalidArgument,    // an option, a count or a shape that no call accepts
  kDimensionMismatch,  // a vector of another length than the collection's
  kNotFinite,          // NaN, infinity or a value beyond the row type's range in a vector
  kInvalidId,          // an id that cannot be kept exactly
  kNotFound,           // a collection, file or store that is not there
  kAlreadyExists,      // a name that is taken
  kLocked,             // open for writing in another program or tab
  kOptionsMismatch,    // a collection opened with other options than it was created with
  kForeignFile,        // not a Nearfield file at all
  kNewerVersion,       // written by a later Nearfield than this one can read
  kCorrupt,            // a checksum, size or link that contradicts the file itself
  kIo,                 // the storage failed
  kQuota,              // the storage is full
  kOutOfMemory,        // memory could not be had; the store is as it was before the call
  kReadOnly,           // a change to a store that was opened for reading
  kClosed,             // a call on a closed store
  kAborted,            // the caller asked to stop
  kUnsupported,        // not available in this build or on this platform
};

// "INVALID_ARGUMENT", "DIMENSION_MISMATCH", ...
std::string_view error_code_name(ErrorCode code);

struct Error {
  ErrorCode code;
  std::string detail;  // one sentence: what was wrong and what was expected
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }

  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace nearfield

// The targets are declarations, which parentheses would break.
// NOLINTBEGIN(bugprone-macro-parentheses)

// Evaluates an expression that yields a Result and returns its error from the enclosing function.
#define NEARFIELD_TRY(expression)                                                   \
  do {                                                                              \
    auto nearfield_try_result = (expression);                                       \
    if (!nearfield_try_result.ok()) return std::move(nearfield_try_result).error(); \
  } while (false)

// NEARFIELD_ASSIGN(auto x, f()): declares or assigns x from a Result, or returns its error.
#define NEARFIELD_ASSIGN(target, expression) \
  NEARFIELD_ASSIGN_IMPL(NEARFIELD_CONCAT(nearfield_result_, __LINE__), target, expression)
#define NEARFIELD_ASSIGN_IMPL(temporary, target, expression) \
  auto temporary = (expression);                             \
  if (!temporary.ok()) return std::move(temporary).error();  \
  target = std::move(temporary).value()
#define NEARFIELD_CONCAT(a, b) NEARFIELD_CONCAT_IMPL(a, b)
#define NEARFIELD_CONCAT_IMPL(a, b) a##b

// NOLINTEND(bugprone-macro-parentheses)
