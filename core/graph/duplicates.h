// Duplicates: rows of identical code (and walk term, so that they are at one distance from every
// row). The distance between two of them need not be 0: under cosine two zero rows are not near
// each other.
//
// A thousand copies of one row would link only to each other: every one is the nearest of every
// other, and a leaf or a pool full of them has no place for anybody else. So only the first takes
// part in partition, search and pruning. The others hang behind it in a chain: the first links to
// one copy, each copy to the next, and every copy also back to the first. A search that reaches the
// first finds them one by one, as many as its pool holds.
//
// A row is a copy when its first link leads to an earlier row of the same code. Nothing else is
// stored; the codes tell.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arena/codes.h"
#include "graph/graph.h"
#include "nearfield/thread_pool.h"

namespace nearfield {

bool same_code(const Codes& codes, uint32_t a, uint32_t b);

struct Copy {
  uint32_t first;  // the lowest slot with this code
  uint32_t slot;
};

// Splits the slots [begin, end) that are not dead into the first rows of each code, in rising
// order, and the copies of those, also in rising order.
struct Distinct {
  std::vector<uint32_t> firsts;
  std::vector<Copy> copies;
};
Distinct find_copies(const Codes& codes, uint32_t begin, uint32_t end, const SlotSet& dead,
                     ThreadPool& pool);

// The first row of a graph that has the code of `slot`, or kNoLink: a pass over the terms, for rows
// of which a walk does not find the copies.
uint32_t find_first(const Graph& graph, const Codes& codes, uint32_t slot);

// Whether a row in the graph is a copy in this sense.
bool is_copy(const Graph& graph, const Codes& codes, uint32_t slot);

// Hangs a row without links behind the first of its code. Whoever could be reached before still
// can.
void link_copy(Graph& graph, const Codes& codes, Copy copy);

}  // namespace nearfield
