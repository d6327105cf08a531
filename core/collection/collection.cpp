// Records come and go: upsert, remove, get. Searching is in search.cpp, linking in link.cpp, what
// becomes of dead slots in compact.cpp, storage in persist.cpp.
#include <cmath>

#include "collection/collection_impl.h"

namespace nearfield {

namespace {

// Blocks of about 4 MiB of rows: what a segment holds and a write rewrites. At most 4,096 rows, so
// that the texts of a block stay below 4 GiB.
unsigned choose_block_shift(const CollectionOptions& options) {
  constexpr size_t kBlockBytes = 4u << 20;
  const size_t row_bytes = options.dimensions * value_bytes(options.row_type);
  unsigned shift = 6;
  while (shift < 12 && (row_bytes << (shift + 1)) <= kBlockBytes) ++shift;
  return shift;
}

std::string at_row(size_t row) { return "row " + std::to_string(row) + " of the batch"; }

}  // namespace

CollectionImpl::CollectionImpl(std::string name, uint32_t number, const CollectionOptions& options,
                               const Environment& environment)
    : name_(std::move(name)),
      number_(number),
      options_(options),
      environment_(environment),
      block_shift_(choose_block_shift(options)),
      fields_(std::make_unique<FieldSet>(std::vector<Field>(), block_shift_)) {
  make_empty_parts();
}

std::unique_ptr<Rows> CollectionImpl::empty_rows() const {
  return std::make_unique<Rows>(options_.dimensions, options_.metric, options_.row_type,
                                block_shift_);
}

void CollectionImpl::make_empty_parts() {
  rows_ = empty_rows();
  ids_ = std::make_unique<IdColumn>(block_shift_);
  metadata_ = std::make_unique<TextColumn>(block_shift_);
  dead_.clear();
  tombstones_ = 0;
  compacting_ = false;
  codes_ = std::make_unique<Codes>(options_.dimensions, options_.metric, block_shift_);
  graph_ = std::make_unique<Graph>(2 * options_.m, block_shift_);
  fields_ = fields_->emptied(block_shift_);
}

std::optional<std::string> CollectionImpl::unusable_value(std::span<const float> vector,
                                                          RowType type) {
  const float largest = largest_value(type);
  for (size_t i = 0; i < vector.size(); ++i) {
    const float value = vector[i];
    if (std::fabs(value) <= largest) continue;
    const std::string found = std::isnan(value)   ? "NaN"
                              : std::isinf(value) ? "infinity"
                                                  : std::to_string(value);
    return found + " at position " + std::to_string(i) + "; expected finite numbers within ±" +
           (type == RowType::kF16 ? "65504, the range of f16" : "1e15");
  }
  return std::nullopt;
}

Result<void> CollectionImpl::check_batch(const Batch& batch) const {
  const uint64_t rows = batch.ids.size();
  const size_t dimensions = options_.dimensions;
  if (environment_.read_only) {
    return Error{ErrorCode::kReadOnly, "the database was opened for reading"};
  }
  if (batch.vectors.size() != rows * dimensions) {
    return Error{ErrorCode::kDimensionMismatch,
                 std::to_string(rows) + " ids came with " + std::to_string(batch.vectors.size()) +
                     " values; collection \"" + name_ + "\" has " + std::to_string(dimensions) +
                     " dimensions, so " + std::to_string(rows * dimensions) + " were expected"};
  }
  if (!batch.metadata.empty() && batch.metadata.size() != rows) {
    return Error{ErrorCode::kInvalidArgument,
                 std::to_string(rows) + " ids came with " + std::to_string(batch.metadata.size()) +
                     " metadata texts; expected one a row or none at all"};
  }
  if (rows > kMaxRows - rows_->rows()) {
    return Error{ErrorCode::kInvalidArgument,
                 "a collection holds at most " + std::to_string(kMaxRows) + " rows"};
  }
  for (size_t row = 0; row < rows; ++row) {
    const IdView id = batch.ids[row];
    if (id.is_text() && id.text().size() > kMaxIdBytes) {
      return Error{ErrorCode::kInvalidId,
                   "the id of " + at_row(row) + " has " + std::to_string(id.text().size()) +
                       " bytes; expected at most " + std::to_string(kMaxIdBytes)};
    }
    if (!batch.metadata.empty() && batch.metadata[row].size() > kMaxMetadataBytes) {
      return Error{ErrorCode::kInvalidArgument, "the metadata of " + at_row(row) + " has " +
                                                    std::to_string(batch.metadata[row].size()) +
                                                    " bytes; expected at most " +
                                                    std::to_string(kMaxMetadataBytes)};
    }
    if (const auto bad = unusable_value(batch.vectors.subspan(row * dimensions, dimensions),
                                        options_.row_type)) {
      return Error{ErrorCode::kNotFinite,
                   at_row(row) + " (id " + describe_id(id) + ") has " + *bad};
    }
  }
  return {};
}

Result<uint64_t> CollectionImpl::upsert(const Batch& batch) {
  NEARFIELD_TRY(check_batch(batch));
  NEARFIELD_TRY(ids_->ensure_index(dead_));
  const uint32_t first = rows_->rows();
  const auto rows = static_cast<uint32_t>(batch.ids.size());
  const auto metadata_of = [&](uint32_t row) {
    return batch.metadata.empty() ? std::string_view() : batch.metadata[row];
  };
  NEARFIELD_TRY(fields_->append(rows, metadata_of));
  if (auto resized = rows_->resize(first + rows); !resized) {
    fields_->take_back(rows);
    return std::move(resized).error();
  }
  if (auto reserved = ids_->reserve(first + rows); !reserved) {
    fields_->take_back(rows);
    (void)rows_->resize(first);  // shrinking needs no memory
    return std::move(reserved).error();
  }
  // Nothing fails from here on, so the batch lands whole: what is still allocated is small beside
  // the rows, and the program ends when not even that is to be had.
  fields_->index_words(rows, metadata_of);
  uint64_t added = 0;
  for (uint32_t row = 0; row < rows; ++row) {
    const IdView id = batch.ids[row];
    if (const auto replaced = ids_->find(id)) {
      bury(*replaced);
    } else {
      ++added;
    }
    ids_->append(id);
    rows_->set(first + row,
               batch.vectors.subspan(size_t{row} * options_.dimensions, options_.dimensions));
    const std::string_view metadata = metadata_of(row);
    metadata_->append(metadata.empty() ? std::nullopt : std::optional(metadata));
  }
  dirty_ |= rows > 0;
  NEARFIELD_TRY(compact_without_graph());
  return added;
}

Result<uint64_t> CollectionImpl::remove(std::span<const IdView> ids) {
  if (environment_.read_only)
    return Error{ErrorCode::kReadOnly, "the database was opened for reading"};
  NEARFIELD_TRY(ids_->ensure_index(dead_));
  uint64_t removed = 0;
  for (const IdView id : ids) {
    const auto slot = ids_->find(id);
    if (!slot) continue;
    bury(*slot);
    ++removed;
  }
  dirty_ |= removed > 0;
  NEARFIELD_TRY(compact_without_graph());
  return removed;
}

void CollectionImpl::bury(uint32_t slot) {
  ids_->forget(slot);
  fields_->remove(slot);
  dead_.insert(slot);
  if (slot < graph_->rows() && !graph_->removed().contains(slot)) ++tombstones_;
}

Result<void> CollectionImpl::clear() {
  if (environment_.read_only)
    return Error{ErrorCode::kReadOnly, "the database was opened for reading"};
  if (rows_->rows() > 0) reset();
  return {};
}

void CollectionImpl::reset() {
  stop_linking();
  make_empty_parts();
  rewritten_ = true;
  graph_changed_ = true;
  dirty_ = true;
}

bool CollectionImpl::contains(IdView id) {
  return ids_->ensure_index(dead_).ok() && ids_->find(id).has_value();
}

Result<Record> CollectionImpl::get(IdView id) {
  NEARFIELD_TRY(ids_->ensure_index(dead_));
  const auto slot = ids_->find(id);
  if (!slot) {
    return Error{ErrorCode::kNotFound,
                 "no record with id " + describe_id(id) + " in collection \"" + name_ + "\""};
  }
  return Record{id.to_id(), vector_at(*slot), std::string(metadata_at(*slot))};
}

std::vector<float> CollectionImpl::vector_at(uint32_t slot) const {
  std::vector<float> widened;
  const auto vector = rows_->get(slot, widened);
  return {vector.begin(), vector.end()};
}

std::string_view CollectionImpl::metadata_at(uint32_t slot) const {
  return metadata_->get(slot).value_or(std::string_view());
}

uint32_t CollectionImpl::next_live(uint32_t slot) const {
  while (slot < rows_->rows() && dead_.contains(slot)) ++slot;
  return slot;
}

CollectionStats CollectionImpl::stats() const {
  CollectionStats stats;
  stats.count = count();
  stats.rows = rows_->rows();
  stats.linked = graph_->rows();
  stats.memory_bytes = rows_->memory_bytes() + ids_->memory_bytes() + metadata_->memory_bytes() +
                       fields_->memory_bytes() + dead_.memory_bytes() + codes_->memory_bytes() +
                       graph_->link_blocks().memory_bytes();
  stats.build_distances = build_distances_ + (linker_ ? linker_->distances() : 0);
  stats.distance_computations =
      stats.build_distances + search_distances_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace nearfield
