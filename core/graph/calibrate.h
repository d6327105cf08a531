// Calibration: measures on a graph how much slack a walk needs for a recall.
//
// Rows of the graph play the queries, each passed over as if it were not there, so that they are as
// unknown to the graph as real queries are. Queries from elsewhere (a sentence that searches
// images) may find less than the table promises.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arena/codes.h"
#include "graph/graph.h"
#include "graph/slack_table.h"
#include "graph/walk.h"
#include "kernels/kernels.h"
#include "nearfield/thread_pool.h"

namespace nearfield {

// Candidates that a walk with a slack keeps at most, if the caller does not want more rows.
inline constexpr uint32_t kMostCandidates = 2000;

// A pure function of links, seeds, codes and the seed number. The graph must not change meanwhile.
class Calibration {
 public:
  // REQUIRES: rows.
  Calibration(const Graph& graph, const Codes& codes, const Kernels& kernels, ThreadPool& pool,
              uint64_t seed);
  // A few walks for each worker; true when the table is complete.
  bool step();
  const SlackTable& table() const { return table_; }
  uint64_t distances() const { return distances_; }

 private:
  // A row that plays a query, and its nearest: what a long walk finds. Real queries seldom equal a
  // row, so copies of the row do not count: to find those no slack is needed.
  struct Probe {
    uint32_t row;
    EarlyStop stop;  // its rank counts the copies too
    std::vector<uint32_t> truth;

    void set_truth(std::span<const Candidate> found);
    uint64_t count(std::span<const Candidate> found) const;
  };

  template <class Take>
  void walk_to_some(std::optional<uint32_t> slack, Take take);
  void find_truth();
  void count_found(uint32_t slack);
  void climb(uint32_t slack);

  const Graph& graph_;
  const Codes& codes_;
  const Kernels& kernels_;
  ThreadPool& pool_;
  std::vector<Probe> probes_;
  std::vector<WalkScratch> scratch_;  // a worker each
  uint64_t distances_ = 0;
  SlackTable table_;

  bool knows_truth_ = false;
  size_t walked_ = 0;                // probes, in this round
  std::atomic<uint64_t> count_ = 0;  // of what this round found, rows that are to be found
  uint64_t all_ = 0;                 // rows to be found
  size_t rung_ = 0;                  // of the ladder of slacks
  size_t target_ = 0;                // the first recall that is not reached
  uint64_t count_before_ = 0;
  uint64_t slack_before_ = 0;
};

}  // namespace nearfield
