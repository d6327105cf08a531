// Block arrays, text columns, id columns, slot sets, the quantizer, halves and rows, each by
// itself.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "arena/block_array.h"
#include "arena/codes.h"
#include "arena/id_column.h"
#include "arena/quantizer.h"
#include "arena/rows.h"
#include "arena/slot_set.h"
#include "arena/text_column.h"
#include "base/half.h"
#include "base/random.h"

using namespace nearfield;

TEST_CASE("a block array keeps rows while it grows and shrinks") {
  BlockArray<uint32_t> array(3, 4);  // blocks of 16 rows
  uint32_t rows = 0;
  for (uint64_t step = 0; step < 200; ++step) {
    const uint32_t next = random_below(1, step, 100);
    REQUIRE(array.resize(next).ok());
    for (uint32_t slot = 0; slot < std::min(rows, next); ++slot) {
      for (uint32_t i = 0; i < 3; ++i) REQUIRE(array.row(slot)[i] == slot * 3 + i + 1);
    }
    for (uint32_t slot = rows; slot < next; ++slot) {
      for (uint32_t i = 0; i < 3; ++i) {
        REQUIRE(array.row(slot)[i] == 0);  // new rows are zero, also where a longer array was
        array.row(slot)[i] = slot * 3 + i + 1;
      }
    }
    for (uint32_t slot = std::min(rows, next); slot < next; ++slot) {
      for (uint32_t i = 0; i < 3; ++i) array.row(slot)[i] = slot * 3 + i + 1;
    }
    rows = next;
    REQUIRE(array.rows() == rows);
    REQUIRE(array.block_count() == (rows + 15) / 16);
  }
}

TEST_CASE("full blocks do not move") {
  BlockArray<float> array(16, 4);
  REQUIRE(array.resize(16).ok());
  const float* first = array.row(0);
  CHECK(reinterpret_cast<uintptr_t>(first) % 64 == 0);
  REQUIRE(array.resize(5000).ok());
  CHECK(array.row(0) == first);
}

TEST_CASE("an adopted block is used in place and copied to grow") {
  BlockArray<uint32_t> array(2, 2);  // blocks of 4 rows
  for (uint32_t block = 0; block < 2; ++block) {
    const uint32_t rows = block == 0 ? 4 : 3;
    auto buffer = Buffer::allocate(rows * 8);
    REQUIRE(buffer.ok());
    auto* values = reinterpret_cast<uint32_t*>(buffer->data());
    for (uint32_t i = 0; i < rows * 2; ++i) values[i] = block * 8 + i;
    array.adopt(std::move(*buffer), rows);
    if (block == 0) CHECK(array.row(0) == values);
  }
  REQUIRE(array.rows() == 7);
  REQUIRE(array.resize(10).ok());
  for (uint32_t slot = 0; slot < 7; ++slot) CHECK(array.row(slot)[1] == slot * 2 + 1);
  CHECK(array.row(7)[0] == 0);
}

TEST_CASE("a text column tells no text from an empty one") {
  TextColumn column(2);  // blocks of 4 rows
  std::vector<std::optional<std::string>> model;
  const auto check = [&](const TextColumn& tested) {
    REQUIRE(tested.rows() == model.size());
    for (uint32_t slot = 0; slot < model.size(); ++slot) {
      CAPTURE(slot);
      const auto text = tested.get(slot);
      REQUIRE(text.has_value() == model[slot].has_value());
      if (text) REQUIRE(*text == *model[slot]);
    }
  };
  for (uint32_t slot = 0; slot < 60; ++slot) {
    const uint32_t kind =
        slot < 9 ? 0 : random_below(2, slot, 4);  // the first blocks have none at all
    std::optional<std::string> text;
    if (kind == 1) text = "";
    if (kind == 2) text = std::string(slot, 'x');
    if (kind == 3) text = std::string("nul\0inside", 10);
    model.push_back(text);
    column.append(text ? std::optional<std::string_view>(*text) : std::nullopt);
  }
  check(column);

  // Through storage, in pieces that begin and end anywhere within a block.
  TextColumn copy(2);
  for (uint32_t first = 0; first < 60;) {
    const uint32_t count =
        std::min(60 - first, std::min(4 - first % 4, 1 + random_below(3, first, 4)));
    const auto payload = column.encode(first, count);
    auto buffer = Buffer::allocate(payload.size());
    REQUIRE(buffer.ok());
    std::copy(payload.begin(), payload.end(), buffer->data());
    REQUIRE(copy.adopt(payload.empty() ? Buffer() : std::move(*buffer), count));
    first += count;
  }
  check(copy);
  model.emplace_back("again");
  copy.append("again");
  check(copy);
}

