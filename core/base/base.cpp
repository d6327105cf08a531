// The definitions behind the small public headers: names of codes, buffers, options and the serial
// pool.
#include <cstdlib>
#include <cstring>

#include "base/checked.h"
#include "nearfield/buffer.h"
#include "nearfield/fields.h"
#include "nearfield/options.h"
#include "nearfield/result.h"
#include "nearfield/thread_pool.h"
#include "nearfield/types.h"

namespace nearfield {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "INVALID_ARGUMENT";
    case ErrorCode::kDimensionMismatch: return "DIMENSION_MISMATCH";
    case ErrorCode::kNotFinite: return "NOT_FINITE";
    case ErrorCode::kInvalidId: return "INVALID_ID";
    case ErrorCode::kNotFound: return "NOT_FOUND";
    case ErrorCode::kAlreadyExists: return "ALREADY_EXISTS";
    case ErrorCode::kLocked: return "LOCKED";
    case ErrorCode::kOptionsMismatch: return "OPTIONS_MISMATCH";
    case ErrorCode::kForeignFile: return "FOREIGN_FILE";
    case ErrorCode::kNewerVersion: return "NEWER_VERSION";
    case ErrorCode::kCorrupt: return "CORRUPT";
    case ErrorCode::kIo: return "IO";
    case ErrorCode::kQuota: return "QUOTA";
    case ErrorCode::kOutOfMemory: return "OUT_OF_MEMORY";
    case ErrorCode::kReadOnly: return "READ_ONLY";
    case ErrorCode::kClosed: return "CLOSED";
    case ErrorCode::kAborted: return "ABORTED";
    case ErrorCode::kUnsupported: return "UNSUPPORTED";
  }
  return "UNKNOWN";
}

std::string_view field_type_name(FieldType type) {
  switch (type) {
    case FieldType::kTag: return "tag";
    case FieldType::kNumber: return "number";
    case FieldType::kBool: return "bool";
    case FieldType::kText: return "text";
    case FieldType::kKeyword: return "keyword";
  }
  return "unknown";
}

std::string_view metric_name(Metric metric) {
  switch (metric) {
    case Metric::kCosine: return "cosine";
    case Metric::kL2: return "l2";
    case Metric::kDot: return "dot";
  }
  return "unknown";
}

std::string_view row_type_name(RowType row_type) {
  switch (row_type) {
    case RowType::kF32: return "f32";
    case RowType::kF16: return "f16";
  }
  return "unknown";
}

std::string describe_id(IdView id) {
  if (!id.is_text()) return std::to_string(id.number());
  constexpr size_t kShown = 60;
  std::string shown(id.text().substr(0, kShown));
  return "\"" + shown + (id.text().size() > kShown ? "…\"" : "\"");
}

Result<void> validate(const CollectionOptions& options) {
  const auto refuse = [](const char* option, uint64_t value, uint64_t low, uint64_t high) {
    return Error{ErrorCode::kInvalidArgument, std::string(option) + " is " + std::to_string(value) +
                                                  "; expected " + std::to_string(low) + " to " +
                                                  std::to_string(high)};
  };
  if (options.dimensions < 1 || options.dimensions > kMaxDimensions) {
    return refuse("dimensions", options.dimensions, 1, kMaxDimensions);
  }
  if (options.metric > Metric::kDot || options.row_type > RowType::kF16) {
    return Error{ErrorCode::kInvalidArgument, "unknown metric or row type"};
  }
  if (options.m < 2 || options.m > kMaxM) return refuse("m", options.m, 2, kMaxM);
  if (options.ef_construction < options.m || options.ef_construction > kMaxEfConstruction) {
    return refuse("efConstruction", options.ef_construction, options.m, kMaxEfConstruction);
  }
  return {};
}

Result<Buffer> Buffer::allocate(size_t size) {
  const uint64_t rounded = round_up(size == 0 ? 1 : uint64_t{size}, kBufferAlignment);
  void* memory = rounded <= SIZE_MAX
                     ? std::aligned_alloc(kBufferAlignment, static_cast<size_t>(rounded))
                     : nullptr;
  if (memory == nullptr) {
    return Error{ErrorCode::kOutOfMemory, "no memory for " + std::to_string(size) + " bytes"};
  }
  std::memset(memory, 0, static_cast<size_t>(rounded));
  return borrow(std::shared_ptr<void>(memory, std::free), static_cast<std::byte*>(memory), size);
}

namespace {

class SerialPool final : public ThreadPool {
 public:
  unsigned workers() const override { return 1; }
  void parallel_for(size_t count, size_t grain,
                    const std::function<void(size_t, size_t, unsigned)>& body) override {
    for (size_t begin = 0; begin < count; begin += grain) {
      body(begin, begin + grain < count ? begin + grain : count, 0);
    }
  }
};

}  // namespace

ThreadPool& serial_pool() {
  static SerialPool pool;
  return pool;
}

}  // namespace nearfield
