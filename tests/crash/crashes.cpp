#include "crash/crashes.h"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <vector>

#include "base/checksum.h"
#include "crash/disk.h"
#include "crash/recording_storage.h"
#include "crash/workload.h"
#include "store/layout.h"
#include "support/faulty_storage.h"

namespace nearfield::test {

namespace {

using Files = MemoryStorage::Files;
using ModelPointer = std::shared_ptr<const Model>;

constexpr int kTornWrites = 2;   // of each append
constexpr int kReorderings = 4;  // at each operation

std::unique_ptr<Database> open(Storage& storage, std::string& problem) {
  auto database = Database::open(std::make_unique<BorrowedStorage>(storage), {});
  if (database.ok()) return std::move(database).value();
  problem = "does not open: " + database.error().detail;
  return nullptr;
}

struct Attempt {  // to flush
  size_t begin;   // operations before it
  size_t end;
  bool acknowledged;
  ModelPointer model;
};

struct Recording {
  std::vector<Operation> operations;
  std::vector<Attempt> attempts;
  std::string problem;  // what went wrong without any crash
};

// Runs the workload of a seed. Where the shape has faults, some flushes meet calls that fail.
Recording record(uint64_t seed, const Shape& shape) {
  Recording recording;
  MemoryStorage memory(shape.preferred_file_bytes);
  RecordingStorage recorder(memory, shape.maps);
  FaultyStorage storage(recorder);
  RandomStream random(seed ^ 0xfau);
  Workload workload(seed);
  Model model;
  auto database = open(storage, recording.problem);
  for (uint32_t i = 0; i < shape.actions && recording.problem.empty(); ++i) {
    const Action action = workload.next(shape);
    const bool flush = action.kind == Action::Kind::kFlush;
    // The first for sure, since only that one begins with an empty storage.
    const bool faulty = flush && shape.faults && (recording.attempts.empty() || random.one_in(3));
    if (faulty) storage.fail(1 + random.below(14), random.one_in(2) ? 1 : 1 + random.below(30));
    const size_t begin = recorder.operations().size();
    const auto done = perform(action, *database);
    storage.heal();
    if (!done.ok() && !faulty) recording.problem = describe(action) + ": " + done.error().detail;
    perform(action, model);
    if (!flush) continue;
    if (!done.ok()) recorder.record({Operation::Kind::kGiveUp});
    recording.attempts.push_back(
        {begin, recorder.operations().size(), done.ok(), std::make_shared<Model>(model)});
    if (done.ok() && random.one_in(6)) database = open(storage, recording.problem);
    if (recording.problem.empty()) recording.problem = difference(*database, model);
  }
  recording.operations = recorder.operations();
  return recording;
}

uint64_t fingerprint(const Files& files, const std::vector<ModelPointer>& allowed) {
  std::vector<uint64_t> parts;
  const auto add = [&](const void* data, size_t size) {
    const std::span bytes(static_cast<const std::byte*>(data), size);
    parts.push_back(checksum64(bytes));
  };
  for (const auto& [name, bytes] : files) {
    add(name.data(), name.size());
    add(bytes.data(), bytes.size());
  }
  for (const ModelPointer& model : allowed)
    parts.push_back(reinterpret_cast<uintptr_t>(model.get()));
  add(parts.data(), parts.size() * sizeof(uint64_t));
  return parts.back();
}

class Checker {
 public:
  Checker(uint64_t seed, const Shape& shape, States& states)
      : seed_(seed), shape_(shape), states_(states) {}

  // One state, unless the same was checked before.
  void check(Tried what, Files image, const std::vector<ModelPointer>& allowed) {
    if (!seen_.insert(fingerprint(image, allowed)).second) return;
    states_.add(what);
    MemoryStorage memory(shape_.preferred_file_bytes);
    memory.files() = image;
    RecordingStorage storage(memory, shape_.maps);
    std::string problem;
    const ModelPointer found = recovered(storage, allowed, problem);
    if (problem.empty()) go_on(std::move(image), memory, storage, found, problem);
    if (!problem.empty()) states_.violation(problem);
  }

 private:
  // The model that the storage holds when it is opened.
  ModelPointer recovered(Storage& storage, const std::vector<ModelPointer>& allowed,
                         std::string& problem) {
    const auto database = open(storage, problem);
    if (!database) return nullptr;
    if (const auto report = database->verify(); !report.ok()) {
      problem = "does not verify: " + report.error().detail;
    } else if (!report->problems.empty()) {
      problem = "verify finds: " + report->problems.front();
    }
    check_warnings(*database, storage, problem);
    std::string differences;
    for (const ModelPointer& model : allowed) {
      const std::string text = difference(*database, *model);
      if (text.empty()) return model;
      differences += (differences.empty() ? "" : "; or ") + text;
    }
    problem = "holds none of the " + std::to_string(allowed.size()) +
              " states that it may: " + differences;
    return nullptr;
  }

