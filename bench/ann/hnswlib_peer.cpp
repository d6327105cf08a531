// hnswlib: f32 rows, cosine as the inner product of normalised rows, as its users do.
#include <atomic>
#include <thread>

#include <hnswlib/hnswlib.h>

#include "peer.h"
#include "unit_row.h"

namespace bench {
namespace {

class HnswlibPeer final : public Peer {
 public:
  explicit HnswlibPeer(const Task& task) : task_(task) {
    if (task.l2) {
      space_ = std::make_unique<hnswlib::L2Space>(task.dimensions);
    } else {
      space_ = std::make_unique<hnswlib::InnerProductSpace>(task.dimensions);
    }
  }

  void build(const RowsView& rows, unsigned threads) override {
    graph_ = std::make_unique<Graph>(space_.get(), rows.count, kM, kEfConstruction);
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      std::vector<float> unit(task_.dimensions);
      for (size_t i = next++; i < rows.count; i = next++) {
        graph_->addPoint(prepared(rows.row(i), unit), i);
      }
    };
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < threads; ++i) workers.emplace_back(work);
    for (std::thread& worker : workers) worker.join();
  }

  void save() override { graph_->saveIndex(task_.saved_path); }

  void open() override { graph_ = std::make_unique<Graph>(space_.get(), task_.saved_path); }

  void search(const RowsView& queries, uint32_t setting, std::span<int32_t> ids) override {
    graph_->setEf(ef_of(setting));
    std::vector<float> unit(task_.dimensions);
    for (size_t i = 0; i < queries.count; ++i) {
      auto nearest = graph_->searchKnn(prepared(queries.row(i), unit), kK);
      for (size_t j = 0; j < kK; ++j) {
        int32_t& id = ids[i * kK + j];
        id = -1;
        if (nearest.empty()) continue;
        id = static_cast<int32_t>(nearest.top().second);
        nearest.pop();
      }
    }
  }

 private:
  using Graph = hnswlib::HierarchicalNSW<float>;

  const float* prepared(const float* row, std::vector<float>& unit) const {
    if (!task_.cosine) return row;
    write_unit_row(row, task_.dimensions, unit.data());
    return unit.data();
  }

  Task task_;
  std::unique_ptr<hnswlib::SpaceInterface<float>> space_;
  std::unique_ptr<Graph> graph_;
};

}  // namespace

std::unique_ptr<Peer> make_hnswlib(const Task& task) { return std::make_unique<HnswlibPeer>(task); }

}  // namespace bench
