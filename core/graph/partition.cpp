#include "graph/partition.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/random.h"
#include "graph/nearest.h"

namespace nearfield {
namespace {

constexpr size_t kStripe = 64;       // rows that are scored against all leaders at once
constexpr size_t kStripesAUnit = 8;  // a worker
constexpr uint32_t kMaxDepth = 12;   // carving that does not get smaller ends here

}  // namespace

Partition::Partition(const Codes& codes, const Kernels& kernels, ThreadPool& pool,
                     const BulkPlan& plan, uint64_t seed, std::vector<uint32_t> rows)
    : codes_(codes), kernels_(kernels), pool_(pool), plan_(plan), rows_(rows.size()) {
  scratch_.resize(pool.workers());
  if (!rows.empty()) clusters_.push_back({std::move(rows), 0, mix64(seed ^ 0x5ca1ab1e)});
}

double Partition::progress() const {
  if (done()) return 1;
  if (top_members_ == 0) {
    return 0.5 * static_cast<double>(assigned_) / static_cast<double>(std::max<size_t>(rows_, 1));
  }
  return 0.5 + 0.5 * static_cast<double>(top_finished_) / static_cast<double>(top_members_);
}

Result<void> Partition::advance(std::vector<std::vector<uint32_t>>& leaves) {
  if (!carving_) {
    cluster_ = std::move(clusters_.back());
    clusters_.pop_back();
    if (cluster_.depth == 1) top_finished_ += cluster_.rows.size();
    if (cluster_.rows.size() <= plan_.leaf_rows) {
      leaves.push_back(std::move(cluster_.rows));
      return {};
    }
    if (cluster_.depth >= kMaxDepth) {
      cut(std::move(cluster_), plan_.leaf_rows, leaves);
      return {};
    }
    NEARFIELD_TRY(begin_carving());
  }
  NEARFIELD_TRY(assign_rows());
  if (assigned_ == cluster_.rows.size()) finish_carving(leaves);
  return {};
}

Result<void> Partition::begin_carving() {
  const size_t rows = cluster_.rows.size();
  fan_out_ = cluster_.depth == 0   ? plan_.top_fan_out
             : cluster_.depth == 1 ? plan_.inner_fan_out
                                   : 1;
  // Clusters of half a leaf on average, where that does not take too many leaders.
  const size_t wanted = 2 * rows * fan_out_ / plan_.leaf_rows + 2;
  const size_t count = std::min<size_t>({wanted, plan_.max_leaders, rows});
  fan_out_ = std::min<uint32_t>(fan_out_, static_cast<uint32_t>(count));
  std::vector<uint32_t> leaders(count);
  for (size_t i = 0; i < count; ++i) {  // one at random from each of `count` equal parts
    const size_t begin = rows * i / count;
    const size_t end = rows * (i + 1) / count;
    leaders[i] =
        cluster_.rows[begin + random_below(cluster_.key, i, static_cast<uint32_t>(end - begin))];
  }
  NEARFIELD_TRY(leaders_.assign(codes_, leaders));
  joined_.assign(rows * fan_out_, 0);
  assigned_ = 0;
  carving_ = true;
  return {};
}

Result<void> Partition::assign_rows() {
  const size_t rows = cluster_.rows.size();
  const size_t leaders = leaders_.size();
  const size_t begin = assigned_;
  const size_t end = std::min(rows, begin + kStripe * kStripesAUnit * pool_.workers());
  std::atomic<bool> failed = false;
  pool_.parallel_for(end - begin, kStripe, [&](size_t from, size_t to, unsigned worker) {
    Scratch& scratch = scratch_[worker];
    const std::span<const uint32_t> slots(cluster_.rows.data() + begin + from, to - from);
    if (!scratch.rows.assign(codes_, slots).ok()) {
      failed = true;
      return;
    }
    scratch.distances.resize(slots.size() * leaders);
    int32_t* distances = scratch.distances.data();
    kernels_.dot_block_u7(scratch.rows.code(0), slots.size(), leaders_.code(0), leaders,
                          codes_.stride(), distances, leaders);
    for (size_t i = 0; i < slots.size(); ++i) {
      scratch.rows.to_distances(i, leaders_, distances + i * leaders);
      nearest({distances + i * leaders, leaders}, fan_out_, scratch.nearest);
      uint16_t* joined = joined_.data() + (begin + from + i) * fan_out_;
      for (size_t k = 0; k < fan_out_; ++k)
        joined[k] = static_cast<uint16_t>(scratch.nearest[k].slot);
    }
  });
  if (failed) return Error{ErrorCode::kOutOfMemory, "no memory to partition the rows"};
  distances_ += (end - begin) * leaders;
  assigned_ = end;
  return {};
}

void Partition::finish_carving(std::vector<std::vector<uint32_t>>& leaves) {
  const size_t rows = cluster_.rows.size();
  std::vector<std::vector<uint32_t>> children(leaders_.size());
  {
    std::vector<uint32_t> sizes(leaders_.size(), 0);
    for (const uint16_t leader : joined_) ++sizes[leader];
    for (size_t i = 0; i < children.size(); ++i) children[i].reserve(sizes[i]);
  }
  for (size_t i = 0; i < rows; ++i) {
    for (size_t k = 0; k < fan_out_; ++k) {
      children[joined_[i * fan_out_ + k]].push_back(cluster_.rows[i]);
    }
  }
  if (cluster_.depth == 0) top_members_ = rows * fan_out_;

  // Small clusters share a leaf: products with strangers cost less than many tiny leaves.
  std::vector<uint32_t> shared;
  const auto close_shared = [&] {
    if (shared.empty()) return;
    std::sort(shared.begin(), shared.end());
    shared.erase(std::unique(shared.begin(), shared.end()), shared.end());
    leaves.push_back(std::move(shared));
    shared.clear();
  };
  for (size_t i = 0; i < children.size(); ++i) {
    auto& child = children[i];
    if (child.size() < plan_.leaf_rows / 8) {
      if (cluster_.depth == 0) top_finished_ += child.size();
      shared.insert(shared.end(), child.begin(), child.end());
      if (shared.size() >= plan_.leaf_rows / 2) close_shared();
    } else {
      clusters_.push_back(
          {std::move(child), cluster_.depth + 1, random_at(cluster_.key, ~uint64_t{i})});
    }
  }
  close_shared();
  cluster_ = {};
  joined_.clear();
  carving_ = false;
}

void Partition::cut(Cluster cluster, size_t leaf_rows, std::vector<std::vector<uint32_t>>& leaves) {
  for (size_t begin = 0; begin < cluster.rows.size(); begin += leaf_rows) {
    const size_t end = std::min(cluster.rows.size(), begin + leaf_rows);
    leaves.emplace_back(cluster.rows.begin() + static_cast<ptrdiff_t>(begin),
                        cluster.rows.begin() + static_cast<ptrdiff_t>(end));
  }
}

}  // namespace nearfield
