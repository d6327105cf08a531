// What a collection does by its fields: declaring them, selecting, ordering and counting rows.
#include <mutex>

#include "collection/collection_impl.h"
#include "metadata/order.h"
#include "query/evaluate.h"
#include "query/filter.h"

namespace nearfield {

// A field that stays keeps what is known of the rows; the others are read from the metadata first,
// so that an error changes nothing.
Result<void> CollectionImpl::set_fields(std::span<const Field> wanted) {
  if (environment_.read_only)
    return Error{ErrorCode::kReadOnly, "the database was opened for reading"};
  NEARFIELD_TRY(validate(wanted));
  const auto same = [](std::span<const Field> fields, const Field& field) {
    return std::ranges::find(fields, field) != fields.end();
  };
  std::vector<Field> added;
  for (const Field& field : wanted) {
    if (!same(fields_->fields(), field)) added.push_back(field);
  }
  if (added.empty() && wanted.size() == fields_->fields().size()) return {};

  FieldSet fresh(std::move(added), block_shift_);
  NEARFIELD_TRY(read_fields(fresh));
  auto next =
      std::make_unique<FieldSet>(std::vector<Field>(wanted.begin(), wanted.end()), block_shift_);
  for (size_t i = 0; i < wanted.size(); ++i) {
    FieldSet& from = same(fields_->fields(), wanted[i]) ? *fields_ : fresh;
    next->take(i, from, *from.find(wanted[i].name));
  }
  fields_ = std::move(next);
  dirty_ = true;
  return {};
}

// Fills an empty set from the metadata of all rows.
Result<void> CollectionImpl::read_fields(FieldSet& fields) const {
  const auto metadata = [&](uint32_t slot) {
    return dead_.contains(slot) ? std::string_view() : metadata_at(slot);
  };
  NEARFIELD_TRY(fields.append(rows_->rows(), metadata));
  fields.index_words(rows_->rows(), metadata);
  return {};
}

Result<size_t> CollectionImpl::find_field(std::string_view name) const {
  if (const auto found = fields_->find(name)) return *found;
  std::string names;
  for (const Field& field : fields_->fields()) names += (names.empty() ? "" : ", ") + field.name;
  return Error{ErrorCode::kInvalidArgument,
               "no field \"" + std::string(name) + "\" in collection \"" + name_ + "\"; expected " +
                   (names.empty() ? "one of its fields, of which it has none" : "one of " + names)};
}

namespace {

// What filters ask of a collection beside its columns.
class Source final : public FilterSource {
 public:
  Source(const CollectionImpl& collection, const IdColumn& ids)
      : collection_(collection), ids_(ids) {}
  std::string_view metadata_at(uint32_t slot) const override {
    return collection_.metadata_at(slot);
  }
  Result<std::optional<uint32_t>> find_id(IdView id) const override { return ids_.find(id); }

 private:
  const CollectionImpl& collection_;
  const IdColumn& ids_;
};

Bitmap bitmap_of(const Selection& selected, uint32_t rows) {
  Bitmap bitmap(rows);
  const auto words = bitmap.words();
  std::copy_n(selected.words.begin(), std::min(selected.words.size(), words.size()), words.begin());
  return bitmap;
}

}  // namespace

Result<Selection> CollectionImpl::select(std::string_view text) const {
  Bitmap found = Bitmap::live(rows_->rows(), dead_);
  if (!text.empty()) {
    NEARFIELD_ASSIGN(const Filter filter, Filter::parse(text, fields_->fields()));
    if (filter.uses_ids()) {
      // Searches run side by side, and any of them may be the first to need the table.
      const std::lock_guard lock(id_table_mutex_);
      NEARFIELD_TRY(ids_->ensure_index(dead_));
    }
    NEARFIELD_ASSIGN(found, evaluate(filter, fields_->columns(), found, Source(*this, *ids_)));
  }
  const auto words = std::as_const(found).words();
  return Selection{{words.begin(), words.end()}, found.count()};
}

Result<uint64_t> CollectionImpl::remove_selected(const Selection& selected) {
  if (environment_.read_only)
    return Error{ErrorCode::kReadOnly, "the database was opened for reading"};
  NEARFIELD_TRY(ids_->ensure_index(dead_));
  uint64_t removed = 0;
  bitmap_of(selected, rows_->rows()).for_each([&](uint32_t slot) {
    if (dead_.contains(slot)) return;
    bury(slot);
    ++removed;
  });
  dirty_ |= removed > 0;
  NEARFIELD_TRY(compact_without_graph());
  return removed;
}

Result<std::vector<uint32_t>> CollectionImpl::order(const Selection& selected,
                                                    std::string_view field, bool descending,
                                                    uint64_t offset, uint64_t limit) const {
  const Bitmap slots = bitmap_of(selected, rows_->rows());
  if (!field.empty()) {
    NEARFIELD_ASSIGN(const size_t index, find_field(field));
    if (fields_->fields()[index].type == FieldType::kText) {
      return Error{ErrorCode::kInvalidArgument, "field \"" + std::string(field) +
                                                    "\" is a text; expected a tag, keyword, number "
                                                    "or bool field to order by"};
    }
    return order_by(fields_->columns()[index], slots, descending, offset, limit);
  }
  std::vector<uint32_t> page;
  const uint64_t count = slots.count();
  const uint64_t end = offset + std::min(limit, count - std::min(offset, count));
  uint64_t place = 0;
  slots.for_each([&](uint32_t slot) {
    const uint64_t rank = descending ? count - 1 - place : place;
    if (rank >= offset && rank < end) page.push_back(slot);
    ++place;
  });
  if (descending) std::reverse(page.begin(), page.end());
  return page;
}

Result<std::vector<FacetCount>> CollectionImpl::facets(std::string_view field,
                                                       const Selection& selected,
                                                       uint32_t top) const {
  NEARFIELD_ASSIGN(const size_t index, find_field(field));
  const TagColumn* tags = fields_->columns()[index].tags();
  if (tags == nullptr) {
    return Error{ErrorCode::kInvalidArgument,
                 "field \"" + std::string(field) + "\" is a " +
                     std::string(field_type_name(fields_->fields()[index].type)) +
                     "; expected a tag or keyword field to count the values of"};
  }
  return tags->facets(bitmap_of(selected, rows_->rows()), top);
}

}  // namespace nearfield
