// walk: the best-first search through the graph, on codes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arena/codes.h"
#include "graph/graph.h"
#include "kernels/kernels.h"
#include "nearfield/selection.h"

namespace nearfield {

struct Candidate {
  int32_t distance;
  uint32_t slot;
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.slot < b.slot;
  }
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

// Reused from walk to walk by one thread: the pool of candidates and the marks of visited rows.
struct WalkScratch {
  std::vector<Candidate> pool;
  std::vector<uint16_t> visited;  // the epoch in which a row was last seen
  uint16_t epoch = 0;
  std::vector<uint32_t> fresh;    // rows that are about to be scored
  std::vector<uint32_t> groups;   // of seeds, as their centres are scored
  std::vector<int32_t> selected;  // distances of the nearest selected rows found
  int32_t nearest_seed = 0;       // walk distance of the nearest seed, selected or not
  std::vector<uint32_t> bridges;  // rows that are not selected and lead to others
};

// Lets a walk end before it has expanded its whole pool: as soon as the nearest row that is not
// expanded is farther, by squared distance, than the rank-th nearest found and `slack` beyond it
// (distance-adaptive beam search, arXiv 2505.15636). Rows beyond that leave the pool.
struct EarlyStop {
  uint32_t rank;   // from 1
  uint32_t least;  // candidates that stay in the pool, however far they are; at least `rank`
  uint32_t slack;  // in units of 1 / kSlackUnit, see SlackTable
  Codes::QueryTerms query;
  // Rounding errors of codes beyond the rank-th that the walk looks at in any case.
  double deviations = 0;
};

struct WalkOptions {
  uint32_t ef;  // most candidates in the pool, at least 1
  std::optional<EarlyStop> stop = {};
  uint32_t without = kNoLink;  // a row that is passed over, as if it were not in the graph
  // Only these rows count for the stop, which must be given with it; others may be in the pool and
  // lead the way.
  const Selection* only = nullptr;
  // Goes from selected row to selected row, through at most one that is not selected and is not
  // scored (two-hop expansion of ACORN, arXiv 2403.04871): for selections that leave few
  // neighbours.
  bool bridged = false;
  uint64_t budget = UINT64_MAX;  // the walk gives up when it has computed more distances
};

// Finds about the `ef` rows nearest to a query code, nearest first, ties by slot: at most `ef`, all
// rows when there are fewer and they are reachable. Deterministic. The answer lies in scratch.pool.
// `distances` is increased by the distances computed. Links that point outside the graph, as a
// damaged file may have them, are passed over. REQUIRES: graph.rows() <= codes.rows().
std::span<const Candidate> walk(const Graph& graph, const Codes& codes, const Kernels& kernels,
                                const uint8_t* query, const WalkOptions& options,
                                WalkScratch& scratch, uint64_t& distances);

// The same from a row, as linking needs it: by build distance, and of rows with identical codes
// only the first (see duplicates.h), so that a thousand copies of one row do not fill the pool. The
// row need not be in the graph; when it is, it may be part of the answer.
std::span<const Candidate> walk_to_link(const Graph& graph, const Codes& codes,
                                        const Kernels& kernels, uint32_t row, uint32_t ef,
                                        WalkScratch& scratch, uint64_t& distances);

}  // namespace nearfield
