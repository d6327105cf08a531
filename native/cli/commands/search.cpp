// nearfield search: the nearest records of every query in a file.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "failure.h"
#include "files.h"
#include "ids.h"
#include "options.h"
#include "progress.h"
#include "readers/reader.h"
#include "store.h"

namespace nearfield::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kShownQueries = 5;
constexpr uint64_t kMostIds = uint64_t{1} << 31;  // that --ids writes

struct SearchCommand {
  std::string store;
  std::string queries;
  std::string format;
  std::string dataset = "test";
  std::string collection;
  std::string ids_file;
  SearchOptions search;
  unsigned threads = 1;
  bool json = false;
  std::optional<std::string> where, text;
  uint32_t offset = 0;
};

struct Answers {
  std::vector<std::vector<RankedHit>> hits;  // one list a query
  std::optional<uint64_t> matches;           // of --where
  std::string plan;                          // of the last query
  std::vector<double> microseconds;          // one a query
  uint64_t distance_computations = 0;
  double seconds = 0;

  size_t rows_min() const {
    size_t least = hits.front().size();
    for (const auto& list : hits) least = std::min(least, list.size());
    return least;
  }
};

std::vector<float> read_queries(const SearchCommand& command, uint32_t dimensions) {
  if (command.queries.empty()) return {};
  const auto reader = open_reader({.path = command.queries,
                                   .format = choose_format(command.format, command.queries),
                                   .dimensions = dimensions,
                                   .dataset = command.dataset});
  std::vector<float> queries;
  Rows rows;
  while (reader->next(rows, batch_rows(dimensions))) {
    queries.insert(queries.end(), rows.vectors.begin(), rows.vectors.end());
  }
  if (queries.empty()) throw bad_input(command.queries + ": holds no rows");
  return queries;
}

// Nearest to a vector, best by a text, both, or, with neither, in the order stored.
Result<std::vector<RankedHit>> answer(const Collection& collection, RankOptions options,
                                      std::span<const float> vector, SearchScratch& scratch,
                                      SearchStats& stats) {
  options.vector = vector;
  if (!vector.empty() || options.text) {
    NEARFIELD_ASSIGN(Ranking ranking, collection.rank(options, scratch, &stats));
    return std::move(ranking.hits);
  }
  NEARFIELD_ASSIGN(const auto slots, collection.order(*options.search.among, "", false,
                                                      options.offset, options.search.k));
  std::vector<RankedHit> hits;
  for (const uint32_t slot : slots) hits.push_back({slot, 0, std::nanf("")});
  return hits;
}

Answers search_all(const Collection& collection, ThreadPool& pool,
                   const std::vector<float>& queries, const SearchCommand& command) {
  const size_t dimensions = collection.options().dimensions;
  const size_t count = std::max<size_t>(1, queries.size() / dimensions);
  Answers answers;
  Selection selected;
  RankOptions options{.search = command.search, .offset = command.offset};
  if (command.text) options.text = TextOptions{.query = *command.text};
  if (command.where) {
    selected = take(collection.select(*command.where), "--where");
    options.search.among = &selected;
    answers.matches = selected.count;
  }
  answers.hits.resize(count);
  answers.microseconds.resize(count);
  std::vector<SearchScratch> scratch(pool.workers());
  std::mutex mutex;  // of what the threads share
  std::optional<Error> first_error;

  const Clock::time_point start = Clock::now();
  pool.parallel_for(count, 1, [&](size_t begin, size_t end, unsigned worker) {
    SearchStats total;
    for (size_t i = begin; i < end; ++i) {
      const Clock::time_point query_start = Clock::now();
      SearchStats stats;
      auto found =
          answer(collection, options,
                 std::span(queries).subspan(i * dimensions, queries.empty() ? 0 : dimensions),
                 scratch[worker], stats);
      answers.microseconds[i] =
          std::chrono::duration<double, std::micro>(Clock::now() - query_start).count();
      total.distance_computations += stats.distance_computations;
      total.plan = stats.plan;
      if (!found.ok()) {
        const std::lock_guard lock(mutex);
        first_error = found.error();
        return;
      }
      answers.hits[i] = std::move(*found);
    }
    const std::lock_guard lock(mutex);
    answers.distance_computations += total.distance_computations;
    answers.plan = plan_name(total.plan);
  });
  answers.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (first_error) throw Failure(*first_error, command.store);
  return answers;
}

