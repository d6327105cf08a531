// faiss: HNSW over f32 rows, and over rows of 8 bits a dimension. All queries go in one call, since
// each call clears a table of all rows. Cosine is the inner product of normalised rows.
#include <omp.h>

#include <stdexcept>

#include <faiss/IndexHNSW.h>
#include <faiss/index_io.h>

#include "peer.h"
#include "unit_row.h"

namespace bench {
namespace {

class FaissPeer final : public Peer {
 public:
  FaissPeer(const Task& task, bool sq8) : task_(task), sq8_(sq8) {}

  void build(const RowsView& rows, unsigned threads) override {
    const auto dimensions = static_cast<int>(task_.dimensions);
    const auto metric = task_.l2 ? faiss::METRIC_L2 : faiss::METRIC_INNER_PRODUCT;
    if (sq8_) {
      index_ = std::make_unique<faiss::IndexHNSWSQ>(dimensions, faiss::ScalarQuantizer::QT_8bit, kM,
                                                    metric);
    } else {
      index_ = std::make_unique<faiss::IndexHNSWFlat>(dimensions, kM, metric);
    }
    index_->hnsw.efConstruction = kEfConstruction;
    omp_set_num_threads(static_cast<int>(threads));
    std::vector<float> units;
    const float* values = prepared(rows, units);
    const auto count = static_cast<faiss::Index::idx_t>(rows.count);
    index_->train(count, values);
    index_->add(count, values);
  }

  void save() override { faiss::write_index(index_.get(), task_.saved_path.c_str()); }

  void open() override {
    std::unique_ptr<faiss::Index> read(faiss::read_index(task_.saved_path.c_str()));
    auto* graph = dynamic_cast<faiss::IndexHNSW*>(read.get());
    if (graph == nullptr) throw std::runtime_error(task_.saved_path + ": no HNSW index of faiss");
    read.release();
    index_.reset(graph);
  }

  void search(const RowsView& queries, uint32_t setting, std::span<int32_t> ids) override {
    omp_set_num_threads(1);
    index_->hnsw.efSearch = static_cast<int>(ef_of(setting));
    std::vector<float> units;
    distances_.resize(queries.count * kK);
    labels_.resize(queries.count * kK);
    index_->search(static_cast<faiss::Index::idx_t>(queries.count), prepared(queries, units), kK,
                   distances_.data(), labels_.data());
    for (size_t i = 0; i < labels_.size(); ++i) ids[i] = static_cast<int32_t>(labels_[i]);
  }

 private:
  const float* prepared(const RowsView& rows, std::vector<float>& units) const {
    if (!task_.cosine) return rows.data;
    units.resize(rows.count * rows.dimensions);
    for (size_t i = 0; i < rows.count; ++i) {
      write_unit_row(rows.row(i), rows.dimensions, &units[i * rows.dimensions]);
    }
    return units.data();
  }

  Task task_;
  bool sq8_;
  std::unique_ptr<faiss::IndexHNSW> index_;
  std::vector<float> distances_;
  std::vector<faiss::Index::idx_t> labels_;
};

}  // namespace

std::unique_ptr<Peer> make_faiss_flat(const Task& task) {
  return std::make_unique<FaissPeer>(task, false);
}

std::unique_ptr<Peer> make_faiss_sq8(const Task& task) {
  return std::make_unique<FaissPeer>(task, true);
}

}  // namespace bench
