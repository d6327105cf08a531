// Database: the collections of one storage, and the commits that make them last.
#include <algorithm>

#include "base/small_sort.h"
#include "collection/collection_impl.h"
#include "nearfield/database.h"
#include "store/store.h"

namespace nearfield {

namespace {

class DatabaseImpl final : public Database {
 public:
  DatabaseImpl(std::unique_ptr<Storage> storage, const Environment& environment)
      : storage_(std::move(storage)), environment_(environment) {}

  // A reader takes no lock: another program's commit may remove files before they are read. What
  // looks damaged is only believed when the listing is still the same afterwards.
  Result<void> open(bool create) {
    for (int attempt = 0;; ++attempt) {
      NEARFIELD_ASSIGN(const auto names, sorted_names());
      auto loaded = load(create);
      const bool damaged = loaded ? !warnings_.empty()
                                  : loaded.error().code == ErrorCode::kCorrupt ||
                                        loaded.error().code == ErrorCode::kNotFound;
      if (!damaged || attempt == kMostRetries) return loaded;
      NEARFIELD_ASSIGN(const auto names_now, sorted_names());
      if (names == names_now) return loaded;
    }
  }

  Result<void> load(bool create) {
    warnings_.clear();
    collections_.clear();
    NEARFIELD_ASSIGN(store_, Store::open(*storage_, create));
    next_number_ = store_->manifest().next_collection;
    if (!store_->recovery().empty()) warnings_.push_back(store_->recovery());
    for (const auto& [number, entry] : store_->manifest().collections) {
      NEARFIELD_ASSIGN(auto collection,
                       CollectionImpl::load(*store_, number, environment_, warnings_));
      collections_.push_back(std::move(collection));
    }
    return {};
  }

  Result<Collection*> collection(std::string_view name, const CollectionOptions& options) override {
    if (auto found = find(name)) {
      NEARFIELD_TRY(compare(name, (*found)->options(), options));
      return found;
    }
    if (environment_.read_only) {
      return Error{ErrorCode::kReadOnly, "no collection \"" + std::string(name) +
                                             "\", and the database was opened for reading"};
    }
    if (name.empty() || name.size() > kMaxNameBytes) {
      return Error{ErrorCode::kInvalidArgument,
                   "a collection's name has " + std::to_string(name.size()) +
                       " bytes; expected 1 to " + std::to_string(kMaxNameBytes)};
    }
    NEARFIELD_TRY(validate(options));
    if (next_number_ == UINT32_MAX) {
      return Error{ErrorCode::kInvalidArgument,
                   "the numbers for collections are used up; expected fewer over a store's life"};
    }
    collections_.push_back(
        std::make_unique<CollectionImpl>(std::string(name), next_number_++, options, environment_));
    return static_cast<Collection*>(collections_.back().get());
  }

  Result<Collection*> find(std::string_view name) override {
    for (const auto& collection : collections_) {
      if (collection->name() == name) return static_cast<Collection*>(collection.get());
    }
    return Error{ErrorCode::kNotFound, "no collection \"" + std::string(name) + "\""};
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& collection : collections_) names.push_back(collection->name());
    small_sort(names.begin(), names.end());
    return names;
  }

  Result<void> drop(std::string_view name) override {
    if (environment_.read_only)
      return Error{ErrorCode::kReadOnly, "the database was opened for reading"};
    NEARFIELD_TRY(find(name));
    std::erase_if(collections_, [&](const auto& collection) { return collection->name() == name; });
    return {};
  }

  bool dirty() const override {
    return collections_.size() != store_->manifest().collections.size() ||
           std::any_of(collections_.begin(), collections_.end(), [&](const auto& collection) {
             return collection->dirty() ||
                    !store_->manifest().collections.contains(collection->number());
           });
  }

  Result<void> flush() override {
    if (environment_.read_only || !dirty()) return {};
    Store::Commit commit = store_->begin();
    Manifest& manifest = commit.manifest();
    manifest.next_collection = next_number_;
    const auto is_open = [&](uint32_t number) {
      return std::any_of(collections_.begin(), collections_.end(),
                         [&](const auto& collection) { return collection->number() == number; });
    };
    std::erase_if(manifest.collections, [&](const auto& entry) { return !is_open(entry.first); });
    std::erase_if(manifest.segments,
                  [&](const auto& entry) { return !is_open(entry.first.collection); });
    for (const auto& collection : collections_) {
      if (collection->dirty()) NEARFIELD_TRY(collection->save(commit));
    }
    NEARFIELD_TRY(commit.finish());
    for (const auto& collection : collections_) {
      if (collection->dirty()) collection->saved();
    }
    return {};
  }

