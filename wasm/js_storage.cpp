#include "js_storage.h"

#include <utility>

namespace nearfield::wasm {
namespace {

using emscripten::val;

Error error_of(const val& backend, double answer) {
  return {static_cast<ErrorCode>(static_cast<int>(-answer) - 1),
          backend["detail"].as<std::string>()};
}

class JsFileSink final : public FileSink {
 public:
  JsFileSink(val backend, double file) : backend_(std::move(backend)), file_(file) {}

  Result<void> append(std::span<const std::byte> bytes) override {
    const auto address = reinterpret_cast<uintptr_t>(bytes.data());
    return check(backend_.call<double>("append", file_, address, bytes.size()));
  }

  Result<void> finish() override { return check(backend_.call<double>("finish", file_)); }

 private:
  Result<void> check(double answer) const {
    if (answer < 0) return error_of(backend_, answer);
    return {};
  }

  val backend_;
  double file_;
};

}  // namespace

JsStorage::JsStorage(val backend)
    : backend_(std::move(backend)),
      preferred_file_bytes_(static_cast<uint64_t>(backend_["preferredFileBytes"].as<double>())) {}

Result<std::vector<std::string>> JsStorage::list() {
  const auto answer = backend_.call<double>("list");
  if (answer < 0) return error_of(backend_, answer);
  const val names = backend_["names"];
  std::vector<std::string> result;
  result.reserve(static_cast<size_t>(answer));
  for (int i = 0; i < static_cast<int>(answer); ++i) result.push_back(names[i].as<std::string>());
  return result;
}

Result<uint64_t> JsStorage::size(std::string_view name) {
  const auto answer = backend_.call<double>("size", std::string(name));
  if (answer < 0) return error_of(backend_, answer);
  return static_cast<uint64_t>(answer);
}

Result<Buffer> JsStorage::read(std::string_view name, uint64_t offset, uint64_t length) {
  // Before memory is asked for: a length that a damaged manifest claims must not be believed.
  NEARFIELD_ASSIGN(const uint64_t available, size(name));
  if (offset > available || length > available - offset) {
    return Error{ErrorCode::kCorrupt, "the file " + std::string(name) + " has " +
                                          std::to_string(available) + " bytes, but " +
                                          std::to_string(length) + " from byte " +
                                          std::to_string(offset) + " are needed"};
  }
  if (!std::in_range<size_t>(length)) {
    return Error{ErrorCode::kOutOfMemory, "no memory for " + std::to_string(length) +
                                              " bytes of the file " + std::string(name)};
  }
  NEARFIELD_ASSIGN(Buffer buffer, Buffer::allocate(static_cast<size_t>(length)));
  const auto address = reinterpret_cast<uintptr_t>(buffer.data());
  const auto answer = backend_.call<double>("read", std::string(name), static_cast<double>(offset),
                                            address, static_cast<size_t>(length));
  if (answer < 0) return error_of(backend_, answer);
  return buffer;
}

Result<std::unique_ptr<FileSink>> JsStorage::create(std::string_view name) {
  const auto answer = backend_.call<double>("create", std::string(name));
  if (answer < 0) return error_of(backend_, answer);
  return std::unique_ptr<FileSink>(new JsFileSink(backend_, answer));
}

Result<void> JsStorage::remove(std::string_view name) {
  const auto answer = backend_.call<double>("remove", std::string(name));
  if (answer < 0) return error_of(backend_, answer);
  return {};
}

Result<void> JsStorage::sync() {
  const auto answer = backend_.call<double>("sync");
  if (answer < 0) return error_of(backend_, answer);
  return {};
}

}  // namespace nearfield::wasm
