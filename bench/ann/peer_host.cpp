// ann_peer NAME FOLDER SET SAVED: one peer in a process of its own, told by lines what to do. It
// answers each with one line of JSON; compare.mjs drives several of them in turn.
//
//   build THREADS   {"seconds", "resident_bytes", "peak_bytes"}: from nothing
//   save            {"seconds", "bytes"}: into SAVED, durable
//   open            {"seconds", "all_seconds", "resident_bytes"}: what was saved, to the first
//   answer
//                   and to all of them, with a usual setting
//   search SETTING  {"seconds", "ids"}: every query on one thread
//
// ann_peer without arguments prints the names of its peers.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "peer.h"
#include "process_memory.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What Nearfield does by itself when it saves: the others must not be quicker by leaving it out.
void make_durable(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY);
  if (descriptor < 0 || fsync(descriptor) != 0)
    throw std::runtime_error("cannot sync " + file.string());
  close(descriptor);
}

int64_t bytes_at(const fs::path& path) {
  if (fs::is_regular_file(path)) return static_cast<int64_t>(fs::file_size(path));
  int64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) bytes += static_cast<int64_t>(entry.file_size());
  }
  return bytes;
}

constexpr uint32_t kUsual = 0;  // see Peer::search

class Host {
 public:
  Host(const PeerEntry& entry, const DataSet& set, const std::string& saved)
      : entry_(entry), set_(set), saved_(saved), query_values_(read_queries(set)) {
    queries_ = {query_values_.data(), set.queries, set.dimensions};
    ids_.resize(set.queries * kK);
  }

  Json answer(const std::string& line) {
    std::istringstream words(line);
    std::string call;
    unsigned number = 0;
    words >> call >> number;
    if (call == "build" && number > 0) return build(number);
    if (call == "search" && number > 0) return search(number);
    if (call == "save") return save();
    if (call == "open") return open();
    throw std::runtime_error("cannot do \"" + line + "\"");
  }

 private:
  void make() {
    peer_.reset();
    peer_ = entry_.make(
        {set_.dimensions, set_.metric == "cosine", set_.metric == "l2", saved_.string()});
  }

  Json build(unsigned threads) {
    make();
    fs::remove_all(saved_);
    const int64_t before = process_memory().resident_bytes;
    std::vector<float> base = read_base(set_);
    const int64_t with_rows = process_memory().resident_bytes;
    const Clock::time_point start = Clock::now();
    peer_->build({base.data(), set_.rows, set_.dimensions}, threads);
    const double seconds = seconds_since(start);
    const int64_t peak = process_memory().peak_bytes;
    std::vector<float>().swap(base);
    malloc_trim(0);  // what the index holds, without what it freed
    return {{"seconds", seconds},
            {"resident_bytes", process_memory().resident_bytes - before},
            {"peak_bytes", peak - with_rows}};
  }

  Json save() {
    const Clock::time_point start = Clock::now();
    peer_->save();
    if (fs::is_regular_file(saved_)) make_durable(saved_);
    const double seconds = seconds_since(start);
    return {{"seconds", seconds}, {"bytes", bytes_at(saved_)}};
  }

  Json open() {
    make();
    const int64_t before = process_memory().resident_bytes;
    const Clock::time_point start = Clock::now();
    peer_->open();
    peer_->search({queries_.data, 1, queries_.dimensions}, kUsual, ids_);
    const double first = seconds_since(start);
    peer_->search(queries_, kUsual, ids_);
    const double all = seconds_since(start);
    return {{"seconds", first},
            {"all_seconds", all},
            {"resident_bytes", process_memory().resident_bytes - before}};
  }

  Json search(uint32_t setting) {
    const Clock::time_point start = Clock::now();
    peer_->search(queries_, setting, ids_);
    const double seconds = seconds_since(start);
    return {{"seconds", seconds}, {"ids", ids_}};
  }

  PeerEntry entry_;
  DataSet set_;
  fs::path saved_;
  std::vector<float> query_values_;
  RowsView queries_;
  std::vector<int32_t> ids_;
  std::unique_ptr<Peer> peer_;
};

int run(int argc, char** argv) {
  if (argc == 1) {
    for (const PeerEntry& entry : peers()) std::cout << entry.name << '\n';
    return 0;
  }
  if (argc != 5) throw std::runtime_error("usage: ann_peer NAME FOLDER SET SAVED");
  const std::string_view name = argv[1];
  const auto entry =
      std::ranges::find_if(peers(), [&](const PeerEntry& peer) { return peer.name == name; });
  if (entry == peers().end()) throw std::runtime_error("no peer " + std::string(name) + " here");
  Host host(*entry, read_set(argv[2], argv[3]), argv[4]);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << host.answer(line).dump() << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ann_peer: %s\n", error.what());
    return 1;
  }
}
