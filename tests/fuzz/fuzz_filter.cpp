// Filters of arbitrary text over columns of arbitrary bytes: whatever is accepted must be evaluated
// without a crash, and $not must give exactly the other live rows.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstring>
#include <string>
#include <vector>

#include "metadata/extractor.h"
#include "metadata/order.h"
#include "query/evaluate.h"

using namespace nearfield;

namespace {

constexpr unsigned kShift = 6;
constexpr uint32_t kRows = 100;

void require(bool holds) {
  if (!holds) __builtin_trap();
}

const std::vector<Field>& fields() {
  static const std::vector<Field> all = {{"n", FieldType::kNumber},    {"b", FieldType::kBool},
                                         {"t", FieldType::kTag},       {"l", FieldType::kTag},
                                         {"k.k", FieldType::kKeyword}, {"x", FieldType::kText}};
  return all;
}

std::string metadata_of(uint32_t slot) {
  const std::string digit = std::to_string(slot % 7);
  return R"({"n":)" + digit + R"(,"b":true,"t":"a)" + digit + R"(","l":["a)" + digit +
         R"(","b"],"k":{"k":"é"},"x":"y","u":)" + digit + "}";
}

class Source final : public FilterSource {
 public:
  explicit Source(std::string odd) : odd_(std::move(odd)) {}
  std::string_view metadata_at(uint32_t slot) const override {
    if (slot % 2 == 1) return odd_;
    text_ = metadata_of(slot);
    return text_;
  }
  Result<std::optional<uint32_t>> find_id(IdView id) const override {
    if (id.is_text() || id.number() < 0 || id.number() >= kRows) return std::optional<uint32_t>();
    return std::optional(static_cast<uint32_t>(id.number()));
  }

 private:
  std::string odd_;
  mutable std::string text_;
};

Columns make_sound() {
  Extractor extractor(fields());
  Columns sound;
  for (const Field& field : fields()) {
    sound.emplace_back(field.type, kShift);
    require(sound.back().reserve(kRows).ok());
  }
  for (uint32_t slot = 0; slot < kRows; ++slot) {
    require(extractor.read(metadata_of(slot)).ok());
    for (size_t i = 0; i < sound.size(); ++i) sound[i].append(extractor.values(i));
  }
  return sound;
}

// Sound columns as storage brings them, with some bytes changed.
Columns columns(FuzzedDataProvider& input) {
  static const Columns sound = make_sound();
  Columns damaged;
  for (size_t i = 0; i < sound.size(); ++i) {
    Column& column = damaged.emplace_back(fields()[i].type, kShift);
    for (uint32_t first = 0; first < kRows;) {
      const uint32_t count =
          std::min(first == 64 ? 20u : 64u, std::min(64 - first % 64, kRows - first));
      std::vector<std::byte> bytes = sound[i].encode(first, count);
      for (int n = input.ConsumeIntegralInRange(0, 3); n > 0 && !bytes.empty(); --n)
        bytes[input.ConsumeIntegralInRange<size_t>(0, bytes.size() - 1)] =
            std::byte{input.ConsumeIntegral<uint8_t>()};
      auto buffer = Buffer::allocate(bytes.size());
      require(buffer.ok());
      std::memcpy(buffer->data(), bytes.data(), bytes.size());
      require(column.adopt(std::move(*buffer), count).ok());
      first += count;
    }
  }
  return damaged;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider input(data, size);
  Columns all = columns(input);
  const Source source(input.ConsumeRandomLengthString(200));
  const std::string text = input.ConsumeRemainingBytesAsString();
  SlotSet dead;
  dead.insert(5);
  const Bitmap live = Bitmap::live(kRows, dead);
  std::vector<std::string> problems;
  for (Column& column : all) {
    column.check(problems);
    (void)order_by(column, live, true, 3, 5);
    if (column.tags() != nullptr) (void)column.tags()->facets(live, 5);
  }
  const auto filter = Filter::parse(text, fields());
  if (filter) {
    const auto found = evaluate(*filter, all, live, source);
    require(found.ok() && Bitmap(*found).subtract(live).empty());
    const auto opposite = Filter::parse("{\"$not\":" + text + "}", fields());
    if (opposite) {
      const auto rest = evaluate(*opposite, all, live, source);
      require(rest.ok() && *rest == Bitmap(live).subtract(*found));
    }
  }
  // Damaged blocks are copied when they grow.
  Extractor extractor(fields());
  require(extractor.read(metadata_of(kRows)).ok());
  for (size_t i = 0; i < all.size(); ++i) {
    require(all[i].reserve(kRows + 1).ok());
    all[i].append(extractor.values(i));
    all[i].truncate(kRows - 50);
    (void)all[i].encode(3, 20);
  }
  return 0;
}