double percentile(std::vector<double> values, double share) {
  const size_t rank = static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank),
                   values.end());
  return values[rank];
}

void require_sane_output(const SearchCommand& command, uint64_t queries) {
  if (command.ids_file.empty()) return;
  if (lies_inside(command.ids_file, command.store)) {
    throw bad_input(command.ids_file + " lies inside the store; choose another place");
  }
  if (queries > kMostIds / command.search.k) {
    throw bad_input("--ids would write " + std::to_string(queries) + " queries times --k " +
                    std::to_string(command.search.k) + " ids, at most " + std::to_string(kMostIds) +
                    " are possible");
  }
}

// True when the ids went to standard output.
bool write_ids(const std::string& path, const Collection& collection, const Answers& answers,
               size_t k) {
  std::vector<int32_t> ids;  // without the places that stay empty
  for (const auto& hits : answers.hits) {
    for (const RankedHit& hit : hits) ids.push_back(id_to_int32(collection.id_at(hit.slot)));
  }
  OutputFile file(path, /*replace=*/true);
  const std::vector<int32_t> none(std::min<size_t>(k, 4096), -1);
  const int32_t* row = ids.data();
  for (const auto& hits : answers.hits) {
    file.write(row, hits.size() * sizeof(int32_t));
    row += hits.size();
    for (size_t left = k - hits.size(); left > 0;) {
      const size_t count = std::min(left, none.size());
      file.write(none.data(), count * sizeof(int32_t));
      left -= count;
    }
  }
  file.close();
  return file.is_standard_output();
}

void print_json(const SearchCommand& command, const Answers& answers, double open_ms) {
  const double count = static_cast<double>(answers.hits.size());
  nlohmann::ordered_json object = {{"queries", answers.hits.size()}, {"k", command.search.k}};
  // What decided how far the search looked; the others are null.
  object["ef"] = nullptr;
  object["recall"] = nullptr;
  if (command.search.ef) {
    object["ef"] = *command.search.ef;
  } else if (!command.search.exact) {
    object["recall"] = command.search.recall;
  }
  object["exact"] = command.search.exact;
  object["threads"] = command.threads;
  object["seconds"] = answers.seconds;
  object["qps"] = count / answers.seconds;
  object["p50_us"] = percentile(answers.microseconds, 0.50);
  object["p99_us"] = percentile(answers.microseconds, 0.99);
  object["rows_min"] = answers.rows_min();
  object["open_ms"] = open_ms;
  object["distance_computations"] = answers.distance_computations;
  if (answers.matches) {
    object["matches"] = *answers.matches;
    object["plan"] = answers.plan;
  }
  std::cout << object.dump() << "\n";
}

void print_table(const Collection& collection, const Answers& answers, bool by_score) {
  const size_t shown = std::min(answers.hits.size(), kShownQueries);
  for (size_t i = 0; i < shown; ++i) {
    std::printf("query %zu\n", i);
    for (size_t j = 0; j < answers.hits[i].size(); ++j) {
      const RankedHit& hit = answers.hits[i][j];
      std::printf("  %4zu  %12.6g  %s\n", j + 1,
                  by_score ? hit.score : static_cast<double>(hit.distance),
                  describe_id(collection.id_at(hit.slot)).c_str());
    }
    if (answers.hits[i].empty()) std::printf("  no records\n");
  }
  if (answers.hits.size() > shown) {
    std::printf("and %s queries more\n", with_commas(answers.hits.size() - shown).c_str());
  }
}

