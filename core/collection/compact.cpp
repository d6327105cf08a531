// What becomes of dead slots. They are tombstones in the graph at first, which walks pass through;
// link() takes them out of it when there are enough, mending the links around them, and when so
// many slots are dead that it pays, or compact() was called, moves the live ones together. Nothing
// is linked anew by either.
#include <algorithm>

#include "collection/collection_impl.h"

namespace nearfield {

// A walk scores tombstones as it does live rows: it gets slower by their share.
bool CollectionImpl::wants_removal() const {
  constexpr uint32_t kFewest = 256;
  constexpr uint32_t kShare = 16;  // of the graph, one part in
  if (tombstones_ == 0) return false;
  return compacting_ || wants_compaction() ||
         tombstones_ >= std::max(kFewest, graph_->rows() / kShare);
}

// Moving costs a copy of every live row, and storage writes them all anew: with half as many dead
// as live, two for each row that died.
bool CollectionImpl::wants_compaction() const {
  constexpr uint64_t kFewest = 1024;
  if (dead_.count() == 0) return false;
  return compacting_ || (dead_.count() >= kFewest && 2 * uint64_t{dead_.count()} > count());
}

void CollectionImpl::count_tombstones() {
  tombstones_ = dead_.count_below(graph_->rows()) - graph_->removed().count();
}

Result<LinkProgress> CollectionImpl::compact(uint64_t budget_us) {
  if (environment_.read_only)
    return Error{ErrorCode::kReadOnly, "the database was opened for reading"};
  compacting_ |= dead_.count() > 0;
  return link(budget_us);
}

// So few rows are not linked again, so that nobody would move them later.
Result<void> CollectionImpl::compact_without_graph() {
  if (dead_.count() == 0 || count() >= kFewestLinked) return {};
  if (count() == 0) {
    reset();
    return {};
  }
  if (!wants_compaction()) return {};
  // Without the memory for it the collection goes on as it is.
  auto moved = move_together();
  if (!moved && moved.error().code != ErrorCode::kOutOfMemory) return moved;
  return {};
}

// REQUIRES: no tombstones, or so few live rows that they need no graph.
Result<void> CollectionImpl::move_together() {
  const auto live = static_cast<uint32_t>(count());
  auto ids = std::make_unique<IdColumn>(block_shift_);
  auto metadata = std::make_unique<TextColumn>(block_shift_);
  auto fields = fields_->emptied(block_shift_);
  NEARFIELD_TRY(ids->ensure_index(SlotSet()));
  NEARFIELD_TRY(ids->reserve(live));
  std::vector<uint32_t> to(rows_->rows(), kNoLink);
  uint32_t moved = 0;
  for (uint32_t from = next_live(0); from < rows_->rows(); from = next_live(from + 1)) {
    to[from] = moved++;
    ids->append(ids_->get(from));
    metadata->append(metadata_->get(from));
  }
  const auto text_of = [&](uint32_t slot) {
    return metadata->get(slot).value_or(std::string_view());
  };
  NEARFIELD_TRY(fields->append(live, text_of));

  // Nothing fails from here on: rows move within the memory that they have.
  fields->index_words(live, text_of);
  stop_linking();
  if (live < kFewestLinked) {
    codes_ = std::make_unique<Codes>(options_.dimensions, options_.metric, block_shift_);
    graph_ = std::make_unique<Graph>(2 * options_.m, block_shift_);
  }
  const uint32_t linked = graph_->rows();
  for (uint32_t from = next_live(0); from < rows_->rows(); from = next_live(from + 1)) {
    rows_->move(to[from], from);
    if (from < linked) codes_->move(to[from], from);
  }
  graph_->move_together(to);
  (void)rows_->resize(live);
  (void)codes_->resize(graph_->rows());
  ids_ = std::move(ids);
  metadata_ = std::move(metadata);
  fields_ = std::move(fields);
  dead_.clear();
  tombstones_ = 0;
  compacting_ = false;
  rewritten_ = true;
  graph_changed_ = true;
  dirty_ = true;
  return {};
}

}  // namespace nearfield
