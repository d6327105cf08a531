#include "store/store.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/small_sort.h"
#include "store/layout.h"
#include "store/manifest.h"
#include "store/segment.h"

namespace nearfield {

namespace {

bool is_damage(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kForeignFile;
}

Result<void> check_files(Storage& storage, const Manifest& manifest, std::string_view file) {
  for (const auto& [number, length] : manifest.files) {
    const std::string name = layout::data_name(number);
    const auto size = storage.size(name);
    if (!size.ok() && size.error().code != ErrorCode::kNotFound) return size.error();
    if (!size.ok()) {
      return Error{ErrorCode::kCorrupt,
                   name + " is missing; " + std::string(file) + " refers to it"};
    }
    if (*size < length) {
      return Error{ErrorCode::kCorrupt, name + " is cut: it has " + std::to_string(*size) +
                                            " bytes; " + std::string(file) + " expects " +
                                            std::to_string(length)};
    }
  }
  return {};
}

Result<Manifest> read_manifest(Storage& storage, uint64_t generation) {
  const std::string name = layout::manifest_name(generation);
  NEARFIELD_ASSIGN(const uint64_t size, storage.size(name));
  NEARFIELD_ASSIGN(const Buffer bytes, storage.read(name, 0, size));
  return decode_manifest_file(bytes.bytes(), generation, name);
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(Storage& storage, bool create) {
  NEARFIELD_ASSIGN(auto names, storage.list());
  // A reader takes no lock: another program's commit may remove files between the listing and the
  // reading. What looks broken is only believed when the listing is still the same afterwards.
  for (int attempt = 0;; ++attempt) {
    auto store = open_listed(storage, create, names);
    if ((store.ok() && (*store)->recovery_.empty()) || attempt == 3) return store;
    NEARFIELD_ASSIGN(auto names_now, storage.list());
    small_sort(names.begin(), names.end());
    small_sort(names_now.begin(), names_now.end());
    if (names == names_now) return store;
    names = std::move(names_now);
  }
}

Result<std::unique_ptr<Store>> Store::open_listed(Storage& storage, bool create,
                                                  const std::vector<std::string>& names) {
  std::vector<uint64_t> generations;
  std::unique_ptr<Store> store(new Store(storage));
  const std::string* data = nullptr;     // some data file
  const std::string* foreign = nullptr;  // some file that is not ours
  size_t own = 0;
  for (const std::string& name : names) {
    if (const auto generation = layout::parse_manifest_name(name)) {
      generations.push_back(*generation);
      ++own;
    } else if (const auto number = layout::parse_data_name(name)) {
      store->listed_files_.insert(*number);
      data = &name;
      ++own;
    } else {
      foreign = &name;
    }
  }
  small_sort(generations.begin(), generations.end(), std::greater());
  store->listed_generations_.insert(generations.begin(), generations.end());

  std::optional<Error> newest_error;
  for (const uint64_t generation : generations) {
    auto manifest = read_manifest(storage, generation);
    if (manifest.ok()) {
      store->next_generation_ = std::max(store->next_generation_, generation + 1);
      store->next_file_ = std::max(store->next_file_, manifest->next_file);
      auto checked = check_files(storage, *manifest, layout::manifest_name(generation));
      if (!checked.ok()) manifest = std::move(checked).error();
    }
    if (!manifest.ok()) {
      if (!is_damage(manifest.error())) return std::move(manifest).error();
      if (!newest_error) newest_error = std::move(manifest).error();
      continue;
    }
    store->manifest_ = std::move(manifest).value();
    store->written_ = true;
    store->leftovers_ = own > store->manifest_.files.size() + 1;
    if (newest_error) {
      store->recovery_ = newest_error->detail + "; generation " + std::to_string(generation) +
                         " was opened instead";
    }
    return store;
  }

  // A manifest of generation 0 is always empty and written before any data: when it is all there is
  // and not whole, the very first commit was interrupted and nothing is lost.
  const bool interrupted_at_birth = generations.size() == 1 && generations.front() == 0 && !data;
  if (newest_error && !interrupted_at_birth) return *newest_error;
  if (data != nullptr) {
    return Error{ErrorCode::kCorrupt, "the manifest is missing: there is " + *data +
                                          ", but no file that is named manifest-<generation>.nf"};
  }
  if (foreign != nullptr && !interrupted_at_birth) {
    return Error{ErrorCode::kForeignFile,
                 "there is no Nearfield store here, but other files, \"" + *foreign +
                     "\" for instance; expected a store or an empty place"};
  }
  if (!create) return Error{ErrorCode::kNotFound, "there is no Nearfield store here"};
  return store;
}

Result<Buffer> Store::load(const SegmentKey& key, const SegmentRef& ref) {
  // Seeds and the dead are small, and whoever loads them reads them whole.
  const bool whole = key.kind == SegmentKind::kSeeds || key.kind == SegmentKind::kDead;
  const auto load = storage_.maps() && !whole ? map_segment : read_segment;
  return load(storage_, layout::data_name(ref.file), manifest_, key, ref);
}

Result<VerifyReport> Store::verify() {
  VerifyReport report;
  for (const auto& [number, length] : manifest_.files) {
    const std::string name = layout::data_name(number);
    const auto header = storage_.read_stored(name, 0, layout::kHeaderBytes);
    const auto expected = layout::data_header(number);
    if (!header.ok()) {
      report.problems.push_back(name + ": " + header.error().detail);
    } else if (std::memcmp(header->data(), expected.data(), expected.size()) != 0) {
      report.problems.push_back(name + " is damaged: its header is not that of data file " +
                                std::to_string(number));
    }
  }
  for (const auto& [key, ref] : manifest_.segments) {
    const auto payload = read_segment(storage_, layout::data_name(ref.file), manifest_, key, ref);
    if (!payload.ok()) report.problems.push_back(payload.error().detail);
    ++report.segments;
    report.bytes += ref.length;
    if (key.kind == SegmentKind::kRows) report.rows += ref.rows;
  }
  return report;
}

// Removes our files that the manifest does not need. That one of them stays is no error; it is
// tried again at the next commit. Manifests go first (their names sort last): one that cannot be
// removed keeps its data.
void Store::sweep() {
  leftovers_ = true;
  auto names = storage_.list();
  if (!names.ok()) return;
  small_sort(names->begin(), names->end(), std::greater());
  for (const std::string& name : *names) {
    const auto generation = layout::parse_manifest_name(name);
    const auto number = layout::parse_data_name(name);
    if (generation ? *generation == manifest_.generation
                   : !number || manifest_.files.contains(*number)) {
      continue;
    }
    if (!storage_.remove(name).ok()) return;
  }
  leftovers_ = false;
}

}  // namespace nearfield
