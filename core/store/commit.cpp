// Commits: how a store changes.
#include <algorithm>
#include <set>

#include "base/checksum.h"
#include "store/layout.h"
#include "store/manifest.h"
#include "store/segment.h"
#include "store/store.h"

namespace nearfield {

namespace {

// Small files are copied together when there are more of them than this, ...
constexpr size_t kMaxSmallFiles = 64;
// ... small being under half of this or of the storage's preferred size.
constexpr uint64_t kSmallFileBytes = 4 << 20;

Result<void> write_manifest(Storage& storage, const Manifest& manifest) {
  const auto payload = encode_manifest(manifest);
  NEARFIELD_ASSIGN(auto sink, storage.create(layout::manifest_name(manifest.generation)));
  NEARFIELD_TRY(sink->append(
      layout::manifest_header(manifest.generation, layout::features_of(manifest), payload)));
  NEARFIELD_TRY(sink->append(payload));
  return sink->finish();
}

// The largest number of either kind is reserved: names of it are not read.
Error used_up(const std::string& what) {
  return {ErrorCode::kInvalidArgument,
          "the numbers for " + what + " are used up; pack the store and unpack it to go on"};
}

}  // namespace

// Takes back what an unfinished commit wrote, newest first, so that a manifest never outlives its
// data; what cannot be removed now is swept by a later commit. The empty manifest of a first commit
// goes when the data has gone for sure: data without a manifest would count as a damaged store.
Store::Commit::~Commit() {
  if (finished_) return;
  sink_.reset();
  const bool data = names_.size() > 1;
  while (!names_.empty()) {
    const bool empty_manifest = names_.back() == layout::manifest_name(0);
    if ((empty_manifest && data && !store_.storage_.sync().ok()) ||
        !store_.storage_.remove(names_.back()).ok()) {
      store_.leftovers_ = true;
      return;
    }
    if (empty_manifest) store_.written_ = false;
    names_.pop_back();
  }
}

// What must be so before the first file is written: leftovers are gone, since they may fill the
// storage, and there is a manifest to fall back to.
Result<void> Store::Commit::prepare() {
  if (prepared_) return {};
  if (store_.leftovers_ && store_.recovery_.empty()) store_.sweep();
  if (!store_.written_) {
    names_.push_back(layout::manifest_name(0));
    NEARFIELD_TRY(write_manifest(store_.storage_, Manifest{}));
    NEARFIELD_TRY(store_.storage_.sync());
    store_.written_ = true;
  }
  prepared_ = true;
  return {};
}

Result<void> Store::Commit::start_file() {
  NEARFIELD_TRY(prepare());
  while (store_.listed_files_.contains(store_.next_file_)) ++store_.next_file_;
  if (store_.next_file_ == UINT32_MAX) return used_up("data files");
  file_ = store_.next_file_++;
  names_.push_back(layout::data_name(file_));
  NEARFIELD_ASSIGN(sink_, store_.storage_.create(names_.back()));
  NEARFIELD_TRY(sink_->append(layout::data_header(file_)));
  written_ = layout::kHeaderBytes;
  return {};
}

Result<void> Store::Commit::close_file() {
  if (!sink_) return {};
  NEARFIELD_TRY(sink_->finish());
  sink_.reset();
  manifest_.files[file_] = written_;
  return {};
}

// `ref` brings rows, length and checksum; the place is found here.
Result<void> Store::Commit::write(const SegmentKey& key, SegmentRef ref, Parts parts) {
  const uint64_t preferred = store_.storage_.preferred_file_bytes();
  if (sink_ && layout::payload_offset(written_, ref.length) + ref.length > preferred) {
    NEARFIELD_TRY(close_file());
  }
  if (!sink_) NEARFIELD_TRY(start_file());
  ref.file = file_;
  ref.offset = layout::payload_offset(written_, ref.length);
  NEARFIELD_TRY(append_segment(*sink_, written_, key, ref, parts));
  written_ = ref.offset + ref.length;
  manifest_.segments[key] = ref;
  return {};
}

Result<void> Store::Commit::put(const SegmentKey& key, uint32_t rows, Parts parts) {
  if (failure_) return *failure_;
  SegmentRef ref;
  ref.rows = rows;
  for (const auto part : parts) ref.length += part.size();
  ref.checksum = checksum64(parts);
  if (const auto old = manifest_.segments.find(key);
      old != manifest_.segments.end() && old->second.rows == rows &&
      old->second.length == ref.length && old->second.checksum == ref.checksum) {
    return {};
  }
  auto written = write(key, ref, parts);
  if (!written.ok()) failure_ = written.error();
  return written;
}

Result<void> Store::Commit::put(const SegmentKey& key, uint32_t rows,
                                std::span<const std::byte> payload) {
  return put(key, rows, Parts(&payload, 1));
}

// Copies the live segments of files that are mostly dead, and of small files when there are many.
// Checksums travel with the segments, unread: damage stays visible where it is.
Result<void> Store::Commit::tidy() {
  std::map<uint32_t, uint64_t> live;
  for (const auto& [key, ref] : manifest_.segments) {
    live[ref.file] += layout::kHeaderBytes + round_up(ref.length, layout::kAlignment);
  }
  const uint64_t small = std::min(store_.storage_.preferred_file_bytes(), kSmallFileBytes) / 2;
  std::set<uint32_t> sparse_files;
  std::set<uint32_t> small_files;
  // Files of this commit are not among those of the store.
  for (const auto& [number, length] : store_.manifest_.files) {
    const auto found = live.find(number);
    if (found == live.end()) continue;  // all dead: dropped anyway
    if (found->second < length / 2) {
      sparse_files.insert(number);
    } else if (length < small) {
      small_files.insert(number);
    }
  }
  if (small_files.size() > kMaxSmallFiles) sparse_files.merge(small_files);
  for (const auto& [key, ref] : manifest_.segments) {
    if (!sparse_files.contains(ref.file)) continue;
    const auto payload =
        store_.storage_.read_stored(layout::data_name(ref.file), ref.offset, ref.length);
    if (!payload.ok()) continue;  // unreadable: it stays where it is
    const auto bytes = payload->bytes();
    NEARFIELD_TRY(write(key, ref, Parts(&bytes, 1)));
  }
  return close_file();
}

Result<void> Store::Commit::switch_over() {
  std::set<uint32_t> used;
  for (const auto& [key, ref] : manifest_.segments) used.insert(ref.file);
  std::erase_if(manifest_.files, [&](const auto& file) { return !used.contains(file.first); });
  while (store_.listed_generations_.contains(store_.next_generation_)) ++store_.next_generation_;
  if (store_.next_generation_ == UINT64_MAX) return used_up("generations");
  manifest_.generation = store_.next_generation_++;
  manifest_.next_file = store_.next_file_;
  const std::string name = layout::manifest_name(manifest_.generation);
  // What we would refuse to read is not written.
  if (auto checked = check_manifest(manifest_, name); !checked.ok()) {
    return Error{ErrorCode::kInvalidArgument, std::move(checked).error().detail};
  }
  // The data must be durable before the manifest exists, and the manifest before the old files go.
  NEARFIELD_TRY(store_.storage_.sync());
  names_.push_back(name);
  NEARFIELD_TRY(write_manifest(store_.storage_, manifest_));
  return store_.storage_.sync();
}

Result<void> Store::Commit::finish() {
  if (failure_) return *failure_;
  // Closed before tidying, which may fail, for want of room above all, without failing the commit:
  // then the segments stay where they are.
  const auto attempt = [&]() -> Result<void> {
    NEARFIELD_TRY(prepare());
    NEARFIELD_TRY(close_file());
    auto segments = manifest_.segments;
    auto files = manifest_.files;
    if (!tidy().ok()) {
      sink_.reset();
      manifest_.segments = std::move(segments);
      manifest_.files = std::move(files);
    }
    return switch_over();
  };
  if (auto done = attempt(); !done.ok()) {
    failure_ = done.error();
    return done;
  }
  finished_ = true;
  store_.manifest_ = std::move(manifest_);
  store_.recovery_.clear();
  store_.sweep();
  return {};
}

}  // namespace nearfield
