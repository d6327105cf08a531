// Bitmaps and columns: growth, storage in pieces, taking back, damage, order and facets.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "base/random.h"
#include "metadata/bitmap.h"
#include "metadata/column.h"
#include "metadata/order.h"

using namespace nearfield;

namespace {

constexpr unsigned kShift = 6;
constexpr uint32_t kBlock = 1u << kShift;

Buffer buffer_of(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  auto buffer = Buffer::allocate(bytes.size());
  REQUIRE(buffer.ok());
  std::memcpy(buffer->data(), bytes.data(), bytes.size());
  return std::move(*buffer);
}

Bitmap all_of(uint32_t rows) { return Bitmap::live(rows, {}); }

using Strings = std::vector<std::string>;

void append(TagColumn& column, const Strings& strings) {
  const std::vector<std::string_view> views(strings.begin(), strings.end());
  column.append(views);
}

Strings strings_at(const TagColumn& column, uint32_t slot) {
  Strings out;
  column.for_each(slot, [&](std::string_view text) { out.emplace_back(text); });
  return out;
}

// `most`: strings of a row; `kinds`: how many different ones there are.
Strings random_strings(uint64_t step, uint32_t most, uint32_t kinds) {
  Strings out;
  for (uint32_t n = random_below(1, step, most + 1); n > 0; --n)
    out.push_back("東" + std::to_string(random_below(2 + n, step, kinds)));
  return out;
}

Strings sorted(Strings strings) {
  std::sort(strings.begin(), strings.end());
  strings.erase(std::unique(strings.begin(), strings.end()), strings.end());
  return strings;
}

void check_against(const TagColumn& column, const std::vector<Strings>& model) {
  REQUIRE(column.rows() == model.size());
  std::vector<std::string> problems;
  column.check(problems);
  CHECK(problems.empty());
  const Bitmap all = all_of(column.rows());
  Bitmap present(column.rows());
  column.select_present(all, present);
  Bitmap two(column.rows());
  column.select_any(Strings{"東1", "東3", "not there"}, all, two);
  Bitmap one(column.rows());
  column.select_any(Strings{"東1"}, all, one);
  const auto has = [](const Strings& strings, const char* text) {
    return std::find(strings.begin(), strings.end(), text) != strings.end();
  };
  for (uint32_t slot = 0; slot < model.size(); ++slot) {
    CAPTURE(slot);
    REQUIRE(sorted(strings_at(column, slot)) == sorted(model[slot]));
    REQUIRE(present.contains(slot) == !model[slot].empty());
    REQUIRE(one.contains(slot) == has(model[slot], "東1"));
    REQUIRE(two.contains(slot) == (has(model[slot], "東1") || has(model[slot], "東3")));
  }
}

}  // namespace

TEST_CASE("bitmaps do what sets do") {
  for (const uint32_t rows : {0u, 1u, 63u, 64u, 65u, 200u}) {
    std::set<uint32_t> a_model;
    std::set<uint32_t> b_model;
    Bitmap a(rows);
    Bitmap b(rows);
    for (uint32_t slot = 0; slot < rows; ++slot) {
      if (random_below(1, slot, 3) == 0) a.insert(slot), a_model.insert(slot);
      if (random_below(2, slot, 3) == 0) b.insert(slot), b_model.insert(slot);
    }
    const auto check = [&](const Bitmap& bitmap, auto wanted) {
      std::vector<uint32_t> slots;
      bitmap.for_each([&](uint32_t slot) { slots.push_back(slot); });
      std::vector<uint32_t> expected;
      for (uint32_t slot = 0; slot < rows; ++slot) {
        if (wanted(slot)) expected.push_back(slot);
        CHECK(bitmap.contains(slot) == wanted(slot));
      }
      CHECK(slots == expected);
      CHECK(bitmap.count() == expected.size());
      CHECK(bitmap.empty() == expected.empty());
      CHECK_FALSE(bitmap.contains(rows));
    };
    check(Bitmap(a) &= b, [&](uint32_t s) { return a_model.contains(s) && b_model.contains(s); });
    check(Bitmap(a) |= b, [&](uint32_t s) { return a_model.contains(s) || b_model.contains(s); });
    check(Bitmap(a).subtract(b),
          [&](uint32_t s) { return a_model.contains(s) && !b_model.contains(s); });
    check(Bitmap(a).invert(), [&](uint32_t s) { return !a_model.contains(s); });
    for (const uint32_t first : {0u, 1u, 60u, 64u}) {
      if (first > rows) continue;
      Bitmap range(rows);
      range.insert_range(first, rows);
      check(range, [&](uint32_t s) { return s >= first; });
    }
    SlotSet dead;
    if (rows > 2) dead.insert(2);
    check(Bitmap::live(rows, dead), [](uint32_t s) { return s != 2; });
  }
}

