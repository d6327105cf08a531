// JsStorage: a Storage whose files are kept by a JavaScript object (web/src/storage/backend.ts).
//
// The object's methods are synchronous and never throw. They return a number: 0 or more is the
// answer, a negative one is -1 - ErrorCode, and the object's `detail` then says what happened.
// Bytes cross as addresses in the engine's memory. What is asynchronous in the browser (reading
// IndexedDB, writing to it) happens around the calls of the engine, so sync() orders files only
// where the object can do so at once (a folder in Node); IndexedDB takes everything of one flush in
// one transaction.
#pragma once

#include <emscripten/val.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/storage.h"

namespace nearfield::wasm {

class JsStorage final : public Storage {
 public:
  explicit JsStorage(emscripten::val backend);

  Result<std::vector<std::string>> list() override;
  Result<uint64_t> size(std::string_view name) override;
  Result<Buffer> read(std::string_view name, uint64_t offset, uint64_t length) override;
  Result<std::unique_ptr<FileSink>> create(std::string_view name) override;
  Result<void> remove(std::string_view name) override;
  Result<void> sync() override;
  uint64_t preferred_file_bytes() const override { return preferred_file_bytes_; }
  bool maps() const override { return false; }

 private:
  emscripten::val backend_;
  uint64_t preferred_file_bytes_;
};

}  // namespace nearfield::wasm