TEST_CASE("offsets that contradict a text block read as no text") {
  for (const uint32_t bad : {5U, 1000000U, 0xffffffffU}) {
    auto buffer = Buffer::allocate(8 + 4);
    REQUIRE(buffer.ok());
    auto* ends = reinterpret_cast<uint32_t*>(buffer->data());
    ends[0] = bad;
    ends[1] = 4;
    TextColumn column(3);
    REQUIRE(column.adopt(std::move(*buffer), 2));
    CHECK_FALSE(column.get(0).has_value());
    CHECK_FALSE(column.get(1).has_value());
    column.append("whole");  // what follows is not damaged
    CHECK(column.get(2) == "whole");
  }
  auto last = Buffer::allocate(8 + 4);
  REQUIRE(last.ok());
  reinterpret_cast<uint32_t*>(last->data())[1] = 0xffffffff;
  TextColumn damaged(3);
  REQUIRE(damaged.adopt(std::move(*last), 2));
  damaged.append("whole");
  CHECK(damaged.get(2) == "whole");
  auto buffer = Buffer::allocate(7);
  REQUIRE(buffer.ok());
  TextColumn column(3);
  CHECK_FALSE(column.adopt(std::move(*buffer), 2));
}

TEST_CASE("an id column finds the live slot of every id") {
  IdColumn ids(4);
  SlotSet dead;
  REQUIRE(ids.ensure_index(dead).ok());
  std::map<Id, uint32_t> model;
  for (uint32_t step = 0; step < 5000; ++step) {
    const uint32_t number = random_below(4, step, 700);
    const Id id = number % 2 == 0 ? Id(int64_t{number}) : Id(std::to_string(number));
    if (random_below(5, step, 3) == 0) {
      const auto slot = ids.find(id);
      REQUIRE(slot.has_value() == model.contains(id));
      if (slot) {
        REQUIRE(*slot == model[id]);
        ids.forget(*slot);
        dead.insert(*slot);
        model.erase(id);
      }
      continue;
    }
    if (const auto slot = ids.find(id)) {
      ids.forget(*slot);
      dead.insert(*slot);
    }
    REQUIRE(ids.reserve(ids.rows() + 1).ok());
    model[id] = ids.rows() - 1;
    ids.append(id);
  }
  for (const auto& [id, slot] : model) {
    REQUIRE(ids.find(id) == slot);
    REQUIRE(ids.get(slot) == IdView(id));
  }
  CHECK_FALSE(ids.find(int64_t{701}).has_value());
}

TEST_CASE("a slot set counts and refuses what lies outside") {
  SlotSet set;
  for (const uint32_t slot : {0U, 63U, 64U, 1000U, 1000U}) set.insert(slot);
  CHECK(set.count() == 4);
  CHECK(set.contains(63));
  CHECK_FALSE(set.contains(62));
  CHECK_FALSE(set.contains(1u << 30));
  SlotSet copy;
  CHECK(copy.assign(set.bytes(), 1001));
  CHECK(copy.count() == 4);
  CHECK_FALSE(copy.assign(set.bytes(), 1000));
  CHECK_FALSE(copy.assign(set.bytes().first(9), 1001));
}

TEST_CASE("codes are within half a step inside the range and clamped outside") {
  std::vector<float> sample;
  for (uint32_t i = 0; i < 20000; ++i)
    sample.push_back(static_cast<float>(random_below(1, i, 2001)) / 1000.0F - 1.0F);
  const std::vector<float> values{-2, -0.95F, -0.5F, 0, 0.123F, 0.9F, 1.5F};
  for (const Metric metric : {Metric::kCosine, Metric::kL2, Metric::kDot}) {
    const Quantizer quantizer = Quantizer::fit(sample, metric);
    std::vector<uint8_t> code(64, 77);
    quantizer.encode(values.data(), values.size(), 1, code.data(), code.size());
    for (size_t i = 1; i + 1 < values.size(); ++i) {
      const float back = quantizer.low + static_cast<float>(code[i]) * quantizer.step;
      CHECK(std::fabs(back - values[i]) <= quantizer.step * 0.501F);
    }
    CHECK(code[0] == 0);
    CHECK(code[6] == kMaxCode);
    CHECK(std::all_of(code.begin() + 7, code.end(), [](uint8_t c) { return c == 0; }));
  }
  std::vector<float> constant(10, 5.0F);
  CHECK(Quantizer::fit(constant, Metric::kL2).step == 1);
  std::vector<float> sparse(10000, 0.0F);  // one value in five thousand: beyond both quantiles
  sparse[17] = 0.5F;
  sparse[5000] = 0.1F;
  const Quantizer told_apart = Quantizer::fit(sparse, Metric::kL2);
  uint8_t codes[64];
  const float three[] = {0.0F, 0.1F, 0.5F};
  told_apart.encode(three, 3, 1, codes, sizeof codes);
  CHECK((codes[0] == 0 && codes[1] > 20 && codes[2] == kMaxCode));
  std::vector<float> huge{-1e15F, 1e15F};
  CHECK(std::isfinite(Quantizer::fit(huge, Metric::kL2).step));
}

