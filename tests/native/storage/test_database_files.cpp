// Databases whose files change or break under them.
#include <catch2/catch_test_macros.hpp>
#include <functional>

#include "nearfield/database.h"
#include "store/store.h"
#include "support/borrowed_storage.h"

namespace nearfield {
namespace {

// Forwards to a storage that the test keeps; `before_read` is called before data are read.
class Watched final : public test::BorrowedStorage {
 public:
  explicit Watched(
      Storage& storage, std::function<void()> before_read = [] {})
      : BorrowedStorage(storage), before_read_(std::move(before_read)) {}
  Result<Buffer> read(std::string_view name, uint64_t offset, uint64_t length) override {
    if (name.starts_with("data-")) before_read_();
    return BorrowedStorage::read(name, offset, length);
  }
  Result<Buffer> read_stored(std::string_view name, uint64_t offset, uint64_t length) override {
    return read(name, offset, length);
  }

 private:
  std::function<void()> before_read_;
};

std::unique_ptr<Database> open(std::unique_ptr<Storage> storage, bool read_only = false) {
  auto database = Database::open(std::move(storage), {.read_only = read_only});
  if (!database.ok()) FAIL(database.error().detail);
  return std::move(database).value();
}

// Replaces whatever is there by `rows` linked rows.
void write(Storage& storage, uint32_t rows) {
  auto database = open(std::make_unique<Watched>(storage));
  if (database->find("docs").ok()) REQUIRE(database->drop("docs").ok());
  auto docs = database->collection("docs", {.dimensions = 2});
  REQUIRE(docs.ok());
  std::vector<float> vectors;
  std::vector<IdView> ids;
  for (uint32_t i = 0; i < rows; ++i) {
    vectors.insert(vectors.end(), {1.0F, static_cast<float>(i)});
    ids.emplace_back(int64_t{i});
  }
  REQUIRE((*docs)->upsert({vectors, ids}).ok());
  for (bool finished = false; !finished;) {
    auto linked = (*docs)->link(0);
    REQUIRE(linked.ok());
    finished = linked->finished();
  }
  REQUIRE(database->flush().ok());
}

TEST_CASE("a reader that opens while a writer replaces all files finds the new state") {
  MemoryStorage storage;
  write(storage, 1500);
  const auto before = storage.files();
  for (int moment = 1;; ++moment) {
    CAPTURE(moment);
    storage.files() = before;
    int reads = 0;
    const auto database = open(std::make_unique<Watched>(storage,
                                                         [&] {
                                                           if (++reads == moment)
                                                             write(storage, 1200);
                                                         }),
                               true);
    CHECK(database->info().warnings.empty());
    REQUIRE(database->find("docs").ok());
    const auto stats = (*database->find("docs"))->stats();
    if (reads < moment) {
      CHECK(moment > 4);  // rows, ids, codes, links, seeds
      CHECK((*database->find("docs"))->count() == 1500);
      break;
    }
    CHECK((*database->find("docs"))->count() == 1200);
    CHECK(stats.linked == 1200);
  }
}

TEST_CASE("falling back to an older generation is told") {
  MemoryStorage storage;
  write(storage, 10);
  CHECK(open(std::make_unique<Watched>(storage))->info().warnings.empty());
  storage.files()["manifest-00000000000000000077.nf"] = {};
  const auto database = open(std::make_unique<Watched>(storage));
  REQUIRE(database->info().warnings.size() == 1);
  CHECK(database->info().warnings[0].find("manifest-00000000000000000077.nf") != std::string::npos);
  CHECK((*database->find("docs"))->count() == 10);
}

TEST_CASE("a store whose collection numbers are used up takes no new collection") {
  MemoryStorage storage;
  {
    auto store = Store::open(storage, true);
    Store::Commit commit = (*store)->begin();
    commit.manifest().next_collection = UINT32_MAX - 1;
    REQUIRE(commit.finish().ok());
  }
  const auto database = open(std::make_unique<Watched>(storage));
  REQUIRE(database->collection("last", {.dimensions = 2}).ok());
  const auto refused = database->collection("one more", {.dimensions = 2});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kInvalidArgument);
  CHECK(refused.error().detail.find("used up") != std::string::npos);
  CHECK(database->flush().ok());
  CHECK(open(std::make_unique<Watched>(storage))->find("last").ok());
}

}  // namespace
}  // namespace nearfield
