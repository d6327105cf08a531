// From texts to tokens: borders of words as Unicode has them, folding, bigrams, keywords.
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "text/analyzer.h"
#include "text/highlight.h"

using namespace nearfield;

namespace {

std::vector<std::string> terms(std::string_view text, Field field = {.type = FieldType::kText}) {
  TokenList list;
  Analyzer(field).analyze(text, list);
  std::vector<std::string> found;
  for (const Token& token : list.tokens) {
    REQUIRE(token.begin <= token.end);
    REQUIRE(token.end <= text.size());
    if (!token.stop) found.emplace_back(list.term(token));
  }
  return found;
}

using Terms = std::vector<std::string>;

}  // namespace

TEST_CASE("words end where the conformance test of UAX #29 says") {
  std::ifstream file(UNICODE_FOLDER "/WordBreakTest.txt");
  REQUIRE(file.good());
  size_t lines = 0;
  for (std::string line; std::getline(file, line);) {
    line = line.substr(0, line.find('#'));
    std::istringstream parts(line);
    std::string text;
    std::vector<uint32_t> expected;
    uint32_t characters = 0;
    for (std::string part; parts >> part;) {
      if (part == "÷") {
        if (characters > 0) expected.push_back(characters);
      } else if (part != "×") {
        append_utf8(static_cast<char32_t>(std::stoul(part, nullptr, 16)), text);
        ++characters;
      }
    }
    if (characters == 0) continue;
    std::vector<Character> read;
    read_characters(text, read);
    std::vector<uint32_t> ends;
    find_word_ends(std::span(read).first(read.size() - 1), ends);
    CAPTURE(line);
    CHECK(ends == expected);
    ++lines;
  }
  CHECK(lines > 1000);
}

TEST_CASE("case, width and composition make no difference") {  // c32, c33
  CHECK(terms("Straße STRASSE straẞe") == Terms{"strasse", "strasse", "strasse"});
  CHECK(terms("caf\u00e9") == terms("CAFE\u0301"));
  CHECK(terms("ＡＢＣ１２") == Terms{"abc12"});
  CHECK(terms("ガギ") == terms("ｶﾞｷﾞ"));
  CHECK(terms("パーティー") == terms("ﾊﾟｰﾃｨｰ"));
  CHECK(terms("Zürich") == Terms{"zürich"});
  CHECK(terms("한국") == terms("\u1112\u1161\u11ab\u1100\u116e\u11a8"));
}

TEST_CASE("scripts without borders of words become bigrams") {
  CHECK(terms("東京都") == Terms{"東京", "京都"});
  CHECK(terms("大") == Terms{"大"});
  CHECK(terms("iPhoneを買う") == Terms{"iphone", "を買", "買う"});
}

TEST_CASE("what is no word is no token") {
  CHECK(terms("").empty());
  CHECK(terms(" -- … *** ").empty());
  CHECK(terms("a😀b") == Terms{"a", "😀", "b"});
  CHECK(terms("can't 3.14 IT-500") == Terms{"can't", "3.14", "it", "500"});
}

TEST_CASE("bytes that are no UTF-8 are passed over") {
  for (int first = 0x80; first < 0x100; ++first) {
    for (const int second : {0x20, 0x41, 0x80, 0xbf, 0xff}) {
      std::string text = "ab ";
      text.push_back(static_cast<char>(first));
      text.push_back(static_cast<char>(second));
      text += " cd";
      const Terms found = terms(text);
      REQUIRE(found.size() >= 2);
      CHECK(found.front() == "ab");
      CHECK(found.back() == "cd");
    }
  }
}

TEST_CASE("stop words, keywords and long words") {
  const Field without{.type = FieldType::kText, .stop_words = false};
  CHECK(terms("The cat and the hat", without) == Terms{"cat", "hat"});
  CHECK(terms("The cat") == Terms{"the", "cat"});
  const Field keyword{.type = FieldType::kKeyword};
  CHECK(terms("  IT-500 / The B ", keyword) == Terms{"it-500 / the b"});
  CHECK(terms("   ", keyword).empty());
  const Terms longest = terms(std::string(1000, 'x'));
  REQUIRE(longest.size() == 1);
  CHECK(longest.front().size() == kMaxTokenBytes);
  CHECK(terms(std::string(1000, 'x')) == terms(std::string(255, 'X')));
}

TEST_CASE("highlights and snippets") {
  const Analyzer analyzer(Field{.type = FieldType::kText});
  const std::string text =
      "Wireless earbuds, wired headphones: the wireless life of 東京都 earbuds";
  const auto marked = [&](std::string_view query) {
    Terms found;
    for (const ByteRange& range : highlights(text, TextQuery(query), analyzer))
      found.push_back(text.substr(range.begin, range.end - range.begin));
    return found;
  };
  CHECK(marked("WIRELESS") == Terms{"Wireless", "wireless"});
  CHECK(marked("\"wireless life\"") == Terms{"wireless", "life"});
  CHECK(marked("wire*") == Terms{"Wireless", "wired", "wireless"});
  CHECK(marked("京都") == Terms{"京都"});
  CHECK(marked("nothing").empty());
  const auto ranges = highlights(text, TextQuery("life"), analyzer);
  const ByteRange part = snippet(text, ranges, 24);
  CHECK(part.end - part.begin <= 24);
  CHECK(part.begin <= ranges[0].begin);
  CHECK(part.end >= ranges[0].end);
}
