// nearfield import: vectors of a file into a store, all of them or none.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "failure.h"
#include "fields.h"
#include "interrupt.h"
#include "options.h"
#include "progress.h"
#include "readers/reader.h"
#include "store.h"

namespace nearfield::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct ImportOptions {
  std::string store;
  std::string file;
  std::string format;
  std::string dataset = "train";
  std::string collection;
  std::optional<uint32_t> dimensions;
  std::optional<std::string> metric;
  std::optional<uint32_t> m;
  std::optional<uint32_t> ef_construction;
  std::optional<std::string> storage;
  std::optional<std::string> fields;
  Durability durability = Durability::kFull;
  unsigned threads = all_cores();
  bool json = false;
};

struct ImportResult {
  uint64_t imported = 0;  // rows of the file
  uint64_t replaced = 0;  // of which took the place of a record
  double load_seconds = 0;
  double build_seconds = 0;
  double write_seconds = 0;
};

uint64_t peak_rss_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

Metric parse_metric(const std::string& name) {
  for (const Metric metric : {Metric::kCosine, Metric::kL2, Metric::kDot}) {
    if (metric_name(metric) == name) return metric;
  }
  throw bad_input("unknown metric " + name);
}

RowType parse_row_type(const std::string& name) {
  for (const RowType row_type : {RowType::kF32, RowType::kF16}) {
    if (row_type_name(row_type) == name) return row_type;
  }
  throw bad_input("unknown storage " + name);
}

template <class T>
void require_same(const ImportOptions& options, const char* what, const std::optional<T>& wanted,
                  const T& stored) {
  if (!wanted || *wanted == stored) return;
  std::ostringstream message;
  message << options.store << ": has " << what << " " << stored << ", not " << *wanted
          << "; leave the option out to append";
  throw bad_input(message.str());
}

void require_matching(const ImportOptions& options, const CollectionOptions& stored) {
  require_same(options, "dimensions", options.dimensions, stored.dimensions);
  require_same(options, "metric", options.metric, std::string(metric_name(stored.metric)));
  require_same(options, "m", options.m, stored.m);
  require_same(options, "ef-construction", options.ef_construction, stored.ef_construction);
  require_same(options, "storage", options.storage, std::string(row_type_name(stored.row_type)));
}

std::unique_ptr<Reader> open_file(const ImportOptions& options, uint32_t dimensions) {
  return open_reader({.path = options.file,
                      .format = choose_format(options.format, options.file),
                      .dimensions = dimensions,
                      .dataset = options.dataset});
}

CollectionOptions new_collection(const ImportOptions& options, uint32_t dimensions) {
  if (!options.metric) {
    throw bad_input("a new collection needs --metric cosine, l2 or dot");
  }
  CollectionOptions created;
  created.dimensions = dimensions;
  created.metric = parse_metric(*options.metric);
  if (options.storage) created.row_type = parse_row_type(*options.storage);
  if (options.m) created.m = *options.m;
  created.ef_construction =
      options.ef_construction.value_or(std::max(created.ef_construction, created.m));
  take(validate(created), options.store);
  return created;
}

// The first free number after the rows that are there.
int64_t next_row_number(const Collection& collection) {
  int64_t next = static_cast<int64_t>(collection.count());
  const uint64_t rows = collection.stats().rows;
  for (uint32_t slot = collection.next_live(0); slot < rows;
       slot = collection.next_live(slot + 1)) {
    const IdView id = collection.id_at(slot);
    if (id.is_text() || id.number() < next) continue;
    if (id.number() == std::numeric_limits<int64_t>::max()) {
      throw bad_input("no row number is left after the id " + describe_id(id));
    }
    next = id.number() + 1;
  }
  return next;
}

void load(Reader& reader, Collection& collection, const ImportOptions& options, Progress& progress,
          ImportResult& result) {
  const Clock::time_point start = Clock::now();
  const uint64_t count_before = collection.count();
  int64_t row_number = next_row_number(collection);
  const size_t limit = batch_rows(reader.dimensions());
  Rows rows;
  std::vector<IdView> ids;
  std::vector<std::string_view> metadata;
  progress.begin("reading");
  while (reader.next(rows, limit)) {
    ids.clear();
    for (size_t i = 0; i < rows.count; ++i) {
      ids.push_back(rows.ids.empty() ? IdView(row_number++) : IdView(rows.ids[i]));
    }
    metadata.assign(rows.metadata.begin(), rows.metadata.end());
    take(collection.upsert({.vectors = rows.vectors, .ids = ids, .metadata = metadata}),
         options.file + ": rows from " + std::to_string(result.imported) + " on");
    result.imported += rows.count;
    progress.update(reader.share_read(), result.imported);
    stop_if_interrupted();
  }
  if (result.imported == 0) throw bad_input(options.file + ": holds no rows");
  progress.finish(result.imported);
  result.replaced = result.imported - (collection.count() - count_before);
  result.load_seconds = seconds_since(start);
}

void link(Collection& collection, const ImportOptions& options, Progress& progress,
          ImportResult& result) {
  constexpr uint64_t kBudgetMicroseconds = 200'000;  // between two looks at Ctrl-C
  const Clock::time_point start = Clock::now();
  progress.begin("linking");
  LinkProgress linked;
  do {
    linked = take(collection.link(kBudgetMicroseconds), options.store);
    if (!linked.finished()) {
      progress.update(static_cast<double>(linked.done) / static_cast<double>(linked.total));
    }
    stop_if_interrupted();
  } while (!linked.finished());
  progress.finish();
  result.build_seconds = seconds_since(start);
}

