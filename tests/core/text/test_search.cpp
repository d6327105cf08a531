// The index against a ranking that is computed the slow way, through all that can happen to it.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "text/search.h"

using namespace nearfield;

namespace {

using Words = std::vector<std::string>;

std::string join(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}
  uint32_t below(uint32_t count) { return random_below(seed_, next_++, count); }

 private:
  uint64_t seed_;
  uint64_t next_ = 0;
};

// A text of rare and common words, some of which begin alike.
Words made_up(Random& random, uint32_t most) {
  Words words(random.below(most));
  for (std::string& word : words) {
    const uint32_t rank = random.below(random.below(30) + 1);
    word = std::string(1, static_cast<char>('a' + rank % 3)) + "w" + std::to_string(rank);
  }
  return words;
}

// BM25 from its formula, over all rows, a clause at a time.
struct Reference {
  const std::vector<Words>& rows;
  const std::vector<bool>& live;

  uint32_t count(const Words& row, const TextQuery::Clause& clause, const Words& phrase) const {
    uint32_t found = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      if (clause.prefix) {
        found += row[i].starts_with(clause.text) ? 1 : 0;
      } else if (i + phrase.size() <= row.size() &&
                 std::equal(phrase.begin(), phrase.end(),
                            row.begin() + static_cast<ptrdiff_t>(i))) {
        ++found;
      }
    }
    return found;
  }

  double idf(const TextQuery::Clause& clause, const Words& phrase) const {
    double all = 0;
    double with = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
      if (!live[r] || rows[r].empty()) continue;
      ++all;
      with += count(rows[r], clause, phrase) > 0 ? 1 : 0;
    }
    return std::log(1 + (all - with + 0.5) / (with + 0.5));
  }

  std::map<uint32_t, double> run(const Words& words, bool as_phrase, bool prefix, bool all) const {
    std::map<uint32_t, double> scores;
    std::map<uint32_t, size_t> matched;
    std::vector<Words> clauses;
    if (as_phrase) {
      clauses.push_back(words);
    } else {
      for (const std::string& word : words) clauses.push_back({word});
    }
    double tokens = 0;
    double with_any = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
      if (!live[r] || rows[r].empty()) continue;
      ++with_any;
      tokens += static_cast<double>(rows[r].size());
    }
    for (const Words& phrase : clauses) {
      const TextQuery::Clause clause{phrase.front(), as_phrase, prefix};
      double weight = 0;
      for (const std::string& word : phrase) {
        weight += prefix ? idf(clause, phrase) : idf({word, false, false}, {word});
      }
      for (uint32_t r = 0; r < rows.size(); ++r) {
        if (!live[r]) continue;
        const double tf = count(rows[r], clause, phrase);
        if (tf == 0) continue;
        const double length = static_cast<double>(rows[r].size()) / (tokens / with_any);
        scores[r] += weight * tf / (tf + 1.2 * (1 - 0.75 + 0.75 * length));
        ++matched[r];
      }
    }
    if (all)
      std::erase_if(scores, [&](const auto& row) { return matched[row.first] < clauses.size(); });
    return scores;
  }
};

Buffer copy_of(std::span<const std::byte> bytes) {
  auto buffer = Buffer::allocate(bytes.size());
  REQUIRE(buffer.ok());
  std::memcpy(buffer->data(), bytes.data(), bytes.size());
  return std::move(*buffer);
}

const Field kField{.name = "t", .type = FieldType::kText};

}  // namespace

TEST_CASE("the logarithm is the logarithm") {
  for (double value = 1e-6; value < 1e9; value *= 1.37) {
    CHECK(std::fabs(natural_log(value) - std::log(value)) <=
          1e-14 * std::max(1.0, std::fabs(std::log(value))));
  }
}

