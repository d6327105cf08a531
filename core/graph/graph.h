// Graph: who links to whom, and where a walk begins. Links only: no vectors, no levels.
//
// Every row in [0, rows()) has `degree` 32-bit places for the slots it links to, filled from the
// front and ended by kNoLink when not full. The seeds are rows from which a walk starts; they cover
// every island of the data, and every row can be reached from them. Few seeds are scored one by
// one; many lie in groups around centres, and a walk scores the centres first and then only the
// groups of the nearest. The slack table says when a walk may end.
// A row may be removed (row_remover.cpp): its slot stays, without links, and nothing leads to it.
// Invariants (check_graph): links are < rows(), never to oneself, without duplicates; every row
// that is not removed is reachable from the seeds, and no other; the content depends on codes,
// options, the order of rows and on when which of them were removed. Threads: any number may read;
// one changes it while nobody reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arena/block_array.h"
#include "arena/codes.h"
#include "arena/slot_set.h"
#include "graph/slack_table.h"
#include "kernels/kernels.h"
#include "nearfield/result.h"

namespace nearfield {

inline constexpr uint32_t kNoLink = 0xffffffff;

struct GraphOptions {
  uint32_t degree = 32;            // links a row: twice the user's m
  uint32_t ef_construction = 200;  // how many candidates a row chooses its links from
  uint64_t seed = 1;
};

class Graph {
 public:
  Graph(uint32_t degree, unsigned block_shift) : links_(degree, block_shift) {}

  uint32_t degree() const { return static_cast<uint32_t>(links_.stride()); }
  uint32_t rows() const { return links_.rows(); }
  uint32_t* links(uint32_t slot) { return links_.row(slot); }
  const uint32_t* links(uint32_t slot) const { return links_.row(slot); }
  // Asks for the links of a row that will soon be expanded.
  void prefetch(uint32_t slot) const {
    const uint32_t* row = links_.row(slot);
    for (size_t i = 0; i < links_.stride(); i += 16) __builtin_prefetch(row + i);
  }
  // The links in use, without the empty places behind them.
  std::span<const uint32_t> linked(uint32_t slot) const {
    const uint32_t* row = links_.row(slot);
    uint32_t count = 0;
    while (count < degree() && row[count] != kNoLink) ++count;
    return {row, count};
  }

  BlockArray<uint32_t>& link_blocks() { return links_; }
  const BlockArray<uint32_t>& link_blocks() const { return links_; }
  // Grows by rows without links, or shrinks (links to rows that go are the caller's business).
  Result<void> resize(uint32_t rows);

  // Moves the rows together that are not removed: row i to to[i], kNoLink for those that are, the
  // others 0, 1, 2, ... in their order.
  void move_together(std::span<const uint32_t> to);

  std::span<const uint32_t> seeds() const { return seeds_; }
  // Group g of seeds() is [group_starts()[g], group_starts()[g + 1]), its first seed the centre; a
  // seed may be in several groups. Empty when the seeds are not grouped.
  std::span<const uint32_t> group_starts() const { return group_starts_; }
  // Seeds without groups.
  void set_seeds(std::vector<uint32_t> seeds) { set_seeds(std::move(seeds), {}); }
  // REQUIRES: no group is empty; the first start is 0 and the last one seeds.size().
  void set_seeds(std::vector<uint32_t> seeds, std::vector<uint32_t> group_starts) {
    seeds_ = std::move(seeds);
    group_starts_ = std::move(group_starts);
  }

  const SlotSet& removed() const { return removed_; }
  SlotSet& removed() { return removed_; }

  const SlackTable& slack() const { return slack_; }
  void set_slack(const SlackTable& slack) { slack_ = slack; }

  // Seeds, groups and slack as bytes, and the way back. Decoding computes nothing; it returns
  // false and changes nothing when the bytes contradict themselves. Slots are checked against the
  // rows by the walk and by check_graph, so the order of loading is free.
  std::vector<std::byte> encode_seeds() const;
  bool decode_seeds(std::span<const std::byte> bytes);

  uint64_t memory_bytes() const {
    return links_.memory_bytes() + removed_.memory_bytes() +
           (seeds_.capacity() + group_starts_.capacity()) * sizeof(uint32_t);
  }

 private:
  BlockArray<uint32_t> links_;
  std::vector<uint32_t> seeds_;
  std::vector<uint32_t> group_starts_;
  SlotSet removed_;
  SlackTable slack_;
};

// Whether every link and seed is one that linking can follow: links are < rows(), never to oneself,
// with no empty place before the last; seeds are < rows(), and there are some when there are rows.
// One pass over the links, so that a graph from a mapped file, whose checksum loading does not
// compute, can be refused before anything is written on its account. Says nothing about whether
// rows can be reached.
bool links_in_range(const Graph& graph);
bool links_in_range(const Graph& graph, uint32_t slot);  // the links of one row

// What is wrong with a graph, a sentence each; empty when every invariant holds. At most
// `limit` sentences.
std::vector<std::string> check_graph(const Graph& graph, size_t limit = 20);

}  // namespace nearfield
