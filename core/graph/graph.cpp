#include "graph/graph.h"

#include <algorithm>
#include <functional>

#include "base/coding.h"
#include "nearfield/options.h"

namespace nearfield {

Result<void> Graph::resize(uint32_t rows) {
  const uint32_t before = links_.rows();
  NEARFIELD_TRY(links_.resize(rows));
  for (uint32_t slot = before; slot < rows; ++slot) {
    std::fill_n(links_.row(slot), links_.stride(), kNoLink);
  }
  return {};
}

void Graph::move_together(std::span<const uint32_t> to) {
  uint32_t kept = 0;
  for (uint32_t slot = 0; slot < rows(); ++slot) {
    if (to[slot] == kNoLink) continue;
    const uint32_t* const from = links(slot);
    uint32_t* const links_to = links(to[slot]);
    for (uint32_t i = 0; i < degree(); ++i) {
      links_to[i] = from[i] == kNoLink ? kNoLink : to[from[i]];
    }
    ++kept;
  }
  for (uint32_t& seed : seeds_) seed = to[seed];
  removed_.clear();
  (void)links_.resize(kept);  // shrinking needs no memory
}

std::vector<std::byte> Graph::encode_seeds() const {
  Encoder encoder;
  encoder.put(static_cast<uint32_t>(seeds_.size()));
  encoder.put(static_cast<uint32_t>(group_starts_.size()));
  encoder.put(slack_.rows);
  for (const uint16_t slack : slack_.slack) encoder.put(slack);
  encoder.put(uint16_t{0});
  for (const uint32_t seed : seeds_) encoder.put(seed);
  for (const uint32_t start : group_starts_) encoder.put(start);
  return encoder.take();
}

bool Graph::decode_seeds(std::span<const std::byte> bytes) {
  Decoder decoder(bytes);
  const auto seed_count = decoder.get<uint32_t>();
  const auto start_count = decoder.get<uint32_t>();
  SlackTable slack{.rows = decoder.get<uint32_t>()};
  for (uint16_t& part : slack.slack) part = decoder.get<uint16_t>();
  (void)decoder.get<uint16_t>();
  // Before anything is allocated: the counts must be what the bytes can hold.
  const uint64_t words = static_cast<uint64_t>(seed_count) + start_count;
  if (!decoder.ok() || decoder.remaining() != words * sizeof(uint32_t)) return false;

  std::vector<uint32_t> seeds(seed_count);
  for (uint32_t& seed : seeds) seed = decoder.get<uint32_t>();
  std::vector<uint32_t> starts(start_count);
  for (uint32_t& start : starts) start = decoder.get<uint32_t>();

  for (const uint32_t seed : seeds) {
    if (seed >= kMaxRows) return false;
  }
  if (!starts.empty()) {
    if (starts.size() < 2 || starts.front() != 0 || starts.back() != seed_count) return false;
    const auto not_rising =
        std::adjacent_find(starts.begin(), starts.end(), std::greater_equal<>());
    if (not_rising != starts.end()) return false;
  }
  set_seeds(std::move(seeds), std::move(starts));
  set_slack(slack);
  return true;
}

}  // namespace nearfield
