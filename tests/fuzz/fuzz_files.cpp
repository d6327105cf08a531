// Whole files of arbitrary bytes: as a pack, as a manifest, as the only data file.
#include <memory>

#include "nearfield/database.h"

using namespace nearfield;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> content(bytes, bytes + size);
  MemoryStorage source;
  source.files()["store.nfpack"] = content;
  MemoryStorage destination;
  if (auto unpacked = Database::unpack(source, "store.nfpack", destination); !unpacked.ok()) {
    if (!destination.files().empty()) __builtin_trap();  // a refused pack leaves nothing behind
  }
  for (const char* name : {"manifest-00000000000000000001.nf", "data-0000000001.nf"}) {
    auto storage = std::make_unique<MemoryStorage>();
    storage->files()[name] = content;
    auto database = Database::open(std::move(storage), {});
    if (database.ok()) (void)(*database)->verify();
  }
  return 0;
}
