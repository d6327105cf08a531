#include "crash/disk.h"

#include <algorithm>

namespace nearfield::test {

namespace {

constexpr size_t kSector = 512;

// Puts what was never written in place of bytes [from, to).
void spoil(std::vector<std::byte>& bytes, size_t from, size_t to, RandomStream& random) {
  const bool garbage = random.one_in(2);
  for (size_t i = from; i < to; ++i)
    bytes[i] = garbage ? static_cast<std::byte>(random.below(256)) : std::byte{0};
}

}  // namespace

std::string describe(const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::kCreate: return "create " + operation.name;
    case Operation::Kind::kAppend:
      return "append " + std::to_string(operation.bytes.size()) + " bytes to " + operation.name;
    case Operation::Kind::kFinish: return "finish " + operation.name;
    case Operation::Kind::kRemove: return "remove " + operation.name;
    case Operation::Kind::kSync: return "sync";
    case Operation::Kind::kGiveUp: return "(a commit failed)";
  }
  return {};
}

Disk::Disk(const Files& durable) {
  for (const auto& [name, bytes] : durable) {
    const auto file = std::make_shared<File>();
    file->bytes = bytes;
    file->durable = bytes.size();
    file->finished = true;
    names_[name] = {file};
  }
}

void Disk::apply(const Operation& operation) {
  last_appended_ = nullptr;
  const auto history = [&]() -> std::vector<FilePointer>& {
    auto& files = names_[operation.name];
    if (files.empty()) files.push_back(nullptr);
    return files;
  };
  switch (operation.kind) {
    case Operation::Kind::kCreate: history().push_back(std::make_shared<File>()); break;
    case Operation::Kind::kAppend:
      last_appended_ = history().back();
      last_appended_->appends.push_back(last_appended_->bytes.size());
      last_appended_->bytes.insert(last_appended_->bytes.end(), operation.bytes.begin(),
                                   operation.bytes.end());
      break;
    case Operation::Kind::kFinish: history().back()->finished = true; break;
    case Operation::Kind::kRemove: history().push_back(nullptr); break;
    case Operation::Kind::kSync:
      for (auto& [name, files] : names_) {
        files = {files.back()};
        if (File* file = files.back().get(); file && file->finished && !file->given_up)
          file->durable = file->bytes.size();
      }
      std::erase_if(names_, [](const auto& entry) { return !entry.second.back(); });
      break;
    case Operation::Kind::kGiveUp:
      for (auto& [name, files] : names_) {
        for (const FilePointer& file : files) {
          if (file && file->durable < file->bytes.size()) file->given_up = true;
        }
      }
      break;
  }
}

Disk::Files Disk::in_order() const {
  Files image;
  for (const auto& [name, files] : names_) {
    if (files.back()) image[name] = files.back()->bytes;
  }
  return image;
}

Disk::Files Disk::torn(RandomStream& random) const {
  Files image = in_order();
  if (!last_appended_) return image;
  for (const auto& [name, files] : names_) {
    if (files.back() != last_appended_) continue;
    auto& bytes = image[name];
    const size_t begin = last_appended_->appends.back();
    const size_t cut = begin + random.below(bytes.size() - begin + 1);
    if (random.one_in(3)) {
      bytes.resize(cut);
    } else {
      spoil(bytes, cut, bytes.size(), random);
    }
  }
  return image;
}

Disk::Files Disk::reordered(RandomStream& random) const {
  Files image;
  for (const auto& [name, files] : names_) {
    const FilePointer& file = files[random.below(files.size())];
    if (file) image[name] = after_crash(*file, random);
  }
  return image;
}

bool Disk::has_pending() const {
  return std::any_of(names_.begin(), names_.end(), [](const auto& entry) {
    const FilePointer& file = entry.second.back();
    return entry.second.size() > 1 || (file && file->durable < file->bytes.size());
  });
}

std::vector<std::byte> Disk::after_crash(const File& file, RandomStream& random) {
  std::vector<std::byte> bytes = file.bytes;
  const size_t pending = bytes.size() - file.durable;
  if (pending == 0) return bytes;
  const size_t cut = file.durable + random.below(pending + 1);
  switch (random.below(8)) {
    case 0: bytes.resize(file.durable); break;
    case 1: bytes.resize(cut); break;
    case 2: spoil(bytes, cut, bytes.size(), random); break;
    case 3: {  // an append that others overtook
      const size_t which = random.below(file.appends.size());
      const size_t end = which + 1 < file.appends.size() ? file.appends[which + 1] : bytes.size();
      const size_t begin = std::max(file.appends[which], file.durable);
      if (begin < end) spoil(bytes, begin, end, random);
      break;
    }
    case 4:  // sectors in any order
      for (size_t at = file.durable; at < bytes.size(); at += kSector) {
        if (random.one_in(2)) spoil(bytes, at, std::min(at + kSector, bytes.size()), random);
      }
      break;
    case 5:
      bytes.resize(cut);
      spoil(bytes, file.durable, cut, random);
      break;
    default: break;  // all of it arrived
  }
  return bytes;
}

}  // namespace nearfield::test
