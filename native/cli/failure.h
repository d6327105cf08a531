// How a command gives up: it throws a Failure, and main() prints its message as one line.
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "nearfield/result.h"

namespace nearfield::cli {

enum ExitStatus : int {
  kSuccess = 0,
  kFailed = 1,    // the machine failed, or verify found damage
  kBadInput = 2,  // what was asked cannot be done as asked, or a file or store is not fit for it
  kInterrupted = 130,  // stopped by Ctrl-C, as shells report it
};

class Failure : public std::runtime_error {
 public:
  Failure(ExitStatus status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  Failure(const Error& error, const std::string& about);

  ExitStatus status() const { return status_; }
  bool damage() const { return damage_; }  // whether a store's own files contradict each other

 private:
  ExitStatus status_;
  bool damage_ = false;
};

inline Failure bad_input(const std::string& message) { return {kBadInput, message}; }
inline Failure failed(const std::string& message) { return {kFailed, message}; }

// The value of a Result, or a Failure that names `about` (a store or a file).
template <class T>
T take(Result<T> result, const std::string& about) {
  if (!result.ok()) throw Failure(result.error(), about);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

}  // namespace nearfield::cli
