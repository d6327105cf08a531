// Nearfield with its defaults, its store in a folder.
#include <stdexcept>
#include <utility>

#include "nearfield/database.h"
#include "peer.h"
#include "posix_storage.h"
#include "threads/std_thread_pool.h"

namespace bench {
namespace {

template <class T>
T take(nearfield::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().detail);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

class NearfieldPeer final : public Peer {
 public:
  explicit NearfieldPeer(const Task& task) : task_(task) {}

  void build(const RowsView& rows, unsigned threads) override {
    pool_ = std::make_unique<nearfield::StdThreadPool>(threads);
    open_database();
    nearfield::CollectionOptions options;
    options.dimensions = static_cast<uint32_t>(task_.dimensions);
    options.metric = task_.cosine ? nearfield::Metric::kCosine
                     : task_.l2   ? nearfield::Metric::kL2
                                  : nearfield::Metric::kDot;
    collection_ = take(database_->collection(kCollection, options));
    std::vector<nearfield::IdView> ids(rows.count);
    for (size_t i = 0; i < rows.count; ++i) ids[i] = static_cast<int64_t>(i);
    take(collection_->upsert({.vectors = {rows.data, rows.count * rows.dimensions}, .ids = ids}));
    while (!take(collection_->link()).finished()) {
    }
  }

  void save() override { take(database_->flush()); }

  void open() override {
    open_database();
    collection_ = take(database_->find(kCollection));
  }

  void search(const RowsView& queries, uint32_t recall, std::span<int32_t> ids) override {
    nearfield::SearchOptions options{.k = kK};
    if (recall != 0) options.recall = recall / 1000.0;
    for (size_t i = 0; i < queries.count; ++i) {
      const auto hits =
          take(collection_->search({queries.row(i), queries.dimensions}, options, scratch_));
      for (size_t j = 0; j < kK; ++j) {
        ids[i * kK + j] =
            j < hits.size() ? static_cast<int32_t>(collection_->id_at(hits[j].slot).number()) : -1;
      }
    }
  }

 private:
  static constexpr const char* kCollection = "bench";

  void open_database() {
    nearfield::DatabaseOptions options;
    options.pool = pool_.get();
    database_ = take(nearfield::Database::open(
        take(nearfield::PosixStorage::open(task_.saved_path, nearfield::Access::kWrite)), options));
  }

  Task task_;
  std::unique_ptr<nearfield::StdThreadPool> pool_;  // outlives the database
  std::unique_ptr<nearfield::Database> database_;
  nearfield::Collection* collection_ = nullptr;
  nearfield::SearchScratch scratch_;
};

}  // namespace

std::unique_ptr<Peer> make_nearfield(const Task& task) {
  return std::make_unique<NearfieldPeer>(task);
}

}  // namespace bench