TEST_CASE("a tag column keeps what it is given through growth, storage and taking back") {
  for (const uint32_t most : {1u, 3u}) {
    for (const uint32_t kinds : {5u, 1000u}) {
      TagColumn column(kShift);
      std::vector<Strings> model;
      uint32_t flushed = 0;
      std::vector<std::pair<std::vector<std::byte>, uint32_t>> pieces;
      for (uint64_t step = 0; step < 40; ++step) {
        for (uint32_t n = random_below(9, step, 40); n > 0; --n) {
          model.push_back(step % 7 == 3 ? Strings{} : random_strings(step * 100 + n, most, kinds));
          append(column, model.back());
        }
        if (step % 5 == 4) {  // a failed batch
          const auto kept = static_cast<uint32_t>(
              std::max<size_t>(flushed, model.size() - std::min<size_t>(model.size(), 70)));
          column.truncate(kept);
          model.resize(kept);
        }
        check_against(column, model);
        while (flushed < model.size() && step % 2 == 0) {  // a flush, in pieces of blocks
          const auto count = static_cast<uint32_t>(
              std::min<size_t>(kBlock - flushed % kBlock, model.size() - flushed));
          pieces.emplace_back(column.encode(flushed, count), count);
          flushed += count;
        }
        TagColumn reopened(kShift);
        for (const auto& [bytes, count] : pieces)
          REQUIRE(reopened.adopt(buffer_of(bytes), count).ok());
        check_against(reopened, {model.begin(), model.begin() + flushed});
        // A column that was reopened writes the same bytes, and grows.
        for (uint32_t first = 0; first < flushed; first += kBlock) {
          const uint32_t count = std::min(kBlock, flushed - first);
          REQUIRE(reopened.encode(first, count) == column.encode(first, count));
        }
        std::vector<Strings> grown(model.begin(), model.begin() + flushed);
        for (uint32_t n = 0; n < 70; ++n) {
          grown.push_back(random_strings(n, most, kinds));
          append(reopened, grown.back());
        }
        check_against(reopened, grown);
      }
    }
  }
}

TEST_CASE("dictionaries of more than 255 and 65,535 strings") {
  for (const uint32_t strings : {255u, 256u, 65'535u, 65'536u}) {
    TagColumn column(12);
    Strings row;
    std::vector<Strings> model;
    for (uint32_t i = 0; i < strings; ++i) {
      row.push_back("東" + std::to_string(i));
      if (row.size() == strings / 200 + 1 || i + 1 == strings) {
        model.push_back(row);
        append(column, row);
        row.clear();
      }
    }
    const auto payload = column.encode(0, column.rows());
    const size_t width = strings <= 255 ? 1 : strings <= 65'535 ? 2 : 4;
    CHECK(static_cast<size_t>(payload[8]) == width);
    TagColumn reopened(12);
    REQUIRE(reopened.adopt(buffer_of(payload), column.rows()).ok());
    check_against(reopened, model);
  }
}

