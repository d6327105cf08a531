// Scanning: every row is measured. The oracle of all searches, and the way to answer when a graph
// does not pay.
#include <algorithm>
#include <atomic>
#include <utility>

#include "collection/collection_impl.h"
#include "collection/row_meter.h"

namespace nearfield {

void CollectionImpl::scan(const Query& query, uint32_t begin, uint32_t end, TopK& best,
                          SearchStats& stats) const {
  RowMeter meter(*environment_.kernels, *rows_, query, best);
  for (uint32_t slot = begin; slot < end; ++slot) {
    if (!dead_.contains(slot)) meter.add(slot);
  }
  stats.distance_computations += meter.finish();
}

// Threads take pieces of the rows, not of the queries: a few rows are read from memory once and
// measured against a chunk of queries while they are in the cache.
Result<std::vector<std::vector<Hit>>> CollectionImpl::scan_batch(std::span<const float> queries,
                                                                 uint32_t k,
                                                                 SearchStats* stats) const {
  constexpr size_t kMostQueries = 64;     // a chunk
  constexpr size_t kMostHits = 1U << 20;  // kept by a worker for a chunk
  constexpr uint32_t kTileBytes = 16384;  // of rows: half of a first-level cache
  constexpr uint32_t kPieceRows = 1024;
  const size_t dimensions = options_.dimensions;
  const size_t count = queries.size() / dimensions;
  const uint32_t rows = rows_->rows();
  const size_t kept = std::min<size_t>(k, rows);
  const size_t chunk_queries = std::clamp<size_t>(kMostHits / (kept + 1), 1, kMostQueries);
  const auto tile_rows = static_cast<uint32_t>(
      std::clamp<size_t>(kTileBytes / (dimensions * sizeof(float)), 4, kPieceRows));

  ThreadPool& pool = *environment_.pool;
  std::vector<std::vector<Hit>> answers(count);
  uint64_t measured = 0;
  for (size_t first = 0; first < count; first += chunk_queries) {
    std::vector<Query> chunk;
    for (size_t i = first; i < std::min(count, first + chunk_queries); ++i) {
      auto query = make_query(queries.subspan(i * dimensions, dimensions));
      if (!query) return of_query(i, std::move(query).error());
      chunk.push_back(std::move(*query));
    }
    std::vector<std::vector<TopK>> best(pool.workers(), {chunk.size(), TopK(k)});
    std::atomic<uint64_t> computed = 0;
    pool.parallel_for(rows, kPieceRows, [&](size_t begin, size_t end, unsigned worker) {
      SearchStats piece;
      for (auto tile = static_cast<uint32_t>(begin); tile < end; tile += tile_rows) {
        const uint32_t tile_end = std::min(static_cast<uint32_t>(end), tile + tile_rows);
        for (size_t q = 0; q < chunk.size(); ++q) {
          scan(chunk[q], tile, tile_end, best[worker][q], piece);
        }
      }
      computed += piece.distance_computations;
    });
    measured += computed;
    for (size_t q = 0; q < chunk.size(); ++q) {
      for (unsigned worker = 1; worker < pool.workers(); ++worker) {
        for (const Hit& hit : best[worker][q].take_sorted()) best[0][q].push(hit);
      }
      answers[first + q] = best[0][q].take_sorted();
    }
  }
  search_distances_.fetch_add(measured, std::memory_order_relaxed);
  if (stats != nullptr) stats->distance_computations += measured;
  return answers;
}

}  // namespace nearfield
