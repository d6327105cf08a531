// How fields are written to storage and come back. All of it can be made anew from the metadata, so
// damage costs time and never a record.
#include "base/coding.h"
#include "collection/collection_impl.h"

namespace nearfield {

namespace {

constexpr uint8_t kStopWordsFlag = 1;
constexpr uint8_t kPrefixFlag = 2;

// The pieces in which storage has a collection's rows.
std::vector<Piece> pieces_of(const Manifest& manifest, uint32_t collection) {
  std::vector<Piece> pieces;
  for (auto it = manifest.segments.lower_bound({collection, SegmentKind::kRows, 0});
       it != manifest.segments.end() && it->first.collection == collection &&
       it->first.kind == SegmentKind::kRows;
       ++it) {
    pieces.push_back({it->first.first_row, it->second.rows});
  }
  return pieces;
}

}  // namespace

// Columns are cut as rows are; `written` are the pieces of rows that this commit writes.
Result<void> CollectionImpl::save_fields(Store::Commit& commit, std::span<const Piece> written) {
  Manifest& manifest = commit.manifest();
  std::erase_if(manifest.segments, [&](const auto& segment) {
    const SegmentKey& key = segment.first;
    return key.collection == number_ && is_of_field(key.kind) && !fields_->has_number(key.field);
  });
  const SegmentKey list{number_, SegmentKind::kFields, 0};
  if (fields_->empty()) {
    commit.erase(list);
    return {};
  }
  const std::vector<Piece> all = pieces_of(manifest, number_);
  for (size_t i = 0; i < fields_->fields().size(); ++i) {
    if (fields_->number(i) == 0) fields_->set_number(i, fields_->free_number());
    SegmentKey key{number_, SegmentKind::kColumn, 0, fields_->number(i)};
    const bool stored = fields_->is_stored(i);
    if (!stored) erase_segments(manifest, key, kMaxRows);
    for (const Piece& piece : stored ? written : std::span<const Piece>(all)) {
      key.first_row = piece.first;
      erase_segments(manifest, key, piece.first + piece.rows);
      const std::vector<std::byte> payload = fields_->columns()[i].encode(piece.first, piece.rows);
      if (!payload.empty()) NEARFIELD_TRY(commit.put(key, piece.rows, payload));
    }
    if (fields_->text(i) != nullptr) NEARFIELD_TRY(save_postings(commit, i));
  }
  return commit.put(list, 0, encode_fields());
}

// Segments of words keep the cut that the index gave them; those that storage has stay.
Result<void> CollectionImpl::save_postings(Store::Commit& commit, size_t field) {
  TextIndex& text = *fields_->text(field);
  NEARFIELD_TRY(text.freeze());
  SegmentKey key{number_, SegmentKind::kPostings, 0, fields_->number(field)};
  if (!fields_->is_stored(field)) erase_segments(commit.manifest(), key, kMaxRows);
  for (const auto& [segment, stored] : text.parts()) {
    key.first_row = segment.first();
    if (stored && fields_->is_stored(field)) continue;
    erase_segments(commit.manifest(), key, segment.first() + segment.rows());
    NEARFIELD_TRY(commit.put(key, segment.rows(), segment.bytes()));
  }
  return {};
}

std::vector<std::byte> CollectionImpl::encode_fields() const {
  Encoder list;
  list.put(analysis_version());
  list.put(static_cast<uint32_t>(fields_->fields().size()));
  for (size_t i = 0; i < fields_->fields().size(); ++i) {
    const Field& field = fields_->fields()[i];
    list.put(fields_->number(i));
    list.put(static_cast<uint8_t>(field.type));
    list.put(static_cast<uint8_t>((field.stop_words ? kStopWordsFlag : 0) |
                                  (field.prefix ? kPrefixFlag : 0)));
    list.put_text(field.name);
    const TextIndex* text = fields_->text(i);
    list.put(text != nullptr ? text->live_rows() : uint64_t{0});
    list.put(text != nullptr ? text->live_tokens() : uint64_t{0});
  }
  return list.take();
}

namespace {

// Nothing when the list contradicts itself.
std::unique_ptr<FieldSet> decode_fields(std::span<const std::byte> bytes, unsigned block_shift,
                                        uint32_t& version) {
  Decoder decoder(bytes);
  version = decoder.get<uint32_t>();
  const auto count = decoder.get<uint32_t>();
  if (count == 0 || count > kMaxFields) return nullptr;
  std::vector<Field> fields(count);
  std::vector<uint16_t> numbers(count);
  std::vector<std::pair<uint64_t, uint64_t>> live(count);
  for (uint32_t i = 0; i < count; ++i) {
    numbers[i] = decoder.get<uint16_t>();
    const auto type = decoder.get<uint8_t>();
    const auto flags = decoder.get<uint8_t>();
    fields[i] = {.name = std::string(decoder.get_text()),
                 .type = static_cast<FieldType>(type),
                 .stop_words = (flags & kStopWordsFlag) != 0,
                 .prefix = (flags & kPrefixFlag) != 0};
    live[i].first = decoder.get<uint64_t>();
    live[i].second = decoder.get<uint64_t>();
    const auto known = numbers.begin() + i;
    if (!decoder.ok() || type > static_cast<uint8_t>(FieldType::kKeyword) || numbers[i] == 0 ||
        std::find(numbers.begin(), known, numbers[i]) != known) {
      return nullptr;
    }
  }
  if (decoder.remaining() != 0 || !validate(fields)) return nullptr;
  auto set = std::make_unique<FieldSet>(std::move(fields), block_shift);
  for (uint32_t i = 0; i < count; ++i) {
    set->set_number(i, numbers[i]);
    if (set->text(i) != nullptr) set->text(i)->set_live(live[i].first, live[i].second);
  }
  return set;
}

}  // namespace

Result<void> CollectionImpl::load_fields(Store& store, std::vector<std::string>& warnings) {
  const auto& segments = store.manifest().segments;
  const auto list = segments.find({number_, SegmentKind::kFields, 0});
  if (list == segments.end()) return {};
  const auto warn = [&](const std::string& what) {
    warnings.push_back(corrupt_collection(name_, what).detail);
    dirty_ = !environment_.read_only;
  };
  auto bytes = store.load(list->first, list->second);
  if (!bytes && bytes.error().code != ErrorCode::kCorrupt) return std::move(bytes).error();
  uint32_t version = 0;
  auto fields = bytes ? decode_fields(bytes->bytes(), block_shift_, version) : nullptr;
  if (!fields) {
    warn("the list of its fields is damaged; declare them again, no record is lost");
    return {};
  }
  fields_ = fields->emptied(block_shift_);
  // Words that another version found may differ from what this one looks for: all are read again.
  if (version != analysis_version()) {
    dirty_ = !environment_.read_only;
    return read_again();
  }
  auto loaded = load_columns(store, *fields);
  if (loaded) loaded = load_postings(store, *fields);
  if (loaded) {
    fields->saved();
    fields_ = std::move(fields);
    return {};
  }
  if (loaded.error().code != ErrorCode::kCorrupt) return loaded;
  warn("its fields are damaged (" + loaded.error().detail +
       "); they are read again from the metadata, no record is lost");
  return read_again();
}

// Fills the empty set of fields from the metadata.
Result<void> CollectionImpl::read_again() {
  if (auto read = read_fields(*fields_); !read) {
    return corrupt_collection(name_,
                              "its metadata does not fit its fields: " + read.error().detail);
  }
  return {};
}

Result<void> CollectionImpl::load_postings(Store& store, FieldSet& fields) const {
  const auto& segments = store.manifest().segments;
  const uint32_t rows = rows_->rows();
  for (size_t i = 0; i < fields.fields().size(); ++i) {
    TextIndex* text = fields.text(i);
    while (text != nullptr && text->rows() < rows) {
      const auto found =
          segments.find({number_, SegmentKind::kPostings, text->rows(), fields.number(i)});
      if (found == segments.end() || found->second.rows == 0 ||
          found->second.rows > rows - text->rows()) {
        return corrupt_collection(
            name_, "words of the rows from " + std::to_string(text->rows()) + " are missing");
      }
      NEARFIELD_ASSIGN(Buffer bytes, store.load(found->first, found->second));
      NEARFIELD_TRY(text->adopt(found->second.rows, std::move(bytes)));
    }
  }
  return {};
}

Result<void> CollectionImpl::load_columns(Store& store, FieldSet& fields) const {
  const auto& segments = store.manifest().segments;
  for (const Piece& piece : pieces_of(store.manifest(), number_)) {
    for (size_t i = 0; i < fields.fields().size(); ++i) {
      const auto column =
          segments.find({number_, SegmentKind::kColumn, piece.first, fields.number(i)});
      Buffer payload;
      if (column != segments.end()) {
        if (column->second.rows != piece.rows) {
          return corrupt_collection(name_,
                                    "a column of other rows than " + std::to_string(piece.first));
        }
        NEARFIELD_ASSIGN(payload, store.load(column->first, column->second));
      }
      NEARFIELD_TRY(fields.columns()[i].adopt(std::move(payload), piece.rows));
    }
  }
  return {};
}

// Columns must hold what the metadata says.
void CollectionImpl::check_fields(std::vector<std::string>& problems) const {
  const size_t before = problems.size();
  for (size_t i = 0; i < fields_->fields().size(); ++i) {
    fields_->columns()[i].check(problems);
    if (fields_->text(i) != nullptr) fields_->text(i)->check(problems);
  }
  if (fields_->empty() || problems.size() > before) return;
  const auto fresh = fields_->emptied(block_shift_);
  const auto metadata = [&](uint32_t slot) { return metadata_at(slot); };
  if (auto read = fresh->append(rows_->rows(), metadata); !read) {
    problems.push_back(corrupt_collection(name_, read.error().detail).detail);
    return;
  }
  const uint32_t block_rows = 1U << block_shift_;
  for (size_t i = 0; i < fields_->fields().size(); ++i) {
    for (uint32_t first = 0; first < rows_->rows(); first += block_rows) {
      const uint32_t rows = std::min(block_rows, rows_->rows() - first);
      // Dead rows may have had no values when the field was declared.
      const uint32_t next_dead = dead_.next(first);
      if (next_dead < first + rows) continue;
      if (fields_->columns()[i].encode(first, rows) == fresh->columns()[i].encode(first, rows))
        continue;
      problems.push_back(
          corrupt_collection(name_, "field \"" + fields_->fields()[i].name +
                                        "\" differs from the metadata in rows from " +
                                        std::to_string(first))
              .detail);
      break;
    }
  }
}

}  // namespace nearfield
