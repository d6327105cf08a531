#include "crash/workload.h"

#include <iterator>

namespace nearfield::test {

namespace {

constexpr uint32_t kCollections = 3;
constexpr const char* kTags[] = {"red", "blue", "green", "with ünicode"};
constexpr const char* kWords[] = {"amber", "birch", "cedar", "delta", "ember", "flint", "grove"};

}  // namespace

// One in six has a graph (which takes 1,024 rows) at first, one in six so many flushes that small
// files are joined.
Shape shape_of(uint64_t seed) {
  RandomStream random(mix64(seed));
  Shape shape{.actions = 60,
              .flush_every = 3,
              .linked_rows = 0,
              .preferred_file_bytes = random.one_in(2) ? 4096u : UINT64_MAX,
              .maps = random.one_in(2),
              .faults = random.one_in(2)};
  if (seed % 6 == 4) {
    shape.linked_rows = 1600;
    shape.actions = 30;
  }
  if (seed % 6 == 2) {
    shape.actions = 160;
    shape.flush_every = 2;
    shape.preferred_file_bytes = UINT64_MAX;
  }
  return shape;
}

Action Workload::next(const Shape& shape) {
  ++begun_;
  if (shape.linked_rows > 0 && begun_ == 1) {
    ids_ = 2 * shape.linked_rows;
    return upsert_into(0, shape.linked_rows);
  }
  if (shape.linked_rows > 0 && begun_ == 2)
    return {.kind = Action::Kind::kLink, .collection = "a", .budget_us = 0};
  if (random_.one_in(shape.flush_every)) return {.kind = Action::Kind::kFlush};
  const uint32_t which = random_.below(kCollections);
  const std::string name(1, static_cast<char>('a' + which));
  switch (random_.below(20)) {
    case 0:
    case 1:
    case 2: {
      Action action{.kind = Action::Kind::kRemove, .collection = name};
      for (uint32_t i = random_.below(8 + ids_ / 16); i > 0; --i) action.ids.push_back(draw_id());
      return action;
    }
    case 3:
      return {.kind = Action::Kind::kRemoveTag,
              .collection = name,
              .tag = kTags[random_.below(std::size(kTags))]};
    case 4:
      return {.kind = Action::Kind::kRemoveBelow,
              .collection = name,
              .number = static_cast<int>(random_.below(40))};
    case 5:
    case 6: return {.kind = Action::Kind::kSetFields, .collection = name, .fields = draw_fields()};
    case 7:
      return {.kind = random_.one_in(3) ? Action::Kind::kClear : Action::Kind::kLink,
              .collection = random_.one_in(2) ? name : "b"};
    case 8:
    case 9:
      return {
          .kind = Action::Kind::kLink, .collection = "a", .budget_us = random_.one_in(4) ? 0u : 1u};
    case 10:
      return {.kind = Action::Kind::kCompact,
              .collection = random_.one_in(3) ? name : "a",
              .budget_us = random_.one_in(4) ? 0u : 1u};
    case 11:
      if (random_.one_in(3)) return {.kind = Action::Kind::kDrop, .collection = name};
      [[fallthrough]];
    default: return upsert_into(which, 1 + random_.below(random_.one_in(6) ? 70 : 5));
  }
}

Action Workload::upsert(uint32_t rows) { return upsert_into(random_.below(kCollections), rows); }

CollectionOptions Workload::options(uint32_t which) const {
  return {.dimensions = 2 + which,
          .metric = static_cast<Metric>((seed_ + which) % 3),
          .row_type = (seed_ / 3 + which) % 2 == 0 ? RowType::kF32 : RowType::kF16,
          .m = 4,
          .ef_construction = 16};
}

Action Workload::upsert_into(uint32_t which, uint32_t rows) {
  Action action{.kind = Action::Kind::kUpsert,
                .collection = std::string(1, static_cast<char>('a' + which)),
                .options = options(which)};
  for (uint32_t i = 0; i < rows; ++i) {
    action.ids.push_back(draw_id());
    action.rows.push_back(draw_record(action.options.dimensions));
  }
  return action;
}

Id Workload::draw_id() {
  const uint32_t number = random_.below(ids_);
  if (random_.one_in(2)) return int64_t{number} - 20;
  return "id " + std::to_string(number);
}

// Values that an f16 row keeps exactly.
ModelRecord Workload::draw_record(uint32_t dimensions) {
  ModelRecord record;
  for (uint32_t i = 0; i < dimensions; ++i)
    record.vector.push_back(static_cast<float>(random_.below(1024)) / 16 - 32);
  Values& values = record.values;
  if (random_.one_in(5)) return record;
  for (const char* tag : kTags) {
    if (random_.one_in(3)) values.tags.emplace_back(tag);
  }
  if (!random_.one_in(3)) values.number = static_cast<int>(random_.below(100));
  if (!random_.one_in(3)) values.flag = random_.one_in(2);
  for (uint32_t i = random_.below(6); i > 0; --i)
    values.words.emplace_back(kWords[random_.below(std::size(kWords))]);
  if (random_.one_in(2)) values.sku = "IT-" + std::to_string(random_.below(30));
  return record;
}

std::vector<Field> Workload::draw_fields() {
  const Field all[] = {{"t", FieldType::kTag},
                       {"n", FieldType::kNumber},
                       {"b", FieldType::kBool},
                       {"x", FieldType::kText},
                       {"k", FieldType::kKeyword}};
  std::vector<Field> fields;
  for (const Field& field : all) {
    if (!random_.one_in(3)) fields.push_back(field);
  }
  return fields;
}

}  // namespace nearfield::test
