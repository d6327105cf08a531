// A text segment of arbitrary bytes, and an arbitrary text and query: searching, growing, merging
// and highlighting never crash, and never name a row that is not there.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstring>
#include <string>
#include <vector>

#include "text/highlight.h"
#include "text/search.h"

using namespace nearfield;

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

Buffer copy_of(std::span<const std::byte> bytes) {
  auto buffer = Buffer::allocate(bytes.size());
  require(buffer.ok());
  if (!bytes.empty()) std::memcpy(buffer->data(), bytes.data(), bytes.size());
  return std::move(*buffer);
}

void search(const TextIndex& index, const TextQuery& query) {
  TextSearch text;
  const SearchedField field{&index};
  SlotSet dead;
  dead.insert(1);
  for (const bool all : {false, true}) {
    text.run(query, {&field, 1}, all, dead, nullptr);
    for (const TextMatch& match : text.best(0, 5))
      require(match.slot < index.rows() && match.slot != 1);
  }
}

// A segment that the input changes, so that most of it stays sensible; or all of it is the input.
std::vector<std::byte> segment_bytes(const Field& field, uint32_t rows, FuzzedDataProvider& input) {
  if (input.ConsumeBool()) {
    const auto raw = input.ConsumeRemainingBytes<uint8_t>();
    const auto bytes = std::as_bytes(std::span(raw));
    return {bytes.begin(), bytes.end()};
  }
  TextIndex index(field);
  for (uint32_t slot = 0; slot < rows; ++slot) {
    const std::string text = input.ConsumeRandomLengthString(64);
    const std::string_view view = text;
    index.add({&view, 1});
  }
  require(index.freeze().ok());
  const auto whole = index.parts().front().segment.bytes();
  std::vector<std::byte> bytes(whole.begin(), whole.end());
  for (int changes = input.ConsumeIntegralInRange(0, 4); changes > 0; --changes)
    bytes[input.ConsumeIntegralInRange<size_t>(0, bytes.size() - 1)] =
        std::byte{input.ConsumeIntegral<uint8_t>()};
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider input(data, size);
  const Field field{.name = "x",
                    .type = input.ConsumeBool() ? FieldType::kText : FieldType::kKeyword,
                    .stop_words = input.ConsumeBool()};
  const TextQuery query(input.ConsumeRandomLengthString(64));
  const std::string text = input.ConsumeRandomLengthString(256);
  const auto rows = input.ConsumeIntegralInRange<uint32_t>(1, 8);

  const auto ranges = highlights(text, query, Analyzer(field));
  for (const ByteRange& range : ranges)
    require(range.begin < range.end && range.end <= text.size());
  const ByteRange shown = snippet(text, ranges, input.ConsumeIntegralInRange(0u, 80u));
  require(shown.begin <= shown.end && shown.end <= text.size());

  TextIndex index(field);
  if (!index.adopt(rows, copy_of(segment_bytes(field, rows, input))).ok()) return 0;
  std::vector<std::string> problems;
  index.check(problems);
  index.set_live(rows, 20);
  search(index, query);
  const std::string_view view = text;
  index.add({&view, 1});
  index.remove(0);
  search(index, query);
  require(index.freeze().ok());  // merges
  search(index, query);
  return 0;
}