void write(Database& database, const ImportOptions& options, Progress& progress,
           ImportResult& result) {
  const Clock::time_point start = Clock::now();
  progress.begin("writing");
  take(database.flush(), options.store);
  progress.finish();
  result.write_seconds = seconds_since(start);
}

void print(const ImportOptions& options, const ImportResult& result, const Collection& collection,
           const DatabaseInfo& info) {
  if (options.json) {
    const nlohmann::ordered_json object = {
        {"records", collection.count()},         {"imported", result.imported},
        {"replaced", result.replaced},           {"load_seconds", result.load_seconds},
        {"build_seconds", result.build_seconds}, {"write_seconds", result.write_seconds},
        {"peak_rss_bytes", peak_rss_bytes()},    {"bytes", info.bytes}};
    std::cout << object.dump() << "\n";
    return;
  }
  std::cout << "imported " << with_commas(result.imported) << " rows";
  if (result.replaced > 0) std::cout << " (" << with_commas(result.replaced) << " replaced)";
  std::cout << "; " << options.store << " holds " << with_commas(collection.count()) << " records, "
            << byte_count(info.bytes) << "\n";
}

void run_import(const ImportOptions& options) {
  watch_interrupts();
  // Before a store is made: everything that can be wrong with the file and the options.
  std::unique_ptr<Reader> reader;
  CollectionOptions wanted;
  if (options.fields) (void)parse_fields(*options.fields);
  if (!store_exists(options.store)) {
    reader = open_file(options, options.dimensions.value_or(0));
    wanted = new_collection(options, reader->dimensions());
  }

  Store store(options.store, Mode::kCreate, options.threads, options.durability);
  Collection* collection = nullptr;
  const std::vector<std::string> names = store.database().names();
  const std::string name = options.collection.empty() ? kDefaultCollection : options.collection;
  const bool is_new = options.collection.empty()
                          ? names.empty()
                          : std::find(names.begin(), names.end(), name) == names.end();
  if (is_new) {
    if (!reader) {
      reader = open_file(options, options.dimensions.value_or(0));
      wanted = new_collection(options, reader->dimensions());
    }
    collection = take(store.database().collection(name, wanted), options.store);
    if (options.fields) take(collection->set_fields(parse_fields(*options.fields)), "--fields");
  } else {
    collection = &store.collection(options.collection);
    require_matching(options, collection->options());
    if (options.fields) {
      require_same(options, "fields", std::optional(fields_to_json(parse_fields(*options.fields))),
                   fields_to_json(collection->fields()));
    }
    reader = open_file(options, collection->options().dimensions);
  }

  ImportResult result;
  Progress progress;
  load(*reader, *collection, options, progress, result);
  if (collection->wants_link()) link(*collection, options, progress, result);
  write(store.database(), options, progress, result);
  store.keep();
  print(options, result, *collection, store.database().info());
}

}  // namespace

void add_import(CLI::App& program) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App& command = *program.add_subcommand("import", "Put the vectors of a file into a store");
  command.add_option("STORE", options->store, "Folder of the store; made when it is missing")
      ->required();
  command.add_option("--from", options->file, "File with the vectors")
      ->type_name("FILE")
      ->required();
  command.add_option("--format", options->format, "Format; else the file's extension tells")
      ->type_name("f32|fvecs|bvecs|npy|hdf5|jsonl|csv")
      ->check(one_of({"f32", "fvecs", "bvecs", "npy", "hdf5", "jsonl", "csv"}));
  command
      .add_option("--dimensions", options->dimensions,
                  "Values a vector; needed for a new store and an f32 file")
      ->type_name("D")
      ->check(whole_number(1, kMaxDimensions));
  command.add_option("--metric", options->metric, "Distance; needed for a new store")
      ->type_name("cosine|l2|dot")
      ->check(one_of({"cosine", "l2", "dot"}));
  command.add_option("--m", options->m, "Links a row, 16 for a new store (twice that are kept)")
      ->type_name("M")
      ->check(whole_number(2, kMaxM));
  command
      .add_option("--ef-construction", options->ef_construction,
                  "Candidates considered while linking, 200 for a new store")
      ->type_name("EF")
      ->check(whole_number(2, kMaxEfConstruction));
  command
      .add_option("--storage", options->storage,
                  "How rows are kept, f32 for a new store; f16 rounds them, in half the bytes")
      ->type_name("f32|f16")
      ->check(one_of({"f32", "f16"}));
  command
      .add_option("--fields", options->fields,
                  "What a new collection's records can be filtered and searched by")
      ->type_name("JSON");
  command.add_option("--dataset", options->dataset, "Dataset within an HDF5 file")
      ->type_name("NAME")
      ->capture_default_str();
  add_threads(command, options->threads);
  add_collection(command, options->collection);
  add_durability(command, options->durability);
  command.add_flag("--json", options->json, "Print one JSON object");
  command.footer(
      "Without ids in the file, rows are numbered, from 0 or after the records that are there. A\n"
      "record whose id exists is replaced. Ctrl-C leaves the store as it was. Fields are read "
      "from\n"
      "the metadata: --fields '{\"title\": \"text\", \"price\": \"number\"}'; see `nearfield "
      "fields "
      "--help`.\n\n"
      "  f32     row-major little-endian floats      npy   two dimensions of <f4, <f8 or |u1\n"
      "  fvecs, bvecs  dimensions (int32), values    hdf5  --dataset, two dimensions\n"
      "  jsonl   {\"id\": 7, \"vector\": [...], \"metadata\": {...}}; other fields are metadata "
      "too\n"
      "  csv     columns id, v0, v1, ... (or vector: a JSON array); the others are metadata;\n"
      "          without a header all columns are the vector (one more: the first is the id)");
  command.callback([options] { run_import(*options); });
}

}  // namespace nearfield::cli
