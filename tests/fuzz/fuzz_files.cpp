// Whole files of arbitrary bytes: as a pack, as a manifest, as the only data file; as they are, and
// with their checksums put right, as a hostile file has them.
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/checksum.h"
#include "nearfield/database.h"
#include "store/manifest.h"

using namespace nearfield;

namespace {

using Bytes = std::vector<std::byte>;

void require(bool holds) {
  if (!holds) __builtin_trap();
}

// Packs and manifests: the checksum of the payload, of as many bytes as the header says or there
// are, and that of the header.
Bytes sealed(Bytes bytes) {
  constexpr size_t kHeader = 64;
  if (bytes.size() < kHeader) return bytes;
  const auto seal = [&](std::span<const std::byte> what, size_t at) {
    const uint64_t checksum = checksum64(what);
    std::memcpy(bytes.data() + at, &checksum, sizeof checksum);
  };
  uint64_t length = 0;
  std::memcpy(&length, bytes.data() + 32, sizeof length);
  const auto payload = std::span<const std::byte>(bytes).subspan(kHeader);
  seal(length < payload.size() ? payload.first(static_cast<size_t>(length)) : payload, 40);
  seal(std::span<const std::byte>(bytes).first(56), 56);
  return bytes;
}

void read(const Bytes& content) {
  MemoryStorage source;
  source.files()["store.nfpack"] = content;
  MemoryStorage destination;
  if (auto unpacked = Database::unpack(source, "store.nfpack", destination); !unpacked.ok())
    require(destination.files().empty());  // a refused pack leaves nothing behind
  for (const char* name : {"manifest-00000000000000000001.nf", "data-0000000001.nf"}) {
    auto storage = std::make_unique<MemoryStorage>();
    storage->files()[name] = content;
    auto database = Database::open(std::move(storage), {});
    if (database.ok()) (void)(*database)->verify();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const Bytes content(bytes.begin(), bytes.end());
  read(content);
  read(sealed(content));
  const auto manifest = decode_manifest(content, "input");
  if (manifest.ok()) require(decode_manifest(encode_manifest(*manifest), "again").ok());
  return 0;
}
