// Linking: when the tail is put into the graph, and by which linker.
#include <algorithm>

#include "base/random.h"
#include "collection/collection_impl.h"

namespace nearfield {

// The tail costs every search one distance a row, so it may be a sixteenth of the graph, at most
// as long as a scan stays well below a millisecond.
bool CollectionImpl::wants_link() const {
  if (linker_) return true;
  if (environment_.read_only || count() < kFewestLinked) return false;
  constexpr uint32_t kLongestTail = 8192;
  const uint32_t linked = graph_->rows();
  return rows_->rows() - linked >= std::clamp(linked / 16, kFewestLinked, kLongestTail) ||
         wants_removal() || wants_compaction();
}

Result<LinkProgress> CollectionImpl::link(uint64_t budget_us) {
  if (environment_.read_only)
    return Error{ErrorCode::kReadOnly, "the database was opened for reading"};
  for (;;) {
    if (!linker_) {
      NEARFIELD_ASSIGN(const bool started, start_next());
      if (!started) return LinkProgress{};
    }
    const uint32_t linked = graph_->rows();
    auto progress = linker_->step(budget_us);
    if (!progress && progress.error().code == ErrorCode::kCorrupt) {
      // The file's links lead nowhere, which a mapped file shows only here. Rows are whole: anew.
      drop_graph();
      NEARFIELD_TRY(start_bulk());
      progress = linker_->step(budget_us);
    }
    if (graph_->rows() !=
        linked) {  // batches change the graph in place, also before one that fails
      graph_changed_ = true;
      dirty_ = true;
      count_tombstones();
    }
    if (!progress) {
      stop_linking();
      return progress;
    }
    if (!progress->finished()) return progress;
    const bool removed = removing_;
    finish_linking();
    // Rows are taken out before others are put in, or slots are moved.
    if (!removed) return progress;
    if (budget_us > 0) return LinkProgress{progress->done, progress->total + 1};
  }
}

// Starts what is to be done next; false when nothing is.
Result<bool> CollectionImpl::start_next() {
  if (count() < kFewestLinked) {
    if (wants_compaction()) NEARFIELD_TRY(move_together());
    return false;
  }
  const bool bulk = rows_->rows() - graph_->rows() > graph_->rows();  // leaves no tombstones
  if (wants_removal() && !bulk) {
    start_removal();
    return true;
  }
  if (wants_compaction() && tombstones_ == 0) NEARFIELD_TRY(move_together());
  if (rows_->rows() == graph_->rows()) return false;
  NEARFIELD_TRY(start_linking());
  return true;
}

void CollectionImpl::start_removal() {
  removing_ = true;
  linker_ = make_row_remover(*graph_, *codes_, *environment_.kernels, *environment_.pool,
                             graph_options(), dead_);
}

// A tail longer than the graph is cheaper to link together with everything else, from scratch; all
// such builds together cost at most twice the last one.
Result<void> CollectionImpl::start_linking() {
  const uint32_t linked = graph_->rows();
  const bool bulk = rows_->rows() - linked > linked || tail_leaves_range();
  return bulk ? start_bulk() : start_batches();
}

// Codes are only as good as the range they were fitted to. When the tail leaves it, which a bulk
// build fits anew, rows would be told apart too poorly: more than a fiftieth of the values clipped
// (one in a thousand is by design), or, under dot, as many rows longer than the longest.
bool CollectionImpl::tail_leaves_range() const {
  constexpr uint64_t kTolerated = 50;
  const uint64_t tail = rows_->rows() - graph_->rows();
  uint64_t clipped = 0;
  uint64_t longer = 0;
  const double longest =
      static_cast<double>(codes_->longest()) * codes_->quantizer().step * codes_->quantizer().step;
  std::vector<float> widened;
  for (uint32_t slot = graph_->rows(); slot < rows_->rows(); ++slot) {
    const auto row = rows_->get(slot, widened);
    clipped += codes_->quantizer().clipped(row.data(), row.size(), rows_->scale(slot));
    if (options_.metric != Metric::kDot) continue;
    double squares = 0;
    for (const float value : row) squares += static_cast<double>(value) * value;
    longer += squares > longest ? 1 : 0;
  }
  return clipped * kTolerated > tail * options_.dimensions || longer * kTolerated > tail;
}

Result<void> CollectionImpl::start_bulk() {
  const uint32_t rows = rows_->rows();
  auto codes = std::make_unique<Codes>(options_.dimensions, options_.metric, block_shift_);
  NEARFIELD_TRY(codes->resize(rows));

  // The range is fitted to whole rows drawn by a counter, about a million values.
  constexpr size_t kSampleValues = 1u << 20;
  const auto drawn =
      static_cast<uint32_t>(std::clamp<size_t>(kSampleValues / options_.dimensions, 64, rows));
  std::vector<float> widened;
  std::vector<float> sample;
  sample.reserve(size_t{drawn} * options_.dimensions);
  for (uint32_t i = 0; i < drawn; ++i) {
    const uint32_t slot = drawn == rows ? i : random_below(options_.seed, i, rows);
    const float scale = rows_->scale(slot);
    for (const float value : rows_->get(slot, widened)) sample.push_back(value * scale);
  }
  Codes& target = *codes;
  target.set_range(Quantizer::fit(sample, options_.metric), 0);

  constexpr size_t kGrain = 256;
  const auto encode_all = [&] {
    environment_.pool->parallel_for(rows, kGrain, [&](size_t begin, size_t end, unsigned) {
      std::vector<float> row;
      for (size_t i = begin; i < end; ++i) {
        const auto slot = static_cast<uint32_t>(i);
        target.encode(slot, rows_->get(slot, row).data(), rows_->scale(slot));
      }
    });
  };
  encode_all();
  if (options_.metric == Metric::kDot) {
    int64_t longest = 0;
    for (uint32_t slot = 0; slot < rows; ++slot) {
      longest = std::max(longest, target.squared_length(target.code(slot)));
    }
    target.set_range(target.quantizer(), longest);
    encode_all();  // again, now that lifts are known
  }

  new_codes_ = std::move(codes);
  new_graph_ = std::make_unique<Graph>(2 * options_.m, block_shift_);
  linker_ = make_bulk_linker(*new_graph_, *new_codes_, *environment_.kernels, *environment_.pool,
                             graph_options(), dead_);
  return {};
}

Result<void> CollectionImpl::start_batches() {
  const uint32_t from = codes_->rows();
  NEARFIELD_TRY(codes_->resize(rows_->rows()));
  std::vector<float> widened;
  for (uint32_t slot = from; slot < rows_->rows(); ++slot) {
    codes_->encode(slot, rows_->get(slot, widened).data(), rows_->scale(slot));
  }
  linker_ = make_batch_linker(*graph_, *codes_, *environment_.kernels, *environment_.pool,
                              graph_options(), dead_);
  return {};
}

void CollectionImpl::finish_linking() {
  auto codes = std::move(new_codes_);
  auto graph = std::move(new_graph_);
  const bool changed = graph || removing_;  // batches changed the graph as they went
  stop_linking();
  if (graph) {
    codes_ = std::move(codes);
    graph_ = std::move(graph);
  }
  graph_changed_ |= changed;
  dirty_ |= changed;
  count_tombstones();
}

void CollectionImpl::drop_graph() {
  stop_linking();
  codes_ = std::make_unique<Codes>(options_.dimensions, options_.metric, block_shift_);
  graph_ = std::make_unique<Graph>(2 * options_.m, block_shift_);
  tombstones_ = 0;
  graph_damaged_ = true;
  graph_changed_ = true;
  dirty_ = !environment_.read_only;
}

void CollectionImpl::stop_linking() {
  if (linker_) build_distances_ += linker_->distances();
  linker_.reset();
  removing_ = false;
  new_codes_.reset();
  new_graph_.reset();
}

}  // namespace nearfield
