// Linkers: what puts rows into a graph and takes them out. All are deterministic: the same codes,
// dead rows and options give the same links for any number of threads, any budgets, natively and in
// wasm.
//
//   BulkLinker   builds a whole graph at once by partition and prune
//   BatchLinker  adds rows to a graph that exists, in batches of which each searches the graph as
//                the batches before left it
//   RowRemover   takes dead rows out and mends the links around them
#pragma once

#include <cstdint>
#include <memory>

#include "arena/codes.h"
#include "arena/slot_set.h"
#include "graph/graph.h"
#include "kernels/kernels.h"
#include "nearfield/database.h"
#include "nearfield/result.h"
#include "nearfield/thread_pool.h"

namespace nearfield {

// Work in steps, so that a page stays responsive and a caller can stop in between.
class Linker {
 public:
  virtual ~Linker() = default;
  // Works for about `budget_us` microseconds (0: to the end) and says how far it is.
  virtual Result<LinkProgress> step(uint64_t budget_us) = 0;
  virtual uint64_t distances() const = 0;  // computed so far
};

// Links all rows of `codes` into `graph`, which must be empty (rows() == 0) and stays so until the
// last step. Rows that are dead at the first step are not linked; they count as removed. References
// are borrowed until the linker is destroyed; codes must not change meanwhile. REQUIRES: no row, or
// one that is not dead.
std::unique_ptr<Linker> make_bulk_linker(Graph& graph, const Codes& codes, const Kernels& kernels,
                                         ThreadPool& pool, const GraphOptions& options,
                                         const SlotSet& dead);

// Links the rows [graph.rows(), codes.rows()). After each step the graph is whole (searchable,
// every invariant holds) and graph.rows() says how many rows it has. When the graph it starts from
// is not links_in_range(), as after a damaged file, every step fails with kCorrupt and changes
// nothing. Rows that are dead when their batch begins are not linked; they count as removed.
std::unique_ptr<Linker> make_batch_linker(Graph& graph, const Codes& codes, const Kernels& kernels,
                                          ThreadPool& pool, const GraphOptions& options,
                                          const SlotSet& dead);

// Takes the rows of the graph that are dead now out of it, all in the last step; until then the
// graph stays as it was, and must not be changed. Works beside the links that change, about as many
// bytes as they have. kCorrupt as above. REQUIRES: some row stays.
std::unique_ptr<Linker> make_row_remover(Graph& graph, const Codes& codes, const Kernels& kernels,
                                         ThreadPool& pool, const GraphOptions& options,
                                         const SlotSet& dead);

}  // namespace nearfield