TEST_CASE("number and bool columns keep what they are given") {
  NumberColumn numbers(kShift);
  BoolColumn bools(kShift);
  std::vector<double> model;
  for (uint32_t slot = 0; slot < 300; ++slot) {
    const bool none = (slot / kBlock == 2) || random_below(3, slot, 4) == 0;
    model.push_back(none ? std::nan("") : random_below(4, slot, 20));
  }
  const auto bool_of = [&](uint32_t slot) {
    return std::isnan(model[slot]) ? BoolColumn::kNone
           : model[slot] < 10      ? BoolColumn::kFalse
                                   : BoolColumn::kTrue;
  };
  REQUIRE(numbers.reserve(300).ok());
  REQUIRE(bools.reserve(300).ok());
  for (uint32_t slot = 0; slot < 300; ++slot)
    numbers.append(model[slot]), bools.append(bool_of(slot));
  numbers.truncate(290);
  bools.truncate(290);
  REQUIRE(numbers.reserve(300).ok());
  REQUIRE(bools.reserve(300).ok());
  for (uint32_t slot = 290; slot < 300; ++slot)
    numbers.append(model[slot]), bools.append(bool_of(slot));

  const auto check = [&](const NumberColumn& n, const BoolColumn& b) {
    REQUIRE(n.rows() == 300);
    REQUIRE(b.rows() == 300);
    Bitmap within = all_of(300);
    within.erase(7);
    Bitmap range(300);
    n.select_range(3, 12, within, range);
    Bitmap few(300);
    n.select_any({2, 5}, within, few);
    Bitmap many(300);
    n.select_any({0, 1, 2, 3, 5, 7, 11, 13, 17, 19}, within, many);
    Bitmap present(300);
    n.select_present(within, present);
    Bitmap yes(300);
    b.select(true, within, yes);
    const std::set<double> primes = {0, 1, 2, 3, 5, 7, 11, 13, 17, 19};
    for (uint32_t slot = 0; slot < 300; ++slot) {
      CAPTURE(slot);
      const bool in = slot != 7;
      const double value = model[slot];
      REQUIRE(n.get(slot).has_value() == !std::isnan(value));
      REQUIRE(range.contains(slot) == (in && value >= 3 && value <= 12));
      REQUIRE(few.contains(slot) == (in && (value == 2 || value == 5)));
      REQUIRE(many.contains(slot) == (in && !std::isnan(value) && primes.contains(value)));
      REQUIRE(present.contains(slot) == (in && !std::isnan(value)));
      REQUIRE(yes.contains(slot) == (in && value >= 10));
    }
  };
  check(numbers, bools);
  NumberColumn n(kShift);
  BoolColumn b(kShift);
  for (uint32_t first = 0; first < 300;) {  // some blocks in two pieces
    const uint32_t most = first % kBlock == 0 && first % 3 != 0 ? 20 : kBlock;
    const uint32_t count = std::min({most, kBlock - first % kBlock, 300 - first});
    const auto bytes = numbers.encode(first, count);
    if (first == 2 * kBlock) CHECK(bytes.empty());
    REQUIRE(n.adopt(buffer_of(bytes), count).ok());
    REQUIRE(b.adopt(buffer_of(bools.encode(first, count)), count).ok());
    first += count;
  }
  check(n, b);
  CHECK_FALSE(NumberColumn(kShift).adopt(buffer_of(std::vector<std::byte>(15)), 2).ok());
  CHECK_FALSE(BoolColumn(kShift).adopt(buffer_of(std::vector<std::byte>(3)), 2).ok());
  CHECK_FALSE(TagColumn(kShift).adopt(buffer_of(std::vector<std::byte>(15)), 2).ok());
}

TEST_CASE("damaged payloads are read without harm, and check() tells") {
  std::vector<std::byte> infinite(16);
  const double infinity = std::numeric_limits<double>::infinity();
  std::memcpy(infinite.data() + 8, &infinity, sizeof(infinity));
  std::vector<std::string> problems;
  NumberColumn numbers(kShift);
  REQUIRE(numbers.adopt(buffer_of(infinite), 2).ok());
  numbers.check(problems);
  CHECK(problems == Strings{"row 1 has an infinite number; expected a finite one or none"});
  problems.clear();
  BoolColumn bools(kShift);
  REQUIRE(bools.adopt(buffer_of(std::vector<std::byte>{std::byte{1}, std::byte{9}}), 2).ok());
  bools.check(problems);
  CHECK(problems == Strings{"row 1 has the truth value 9; expected 0, 1 or 2"});
  CHECK(bools.get(1) == std::nullopt);

  for (const uint32_t most : {1u, 3u}) {
    TagColumn column(kShift);
    for (uint32_t row = 0; row < 10; ++row) append(column, random_strings(row, most, 6));
    const std::vector<std::byte> sound = column.encode(0, 10);
    const auto use = [](const std::vector<std::byte>& bytes, bool reported) {
      TagColumn damaged(kShift);
      if (!damaged.adopt(buffer_of(bytes), 10).ok()) return;
      std::vector<std::string> found;
      damaged.check(found);
      if (reported) CHECK_FALSE(found.empty());
      const Bitmap all = all_of(10);
      Bitmap out(10);
      damaged.select_any(Strings{"東1", "東2"}, all, out);
      damaged.select_any(Strings{"東1"}, all, out);
      damaged.select_present(all, out);
      (void)damaged.facets(all, 10);
      for (uint32_t row = 0; row < 10; ++row) (void)strings_at(damaged, row);
      (void)damaged.encode(2, 5);
      append(damaged, {"new"});  // copies what was damaged
      CHECK(strings_at(damaged, 10) == Strings{"new"});
      (void)damaged.encode(0, 11);
    };
    for (size_t size = 0; size < sound.size(); ++size)
      use({sound.begin(), sound.begin() + static_cast<ptrdiff_t>(size)}, size > 0);
    for (size_t at = 0; at < sound.size(); ++at) {
      for (const unsigned flip : {1u, 0x80u, 0xffu}) {
        std::vector<std::byte> bytes = sound;
        bytes[at] ^= static_cast<std::byte>(flip);
        use(bytes, at < 10);  // of the header but its reserved bytes, every bit counts
      }
    }
  }
}

