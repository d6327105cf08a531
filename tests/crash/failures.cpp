#include "crash/failures.h"

#include <memory>
#include <vector>

#include "crash/failing_memory.h"
#include "crash/recording_storage.h"
#include "crash/workload.h"
#include "support/faulty_storage.h"

namespace nearfield::test {

namespace {

enum class Victim { kCall, kAllocation };

// A workload during which something fails.
class Run {
 public:
  Run(uint64_t seed, const Shape& shape, Victim victim, uint64_t first, uint64_t count)
      : shape_(shape),
        victim_(victim),
        first_(first),
        count_(count),
        memory_(shape.preferred_file_bytes),
        recorder_(memory_, shape.maps),
        storage_(recorder_),
        workload_(seed),
        random_(seed + 1) {}

  // What went wrong, or an empty text.
  std::string run() {
    open();
    for (uint32_t i = 0; i < shape_.actions && problem_.empty(); ++i) {
      const Action action = workload_.next(shape_);
      if (action.kind == Action::Kind::kUpsert) {
        // Apart from the rows: that the collection is there stays when they are refused.
        act({.kind = Action::Kind::kMake,
             .collection = action.collection,
             .options = action.options});
      }
      act(action);
      if (!problem_.empty()) problem_ = describe(action) + ": " + problem_;
      if (problem_.empty() && action.kind == Action::Kind::kFlush && random_.one_in(3)) open();
    }
    if (problem_.empty()) act({.kind = Action::Kind::kFlush});
    if (problem_.empty()) open();
    return problem_;
  }

  uint64_t met() const { return met_; }  // calls or allocations so far

 private:
  // Lets `call` meet the failure if its turn has come; what follows it is undisturbed.
  template <class Call>
  auto disturbed(Call&& call) {
    const uint64_t turn = met_ < first_ ? first_ - met_ : 1;
    const uint64_t left = met_ < first_ ? count_ : count_ - std::min(count_, met_ + 1 - first_);
    if (victim_ == Victim::kCall) {
      storage_.fail(turn, left, ErrorCode::kQuota);
    } else {
      fail_allocations(turn, left);
    }
    auto result = call();
    const uint64_t met = victim_ == Victim::kCall ? storage_.calls() : allocations();
    failed_ = left > 0 && met >= turn;
    met_ += met;
    storage_.heal();
    fail_allocations(0, 0);
    return result;
  }

  void check_error(const Error& error) {
    const ErrorCode expected =
        victim_ == Victim::kCall ? ErrorCode::kQuota : ErrorCode::kOutOfMemory;
    if (!failed_ || error.code != expected) {
      problem_ = "an error that nothing caused: " + std::string(error_code_name(error.code)) +
                 ", " + error.detail;
    }
  }

  void open() {
    database_.reset();
    const auto attempt = [&] {
      return Database::open(std::make_unique<BorrowedStorage>(storage_), {});
    };
    auto opened = disturbed(attempt);
    if (!opened.ok()) {
      check_error(opened.error());
      opened = attempt();
    }
    if (!opened.ok()) {
      problem_ = "cannot be opened again: " + opened.error().detail;
      return;
    }
    database_ = std::move(opened).value();
    model_ = flushed_;
    compare("opened");
    if (problem_.empty() && !database_->info().warnings.empty())
      problem_ = "opened with a warning: " + database_->info().warnings.front();
  }

  void act(const Action& action) {
    const auto done = disturbed([&] { return perform(action, *database_); });
    if (!done.ok()) {
      check_error(done.error());
      compare("after the failure");
      check_storage(action);
      if (!problem_.empty()) return;
      if (auto again = perform(action, *database_); !again.ok()) {
        problem_ = "fails again without cause: " + again.error().detail;
        return;
      }
    }
    perform(action, model_);
    if (action.kind == Action::Kind::kFlush) flushed_ = model_;
    compare("afterwards");
  }

  void compare(const char* when) {
    if (!problem_.empty()) return;
    problem_ = difference(*database_, model_);
    if (!problem_.empty()) problem_ = std::string(when) + ", " + problem_;
  }

  // The storage holds what was flushed; or what a flush wrote whose last call, or the way back from
  // it, failed.
  void check_storage(const Action& action) {
    if (!problem_.empty()) return;
    auto opened = Database::open(std::make_unique<BorrowedStorage>(recorder_), {});
    if (!opened.ok()) {
      problem_ = "after the failure the storage does not open: " + opened.error().detail;
      return;
    }
    problem_ = difference(**opened, flushed_);
    const bool may_be_new = action.kind == Action::Kind::kFlush && count_ > 1;
    if (!problem_.empty() && may_be_new && difference(**opened, model_).empty()) problem_.clear();
    if (!problem_.empty()) problem_ = "after the failure, in storage, " + problem_;
  }

  const Shape& shape_;
  const Victim victim_;
  const uint64_t first_;
  const uint64_t count_;
  uint64_t met_ = 0;
  bool failed_ = false;  // something did during the last call
  MemoryStorage memory_;
  RecordingStorage recorder_;
  FaultyStorage storage_;
  Workload workload_;
  RandomStream random_;
  std::unique_ptr<Database> database_;
  Model model_;
  Model flushed_;
  std::string problem_;
};

}  // namespace

void check_failures(uint64_t seed, States& states) {
  Shape shape = shape_of(seed);
  shape.actions = shape.linked_rows > 0 ? 8 : 20;
  for (const Victim victim : {Victim::kCall, Victim::kAllocation}) {
    Run whole(seed, shape, victim, 1, 0);
    if (const std::string problem = whole.run(); !problem.empty())
      return states.violation("without a failure: " + problem);
    for (uint64_t n = 1; n <= whole.met(); ++n) {
      for (const uint64_t count : {uint64_t{1}, UINT64_MAX}) {
        if (states.enough()) return;
        if (!states.next()) continue;
        states.add(victim == Victim::kCall ? Tried::kCall : Tried::kAllocation);
        const std::string problem = Run(seed, shape, victim, n, count).run();
        if (problem.empty()) continue;
        states.violation((victim == Victim::kCall ? "call " : "allocation ") + std::to_string(n) +
                         (count == 1 ? " fails: " : " and all after it fail: ") + problem);
      }
    }
  }
}

}  // namespace nearfield::test