TEST_CASE("every half is a float exactly and comes back") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = from_half(half);
    const auto exponent = static_cast<int>(bits >> 10 & 31u);
    const int mantissa = bits & 0x3ffu;
    if (exponent == 31) {
      CHECK((mantissa == 0 ? std::isinf(value) : std::isnan(value)));
    } else {
      const float expected = exponent == 0
                                 ? std::ldexp(static_cast<float>(mantissa), -24)
                                 : std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
      REQUIRE(std::fabs(value) == expected);
      REQUIRE(to_half(value) == half);
    }
    REQUIRE(std::signbit(value) == (bits >= 0x8000));
  }
  CHECK(from_half(0x7bff) == kLargestHalf);
}

TEST_CASE("floats round to the nearest half, ties to even") {
  for (uint16_t low = 0; low < 0x7bff; ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    const float middle = (from_half(low) + from_half(high)) / 2;
    const uint16_t even = low % 2 == 0 ? low : high;
    REQUIRE(to_half(middle) == even);
    REQUIRE(to_half(-middle) == (even | 0x8000));
    REQUIRE(to_half(std::nextafter(middle, 0.0F)) == low);
    REQUIRE(to_half(std::nextafter(middle, 1e9F)) == high);
    REQUIRE(to_half(-std::nextafter(middle, 1e9F)) == (high | 0x8000));
  }
  CHECK(to_half(1e-30F) == 0);
  CHECK(to_half(-1e-45F) == 0x8000);
  CHECK(to_half(65519.996F) == 0x7bff);
  CHECK(to_half(65520) == 0x7c00);
  CHECK(to_half(-1e30F) == 0xfc00);
  CHECK(std::isnan(from_half(to_half(std::nanf("")))));
}

TEST_CASE("f16 rows are f32 rows of the rounded values") {
  for (const Metric metric : {Metric::kCosine, Metric::kL2, Metric::kDot}) {
    for (const uint32_t dimensions : {1U, 3U, 16U, 31U, 32U, 33U, 48U, 100U}) {
      CAPTURE(metric_name(metric), dimensions);
      Rows halves(dimensions, metric, RowType::kF16, 6);
      Rows floats(dimensions, metric, RowType::kF32, 6);
      REQUIRE(halves.resize(100).ok());
      REQUIRE(floats.resize(100).ok());
      CHECK(halves.value_blocks().stride() == (dimensions + 31) / 32 * 64);
      std::vector<float> vector(dimensions);
      std::vector<float> widened;
      for (uint32_t slot = 0; slot < 100; ++slot) {
        for (uint32_t i = 0; i < dimensions; ++i) {
          vector[i] =
              static_cast<float>(random_at(dimensions, slot * dimensions + i) >> 40) / 8388608.0F -
              1.0F;
        }
        halves.set(slot, vector);
        std::transform(vector.begin(), vector.end(), vector.begin(),
                       [](float value) { return from_half(to_half(value)); });
        floats.set(slot, vector);
        const auto kept = halves.get(slot, widened);
        REQUIRE(std::equal(kept.begin(), kept.end(), vector.begin(), vector.end()));
        REQUIRE(halves.scale(slot) == floats.scale(slot));
      }
      std::fill(vector.begin(), vector.end(), 0.1F);  // no half
      const auto query = Query::make(vector, metric);
      REQUIRE(query.ok());
      for (const Kernels* kernels : supported_kernels()) {
        for (uint32_t slot = 0; slot < 100; slot += 4) {
          const uint32_t slots[4] = {slot, slot + 1, slot + 2, slot + 3};
          float four[4];
          halves.distance4(*kernels, *query, slots, four);
          for (int r = 0; r < 4; ++r) {
            REQUIRE(four[r] == floats.distance(*kernels, *query, slots[r]));
            REQUIRE(four[r] == halves.distance(*kernels, *query, slots[r]));
          }
        }
      }
    }
  }
}

TEST_CASE("walk order under dot is the order of inner products of codes") {
  constexpr uint32_t kDimensions = 8;
  Codes codes(kDimensions, Metric::kDot, 6);
  REQUIRE(codes.resize(200).ok());
  std::vector<float> rows;
  for (uint32_t i = 0; i < 200 * kDimensions; ++i)
    rows.push_back(static_cast<float>(random_below(9, i, 1000)) / 500.0F - 1.2F);
  std::vector<float> sample = rows;
  codes.set_range(Quantizer::fit(sample, Metric::kDot), 0);
  for (uint32_t slot = 0; slot < 200; ++slot)
    codes.encode(slot, rows.data() + slot * kDimensions, 1);
  std::vector<uint8_t> query(codes.stride());
  codes.encode_query(rows.data(), 1, query.data());
  const int32_t zero = codes.quantizer().zero;
  int64_t offset = 0;
  for (uint32_t slot = 0; slot < 200; ++slot) {
    int32_t dot = 0;
    int64_t centred = 0;
    for (uint32_t i = 0; i < kDimensions; ++i) {
      dot += query[i] * codes.code(slot)[i];
      centred += int64_t{query[i] - zero} * (codes.code(slot)[i] - zero);
    }
    const int64_t difference = codes.walk_distance(slot, dot) + 2 * centred;
    if (slot == 0) offset = difference;
    CHECK(difference == offset);  // walk distance = a constant of the query - 2 * inner product
  }
}
