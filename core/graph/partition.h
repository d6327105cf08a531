// Partition: randomised ball carving, the first step of a bulk build (PiPNN, arXiv 2602.21247).
//
// A cluster that is too large for a leaf draws leaders from its rows, and every row joins the
// clusters of its nearest leaders: several at the top, so that neighbours that one carving
// separates meet in another leaf. Clusters are carved depth first, so at any time only the rows of
// the top clusters and of one path below them are in memory.
//
// Leaders are drawn by counter and every choice is by (distance, position): the leaves depend on
// codes, plan and seed only.
#pragma once

#include <cstdint>
#include <vector>

#include "arena/codes.h"
#include "graph/bulk_plan.h"
#include "graph/packed_rows.h"
#include "graph/walk.h"
#include "kernels/kernels.h"
#include "nearfield/result.h"
#include "nearfield/thread_pool.h"

namespace nearfield {

class Partition {
 public:
  // `rows` in rising order.
  Partition(const Codes& codes, const Kernels& kernels, ThreadPool& pool, const BulkPlan& plan,
            uint64_t seed, std::vector<uint32_t> rows);

  bool done() const { return clusters_.empty() && !carving_; }
  // One unit of work. Appends the leaves that it completed: rows in rising order.
  Result<void> advance(std::vector<std::vector<uint32_t>>& leaves);

  uint64_t distances() const { return distances_; }
  // How far the rows are, 0 to 1.
  double progress() const;

 private:
  struct Cluster {
    std::vector<uint32_t> rows;
    uint32_t depth = 0;
    uint64_t key = 0;  // the path that led here: what its random numbers depend on
  };
  struct Scratch {
    PackedRows rows;
    std::vector<int32_t> distances;
    std::vector<Candidate> nearest;
  };

  Result<void> begin_carving();
  Result<void> assign_rows();
  void finish_carving(std::vector<std::vector<uint32_t>>& leaves);
  static void cut(Cluster cluster, size_t leaf_rows, std::vector<std::vector<uint32_t>>& leaves);

  const Codes& codes_;
  const Kernels& kernels_;
  ThreadPool& pool_;
  const BulkPlan plan_;
  std::vector<Cluster> clusters_;  // a stack
  std::vector<Scratch> scratch_;   // a worker each

  // The cluster that is being carved.
  bool carving_ = false;
  Cluster cluster_;
  uint32_t fan_out_ = 0;
  PackedRows leaders_;
  std::vector<uint16_t> joined_;  // fan_out_ leaders a row
  size_t assigned_ = 0;

  uint64_t distances_ = 0;
  uint64_t top_members_ = 0;   // rows of all clusters of the first carving
  uint64_t top_finished_ = 0;  // of which in clusters that are done
  size_t rows_ = 0;
};

}  // namespace nearfield
