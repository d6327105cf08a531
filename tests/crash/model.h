// Model: what a database should hold, in plain maps, and the actions that change both.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nearfield/database.h"

namespace nearfield::test {

// What a record's metadata says, as the model understands it.
struct Values {
  std::vector<std::string> tags;
  std::optional<int> number;
  std::optional<bool> flag;
  std::vector<std::string> words;
  std::string sku;

  std::string json() const;  // empty when it says nothing
};

struct ModelRecord {
  std::vector<float> vector;
  Values values;
};

struct ModelCollection {
  CollectionOptions options;
  std::vector<Field> fields;
  std::map<Id, ModelRecord> records;
};

using Model = std::map<std::string, ModelCollection>;

// One change of a database. What it is about is missing in the database when it is in the model.
struct Action {
  enum class Kind {
    kMake,
    kUpsert,
    kRemove,
    kRemoveTag,
    kRemoveBelow,
    kSetFields,
    kClear,
    kLink,
    kCompact,
    kDrop,
    kFlush
  };
  Kind kind = Kind::kFlush;
  std::string collection = {};
  CollectionOptions options = {};      // make; upsert, which makes what is missing
  std::vector<Id> ids = {};            // upsert, remove
  std::vector<ModelRecord> rows = {};  // upsert, one an id
  std::vector<Field> fields = {};      // set fields
  uint64_t budget_us = 1;              // link, compact; 0: to the end
  std::string tag = {};                // remove by tag
  int number = 0;                      // remove by number
};

std::string describe(const Action& action);

Result<void> perform(const Action& action, Database& database);
void perform(const Action& action, Model& model);

// How a database differs from a model, records, filters, full text and search alike; empty when it
// does not.
std::string difference(Database& database, const Model& model);

}  // namespace nearfield::test