  // There is a warning when a newer manifest was passed over, and only then.
  static void check_warnings(Database& database, Storage& storage, std::string& problem) {
    uint64_t newest = 0;
    const auto names = storage.list();
    for (const std::string& name : *names)
      newest = std::max(newest, layout::parse_manifest_name(name).value_or(0));
    const DatabaseInfo info = database.info();
    const size_t expected = newest > info.generation ? 1 : 0;
    if (info.warnings.size() != expected) {
      problem = std::to_string(info.warnings.size()) + " warnings, expected " +
                std::to_string(expected) + (info.warnings.empty() ? "" : ": " + info.warnings[0]);
    }
  }

  // A further change of what was recovered, and another crash on the way.
  void go_on(Files image, MemoryStorage& memory, RecordingStorage& storage,
             const ModelPointer& before, std::string& problem) {
    RandomStream random(mix64(seed_) + states_.number());
    Workload workload(seed_, random);
    const Action action = workload.upsert(1 + random.below(3));
    Model changed = *before;
    perform(action, changed);
    const auto after = std::make_shared<const Model>(std::move(changed));
    {
      const auto database = open(storage, problem);
      if (!database) return;
      auto done = perform(action, *database);
      if (done.ok()) done = database->flush();
      if (!done.ok()) problem = "cannot go on: " + done.error().detail;
    }
    check_leftovers(memory, problem);
    if (problem.empty()) recovered(storage, {after}, problem);
    if (!problem.empty()) {
      problem = "after a further flush: " + problem;
      return;
    }
    crash_again(std::move(image), storage.operations(), before, after, random, problem);
  }

  void crash_again(Files image, const std::vector<Operation>& operations,
                   const ModelPointer& before, const ModelPointer& after, RandomStream& random,
                   std::string& problem) {
    Disk disk(image);
    const size_t reached = 1 + random.below(operations.size());
    for (size_t i = 0; i < reached; ++i) disk.apply(operations[i]);
    MemoryStorage memory(shape_.preferred_file_bytes);
    memory.files() = disk.reordered(random);
    RecordingStorage storage(memory, shape_.maps);
    states_.add(Tried::kCrashAgain);
    recovered(storage, {before, after}, problem);
    if (!problem.empty()) {
      problem = "after another crash at operation " + std::to_string(reached) + " of " +
                std::to_string(operations.size()) + ", " + describe(operations[reached - 1]) +
                ": " + problem;
    }
  }

  // A commit that succeeds leaves nothing behind but what it needs.
  static void check_leftovers(MemoryStorage& memory, std::string& problem) {
    const auto manifests = std::count_if(
        memory.files().begin(), memory.files().end(),
        [](const auto& file) { return layout::parse_manifest_name(file.first).has_value(); });
    if (manifests != 1 && problem.empty())
      problem = std::to_string(manifests) + " manifests are left, expected 1";
  }

  uint64_t seed_;
  const Shape& shape_;
  States& states_;
  std::unordered_set<uint64_t> seen_;
};

// What a crash may leave after `reached` operations: the last acknowledged flush, or one begun
// since.
std::vector<ModelPointer> allowed_at(const Recording& recording, size_t reached) {
  static const auto nothing = std::make_shared<const Model>();
  std::vector<ModelPointer> allowed = {nothing};
  for (const Attempt& attempt : recording.attempts) {
    if (attempt.begin >= reached) break;
    if (attempt.acknowledged && attempt.end <= reached) allowed.clear();
    allowed.push_back(attempt.model);
  }
  return allowed;
}

}  // namespace

void check_crashes(uint64_t seed, States& states) {
  const Shape shape = shape_of(seed);
  const Recording recording = record(seed, shape);
  if (!recording.problem.empty()) return states.violation("without a crash: " + recording.problem);
  Checker checker(seed, shape, states);
  Disk disk;
  for (size_t i = 0; i < recording.operations.size() && !states.enough(); ++i) {
    const Operation& operation = recording.operations[i];
    disk.apply(operation);
    const auto allowed = allowed_at(recording, i + 1);
    const auto try_state = [&](Tried what, auto&& make_image) {
      if (!states.next()) return;
      RandomStream random(mix64(seed) ^ states.number());
      checker.check(what, make_image(random), allowed);
    };
    try_state(Tried::kPrefix, [&](RandomStream&) { return disk.in_order(); });
    if (operation.kind == Operation::Kind::kAppend) {
      for (int n = 0; n < kTornWrites; ++n)
        try_state(Tried::kTorn, [&](RandomStream& random) { return disk.torn(random); });
    }
    if (!disk.has_pending()) continue;
    for (int n = 0; n < kReorderings; ++n)
      try_state(Tried::kReordering, [&](RandomStream& random) { return disk.reordered(random); });
  }
}

}  // namespace nearfield::test