TEST_CASE("rankings are those of the formula, through changes and storage") {
  Random random(17);
  auto index = std::make_unique<TextIndex>(kField);
  std::vector<Words> rows;
  std::vector<bool> live;
  SlotSet dead;
  TextSearch search;
  for (int round = 0; round < 60; ++round) {
    for (uint32_t i = random.below(40); i > 0; --i) {
      rows.push_back(made_up(random, 12));
      live.push_back(true);
      const std::string text = join(rows.back());
      const std::string_view view = text;
      index->add(std::span(&view, 1));
    }
    for (uint32_t i = random.below(8); i > 0 && !rows.empty(); --i) {
      const uint32_t slot = random.below(static_cast<uint32_t>(rows.size()));
      if (!live[slot]) continue;
      index->remove(slot);
      dead.insert(slot);
      live[slot] = false;
    }
    if (random.below(3) == 0) REQUIRE(index->freeze().ok());
    if (random.below(6) == 0) {  // as storage has it
      REQUIRE(index->freeze().ok());
      auto reopened = std::make_unique<TextIndex>(kField);
      for (const auto& [segment, stored] : index->parts())
        REQUIRE(reopened->adopt(segment.rows(), copy_of(segment.bytes())).ok());
      reopened->set_live(index->live_rows(), index->live_tokens());
      std::vector<std::string> problems;
      reopened->check(problems);
      REQUIRE(problems.empty());
      index = std::move(reopened);
    }
    REQUIRE(index->rows() == rows.size());
    for (int q = 0; q < 12; ++q) {
      Words words = made_up(random, 4);
      if (words.empty()) words = {"aw0"};
      const bool phrase = q % 4 == 1;
      const bool prefix = q % 4 == 2;
      const bool all = q % 4 == 3;
      if (prefix) words = {words.front().substr(0, 2 + random.below(2))};
      if (!phrase) {
        std::sort(words.begin(), words.end());
        words.erase(std::unique(words.begin(), words.end()), words.end());
      }
      const std::string text = (phrase ? "\"" : "") + join(words) +
                               (phrase   ? "\""
                                : prefix ? "*"
                                         : "");
      CAPTURE(text, round);
      const auto expected = Reference{rows, live}.run(words, phrase, prefix, all);
      const SearchedField field{index.get()};
      search.run(TextQuery(text), std::span(&field, 1), all, dead, nullptr);
      REQUIRE(search.matches().size() == expected.size());
      for (const TextMatch& match : search.matches()) {
        REQUIRE(expected.contains(match.slot));
        REQUIRE(std::fabs(expected.at(match.slot) - match.score) < 1e-9);
        REQUIRE(search.score(match.slot) == match.score);
      }
      const auto best = search.best(0, 5);
      REQUIRE(best.size() == std::min<size_t>(5, expected.size()));
      REQUIRE(std::is_sorted(best.begin(), best.end(), better));
      for (const auto& [slot, score] : expected)
        REQUIRE((best.size() < 5 || score <= best.back().score + 1e-9 ||
                 std::any_of(best.begin(), best.end(),
                             [&](const TextMatch& m) { return m.slot == slot; })));
    }
  }
}

TEST_CASE("several fields, weights and a selection") {
  TextIndex title(kField);
  TextIndex sku(Field{.name = "sku", .type = FieldType::kKeyword});
  const auto add = [](TextIndex& index, std::string_view text) { index.add(std::span(&text, 1)); };
  for (const auto& [a, b] : {std::pair("wireless it 500", "IT-500"), std::pair("other", "IT-500 X"),
                             std::pair("it", "none")}) {
    add(title, a);
    add(sku, b);
  }
  TextSearch search;
  const SearchedField fields[] = {{&title, 1}, {&sku, 10}};
  const auto found = [&](std::string_view text, bool all, const Selection* among = nullptr) {
    search.run(TextQuery(text), fields, all, SlotSet(), among);
    std::vector<uint32_t> slots;
    for (const TextMatch& match : search.best(0, 10)) slots.push_back(match.slot);
    return slots;
  };
  CHECK(found("it-500", false) == std::vector<uint32_t>{0, 2});
  CHECK(found("it-500", true) == std::vector<uint32_t>{0});
  CHECK(found("it-500 x", false) ==
        std::vector<uint32_t>{0, 1, 2});  // the whole query is a keyword
  CHECK(found("it-500 x", true) == std::vector<uint32_t>{1});
  const Selection second{{uint64_t{1} << 2}, 1};
  CHECK(found("it-500", false, &second) == std::vector<uint32_t>{2});
  CHECK(found("*", false).empty());
  CHECK(found("\"", false).empty());
  CHECK(found("wireless\"", false) == std::vector<uint32_t>{0});
}

TEST_CASE("no phrase spans two texts of a list") {
  TextIndex index(kField);
  const std::string_view texts[] = {"one two", "three four"};
  index.add(texts);
  const SearchedField field{&index};
  TextSearch search;
  search.run(TextQuery("\"two three\""), std::span(&field, 1), false, SlotSet(), nullptr);
  CHECK(search.matches().empty());
  search.run(TextQuery("\"three four\""), std::span(&field, 1), false, SlotSet(), nullptr);
  CHECK(search.matches().size() == 1);
}

TEST_CASE("damaged postings are refused or give fewer matches, never more than bytes") {
  TextIndex index(kField);
  Random random(3);
  for (int i = 0; i < 20; ++i) {
    const std::string text = join(made_up(random, 8));
    const std::string_view view = text;
    index.add(std::span(&view, 1));
  }
  REQUIRE(index.freeze().ok());
  const auto bytes = index.parts()[0].segment.bytes();
  const auto use = [](TextIndex& damaged) {
    damaged.set_live(20, 100);
    const SearchedField field{&damaged};
    TextSearch search;
    for (const char* text : {"aw0 bw1 cw2", "\"aw0 bw1\"", "a* b* c*"}) {
      search.run(TextQuery(text), std::span(&field, 1), false, SlotSet(), nullptr);
      for (const TextMatch& match : search.best(0, 100)) REQUIRE(match.slot < 20);
    }
    REQUIRE(damaged.freeze().ok());
  };
  for (size_t size = 0; size < bytes.size(); ++size) {
    TextIndex cut(kField);
    CHECK_FALSE(cut.adopt(20, copy_of(bytes.first(size))).ok());
  }
  size_t noticed = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const auto flip : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
      Buffer copy = copy_of(bytes);
      copy.data()[at] ^= flip;
      TextIndex damaged(kField);
      if (!damaged.adopt(20, std::move(copy)).ok()) {
        ++noticed;
        continue;
      }
      std::vector<std::string> problems;
      damaged.check(problems);
      noticed += problems.empty() ? 0 : 1;
      use(damaged);
    }
  }
  CHECK(noticed > bytes.size());
}
