#include "options.h"

#include <algorithm>
#include <charconv>
#include <thread>
#include <utility>

#include "nearfield/options.h"

namespace nearfield::cli {

CLI::Validator whole_number(uint64_t least, uint64_t most) {
  const std::string range =
      "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  return {[=](std::string& text) -> std::string {
            uint64_t value = 0;
            const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
            if (whole && value >= least && value <= most) return {};
            return "is \"" + text + "\", expected " + range;
          },
          ""};
}

CLI::Validator share() {
  return {[](std::string& text) -> std::string {
            double value = 0;
            const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool number = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
            if (number && value > 0 && value < 1) return {};
            return "is \"" + text + "\", expected a number above 0 and below 1";
          },
          ""};
}

CLI::Validator one_of(std::vector<std::string> words) {
  return {[words = std::move(words)](std::string& text) -> std::string {
            if (std::find(words.begin(), words.end(), text) != words.end()) return {};
            std::string list;
            for (size_t i = 0; i < words.size(); ++i) {
              list += (i == 0 ? "" : i + 1 < words.size() ? ", " : " or ") + words[i];
            }
            return "is \"" + text + "\", expected " + list;
          },
          ""};
}

void add_threads(CLI::App& command, unsigned& threads) {
  command.add_option("--threads", threads, "Threads to work with")
      ->type_name("N")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
}

void add_durability(CLI::App& command, Durability& durability) {
  command
      .add_option_function<std::string>(
          "--durability",
          [&durability](const std::string& word) {
            durability = word == "none" ? Durability::kNone : Durability::kFull;
          },
          "What writing waits for: the disk (full), or nothing, when a power cut may cost the "
          "store")
      ->type_name("full|none")
      ->check(one_of({"full", "none"}));
}

void add_collection(CLI::App& command, std::string& name) {
  command.add_option("--collection", name, "Collection; needed when the store has several")
      ->type_name("NAME")
      ->check([](const std::string& text) -> std::string {
        if (!text.empty() && text.size() <= kMaxNameBytes) return {};
        return "has " + std::to_string(text.size()) + " bytes, expected 1 to " +
               std::to_string(kMaxNameBytes);
      });
}

unsigned all_cores() { return std::clamp(std::thread::hardware_concurrency(), 1u, 1024u); }

}  // namespace nearfield::cli