void print_summary(const Answers& answers) {
  const double count = static_cast<double>(answers.hits.size());
  std::printf("%s queries in %s: %s a second, median %.0f us, p99 %.0f us\n",
              with_commas(answers.hits.size()).c_str(), duration(answers.seconds).c_str(),
              with_commas(static_cast<uint64_t>(count / answers.seconds)).c_str(),
              percentile(answers.microseconds, 0.50), percentile(answers.microseconds, 0.99));
}

void run_search(const SearchCommand& command) {
  if (command.queries.empty() && !command.text && !command.where) {
    throw bad_input("--queries, --text or --where is required: what to search for");
  }
  const Clock::time_point start = Clock::now();
  Store store(command.store, Mode::kRead, command.threads);
  const Collection& collection = store.collection(command.collection);
  const double open_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();

  const auto queries = read_queries(command, collection.options().dimensions);
  require_sane_output(command, queries.size() / collection.options().dimensions);
  const Answers answers = search_all(collection, store.pool(), queries, command);
  if (!command.ids_file.empty()) {
    if (write_ids(command.ids_file, collection, answers, command.search.k)) return;
  }
  if (command.json) {
    print_json(command, answers, open_ms);
    return;
  }
  if (command.ids_file.empty()) {
    print_table(collection, answers, command.text || command.queries.empty());
  }
  print_summary(answers);
}

}  // namespace

void add_search(CLI::App& program) {
  auto options = std::make_shared<SearchCommand>();
  CLI::App& command = *program.add_subcommand("search", "Find the nearest records of queries");
  command.add_option("STORE", options->store, "Folder of the store")->required();
  command.add_option("--queries", options->queries, "File with the queries, as for import")
      ->type_name("FILE");
  command.add_option("--format", options->format, "Format; else the file's extension tells")
      ->type_name("f32|fvecs|bvecs|npy|hdf5|jsonl|csv")
      ->check(one_of({"f32", "fvecs", "bvecs", "npy", "hdf5", "jsonl", "csv"}));
  command.add_option("--k", options->search.k, "Records a query")
      ->type_name("K")
      ->check(whole_number(1, kMaxRows))
      ->capture_default_str();
  command
      .add_option("--text", options->text,
                  "Words, \"phrases\" and prefix* to find in text and keyword fields")
      ->type_name("STRING");
  command.add_option("--where", options->where, "Filter: only records that match it")
      ->type_name("JSON");
  command.add_option("--offset", options->offset, "Records to pass over, for pages")
      ->type_name("N")
      ->check(whole_number(0, kMaxRows))
      ->capture_default_str();
  CLI::Option* ef = command
                        .add_option("--ef", options->search.ef,
                                    "Candidates kept while walking: more find more, slower")
                        ->type_name("EF")
                        ->check(whole_number(1, kMaxRows));
  CLI::Option* recall = command
                            .add_option("--recall", options->search.recall,
                                        "Share of the nearest K to find, as a walk can expect")
                            ->type_name("SHARE")
                            ->check(share())
                            ->capture_default_str()
                            ->excludes(ef);
  command.add_flag("--exact", options->search.exact, "Compare with every record")
      ->excludes(ef)
      ->excludes(recall);
  command
      .add_option("--ids", options->ids_file,
                  "Write the ids as row-major int32, -1 where there are fewer than K")
      ->type_name("OUT.i32");
  command.add_option("--dataset", options->dataset, "Dataset within an HDF5 file")
      ->type_name("NAME")
      ->capture_default_str();
  add_threads(command, options->threads);
  add_collection(command, options->collection);
  command.add_flag("--json", options->json, "Print one JSON object with the measurements");
  command.footer(
      "Smaller distances are nearer: 1 - cosine, the squared Euclidean distance, or the\n"
      "negated dot product. With --text, larger scores are better: BM25, or, beside --queries, "
      "both\n"
      "lists fused by reciprocal rank. A filter is JSON:\n"
      "  --where '{\"tag\": {\"$in\": [\"a\", \"b\"]}, \"price\": {\"$lt\": 100}}'\n"
      "with $eq $ne $gt $gte $lt $lte $in $nin $exists $and $or $not, and $id for ids.");
  command.callback([options] { run_search(*options); });
}

}  // namespace nearfield::cli