TEST_CASE("order and facets, against a model") {
  Column tags(FieldType::kTag, kShift);
  Column numbers(FieldType::kNumber, kShift);
  std::vector<Strings> tag_model;
  std::vector<double> number_model;
  REQUIRE(numbers.reserve(200).ok());
  std::vector<MetadataValue> row;
  for (uint32_t slot = 0; slot < 200; ++slot) {
    tag_model.push_back(random_strings(slot, 3, 9));
    row.clear();
    for (const std::string& text : tag_model.back()) {
      MetadataValue value;
      value.kind = MetadataValue::Kind::kString;
      value.text = text;
      row.push_back(value);
    }
    tags.append(row);
    row.clear();
    number_model.push_back(random_below(5, slot, 30));
    if (number_model.back() < 20) {
      MetadataValue value;
      value.kind = MetadataValue::Kind::kNumber;
      value.number = number_model.back();
      row.push_back(value);
    }
    numbers.append(row);
  }
  Bitmap some(200);
  for (uint32_t slot = 0; slot < 200; ++slot) {
    if (slot % 3 != 0) some.insert(slot);
  }
  for (const bool descending : {false, true}) {
    std::vector<uint32_t> by_tag;
    some.for_each([&](uint32_t slot) { by_tag.push_back(slot); });
    std::vector<uint32_t> by_number = by_tag;
    std::stable_sort(by_tag.begin(), by_tag.end(), [&](uint32_t a, uint32_t b) {
      const Strings x = sorted(tag_model[a]);
      const Strings y = sorted(tag_model[b]);
      if (x.empty() || y.empty()) return !x.empty() && y.empty();
      return descending ? x.back() > y.back() : x.front() < y.front();
    });
    std::stable_sort(by_number.begin(), by_number.end(), [&](uint32_t a, uint32_t b) {
      const double x = number_model[a];
      const double y = number_model[b];
      if (x >= 20 || y >= 20) return x < 20 && y >= 20;
      return descending ? x > y : x < y;
    });
    for (const uint64_t offset : {0u, 1u, 50u, 130u, 500u}) {
      for (const uint64_t limit : {0u, 1u, 10u, 1000u}) {
        const auto page = [&](const std::vector<uint32_t>& all) {
          const size_t begin = std::min<size_t>(offset, all.size());
          const size_t end = std::min<size_t>(begin + limit, all.size());
          return std::vector<uint32_t>(all.begin() + static_cast<ptrdiff_t>(begin),
                                       all.begin() + static_cast<ptrdiff_t>(end));
        };
        CHECK(order_by(tags, some, descending, offset, limit) == page(by_tag));
        CHECK(order_by(numbers, some, descending, offset, limit) == page(by_number));
      }
    }
  }
  std::map<std::string, uint32_t> counts;
  some.for_each([&](uint32_t slot) {
    for (const std::string& text : sorted(tag_model[slot])) ++counts[text];
  });
  std::vector<std::pair<std::string, uint32_t>> wanted(counts.begin(), counts.end());
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const uint32_t top : {0u, 1u, 4u, 100u}) {
    const auto facets = tags.tags()->facets(some, top);
    REQUIRE(facets.size() == std::min<size_t>(top, wanted.size()));
    for (size_t i = 0; i < facets.size(); ++i) {
      CHECK(facets[i].value == wanted[i].first);
      CHECK(facets[i].count == wanted[i].second);
    }
  }
}
