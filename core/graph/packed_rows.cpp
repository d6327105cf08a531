#include "graph/packed_rows.h"

#include <cstring>

namespace nearfield {

Result<void> PackedRows::assign(const Codes& codes, std::span<const uint32_t> slots) {
  stride_ = codes.stride();
  if (buffer_.size() < slots.size() * stride_) {
    NEARFIELD_ASSIGN(buffer_, Buffer::allocate(slots.size() * stride_));
  }
  const bool lifted = codes.lifted_blocks().rows() > 0;
  norms_.resize(slots.size());
  lifts_.resize(lifted ? slots.size() : 0);
  auto* to = reinterpret_cast<uint8_t*>(buffer_.data());
  for (size_t i = 0; i < slots.size(); ++i) {
    const uint32_t slot = slots[i];
    std::memcpy(to + i * stride_, codes.code(slot), stride_);
    norms_[i] = codes.build_distance(slot, slot, 0) / 2;
    if (lifted) lifts_[i] = codes.lifted_blocks().row(slot)[1];
  }
  return {};
}

void PackedRows::to_distances(size_t i, const PackedRows& others, int32_t* products) const {
  const int32_t norm = norms_[i];
  const int32_t* norms = others.norms_.data();
  const size_t count = others.size();
  if (lifts_.empty()) {
    for (size_t j = 0; j < count; ++j) products[j] = norm + norms[j] - 2 * products[j];
    return;
  }
  const int32_t own = lifts_[i];
  const int32_t* lifts = others.lifts_.data();
  for (size_t j = 0; j < count; ++j) {
    const int32_t lift = own - lifts[j];
    products[j] = norm + norms[j] - 2 * products[j] + lift * lift;
  }
}

}  // namespace nearfield
