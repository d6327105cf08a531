#include "progress.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace nearfield::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr auto kInterval = std::chrono::milliseconds(100);

bool standard_error_is_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

size_t terminal_columns() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

}  // namespace

Progress::Progress() : on_terminal_(standard_error_is_terminal()) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void Progress::begin(const std::string& phase) {
  phase_ = phase;
  phase_.resize(9, ' ');
  start_ = Clock::now();
  last_drawn_ = {};
  update(0);
}

void Progress::update(double share, uint64_t rows) {
  if (!on_terminal_ || Clock::now() - last_drawn_ < kInterval) return;
  last_drawn_ = Clock::now();
  drawn_ = true;
  share = std::clamp(share, 0.0, 1.0);
  const double elapsed = seconds_since(start_);

  const int filled = static_cast<int>(share * kBarWidth);
  std::string line = phase_ + " [" + std::string(filled, '#') +
                     std::string(kBarWidth - filled, '.') + "]" + format(" %3.0f %%", share * 100);
  if (rows > 0) {
    line += "  " + with_commas(rows) + " rows";
    if (elapsed > 0.5) {
      line += "  " + with_commas(static_cast<uint64_t>(static_cast<double>(rows) / elapsed)) + "/s";
    }
  }
  if (elapsed > 1 && share > 0.01) {
    line += "  " + duration(elapsed * (1 - share) / share) + " left";
  }
  line.resize(std::min(line.size(), terminal_columns() - 1));
  std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
}

void Progress::finish(uint64_t rows) {
  if (!on_terminal_) return;
  std::fprintf(stderr, "\r\x1b[K%s %s%s%s\n", phase_.c_str(),
               rows > 0 ? (with_commas(rows) + " rows").c_str() : "", rows > 0 ? " in " : "",
               duration(seconds_since(start_)).c_str());
  drawn_ = false;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string with_commas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string duration(double seconds) {
  if (seconds < 9.95) return format("%.1f s", seconds);
  if (seconds < 119.5) return format("%.0f s", seconds);
  const uint64_t whole = static_cast<uint64_t>(seconds + 0.5);
  const bool hours = whole >= 7200;
  const uint64_t small = hours ? whole / 60 : whole;
  char text[48];
  std::snprintf(text, sizeof text, "%llu:%02llu %s", static_cast<unsigned long long>(small / 60),
                static_cast<unsigned long long>(small % 60), hours ? "h" : "min");
  return text;
}

std::string byte_count(uint64_t bytes) {
  const double value = static_cast<double>(bytes);
  if (bytes < 1000) return std::to_string(bytes) + " bytes";
  if (value < 999.5e3) return format("%.3g kB", value / 1e3);
  if (value < 999.5e6) return format("%.3g MB", value / 1e6);
  return format("%.3g GB", value / 1e9);
}

}  // namespace nearfield::cli