  DatabaseInfo info() const override {
    DatabaseInfo info;
    info.format_version = kFormatVersion;
    info.generation = store_->manifest().generation;
    for (const auto& [number, length] : store_->manifest().files) info.bytes += length;
    std::map<std::string_view, uint64_t> by_kind;
    for (const auto& [key, ref] : store_->manifest().segments)
      by_kind[segment_kind_name(key.kind)] += ref.length;
    for (const auto& [kind, bytes] : by_kind)
      info.bytes_by_kind.push_back({std::string(kind), bytes});
    info.kernels = environment_.kernels->name;
    info.warnings = warnings_;
    return info;
  }

  Result<VerifyReport> verify_all() {
    NEARFIELD_ASSIGN(VerifyReport report, store_->verify());
    report.rows = 0;  // live records, not rows stored
    for (const auto& collection : collections_) {
      report.rows += collection->count();
      collection->check(report.problems);
    }
    return report;
  }

  Result<void> pack(FileSink& sink) override { return store_->pack(sink); }

 private:
  static constexpr int kMostRetries = 5;

  Result<std::vector<std::string>> sorted_names() {
    NEARFIELD_ASSIGN(auto names, storage_->list());
    small_sort(names.begin(), names.end());
    return names;
  }

  static Result<void> compare(std::string_view name, const CollectionOptions& have,
                              const CollectionOptions& wanted) {
    const auto differs = [&](const char* option, const std::string& is,
                             const std::string& asked) -> Result<void> {
      if (is == asked) return {};
      return Error{ErrorCode::kOptionsMismatch, "collection \"" + std::string(name) + "\" has " +
                                                    option + " " + is + "; it was opened with " +
                                                    asked};
    };
    NEARFIELD_TRY(
        differs("dimensions", std::to_string(have.dimensions), std::to_string(wanted.dimensions)));
    NEARFIELD_TRY(differs("metric", std::string(metric_name(have.metric)),
                          std::string(metric_name(wanted.metric))));
    NEARFIELD_TRY(differs("storage", std::string(row_type_name(have.row_type)),
                          std::string(row_type_name(wanted.row_type))));
    NEARFIELD_TRY(differs("m", std::to_string(have.m), std::to_string(wanted.m)));
    NEARFIELD_TRY(differs("efConstruction", std::to_string(have.ef_construction),
                          std::to_string(wanted.ef_construction)));
    return differs("seed", std::to_string(have.seed), std::to_string(wanted.seed));
  }

  std::unique_ptr<Storage> storage_;
  std::unique_ptr<Store> store_;
  Environment environment_;
  uint32_t next_number_ = 1;
  std::vector<std::unique_ptr<CollectionImpl>> collections_;
  std::vector<std::string> warnings_;
};

}  // namespace

Result<std::unique_ptr<Database>> Database::open(std::unique_ptr<Storage> storage,
                                                 const DatabaseOptions& options) {
  Environment environment;
  environment.kernels = find_kernels(options.kernels);
  if (environment.kernels == nullptr) {
    std::string names;
    for (const std::string& name : available_kernels()) names += (names.empty() ? "" : ", ") + name;
    return Error{ErrorCode::kInvalidArgument,
                 "no kernel set of that name here; expected one of " + names};
  }
  environment.pool = options.pool != nullptr ? options.pool : &serial_pool();
  environment.read_only = options.read_only;
  auto database = std::make_unique<DatabaseImpl>(std::move(storage), environment);
  NEARFIELD_TRY(database->open(options.create && !options.read_only));
  return std::unique_ptr<Database>(std::move(database));
}

Result<VerifyReport> Database::verify() { return static_cast<DatabaseImpl*>(this)->verify_all(); }

Result<void> Database::unpack(Storage& source, std::string_view file, Storage& destination) {
  return Store::unpack(source, file, destination);
}

std::vector<std::string> available_kernels() {
  std::vector<std::string> names;
  for (const Kernels* table : supported_kernels()) names.emplace_back(table->name);
  return names;
}

const char* version() { return NEARFIELD_VERSION; }

}  // namespace nearfield
