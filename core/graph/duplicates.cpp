#include "graph/duplicates.h"

#include <algorithm>
#include <cstring>

#include "base/checksum.h"
#include "base/random.h"
#include "base/small_sort.h"

namespace nearfield {

bool same_code(const Codes& codes, uint32_t a, uint32_t b) {
  return codes.walk_term(a) == codes.walk_term(b) &&
         std::memcmp(codes.code(a), codes.code(b), codes.stride()) == 0;
}

uint32_t find_first(const Graph& graph, const Codes& codes, uint32_t slot) {
  for (uint32_t row = 0; row < graph.rows(); ++row) {
    if (same_code(codes, row, slot) && !graph.removed().contains(row)) return row;
  }
  return kNoLink;
}

Distinct find_copies(const Codes& codes, uint32_t begin, uint32_t end, const SlotSet& dead,
                     ThreadPool& pool) {
  struct Hashed {
    uint64_t hash;
    uint32_t slot;
  };
  std::vector<Hashed> hashed(end - begin);
  pool.parallel_for(hashed.size(), 1024, [&](size_t from, size_t to, unsigned) {
    for (size_t i = from; i < to; ++i) {
      const uint32_t slot = begin + static_cast<uint32_t>(i);
      const auto code = std::as_bytes(std::span(codes.code(slot), codes.stride()));
      hashed[i] = {mix64(checksum64(code) ^ static_cast<uint32_t>(codes.walk_term(slot))), slot};
    }
  });
  if (dead.next(begin) < end) {
    std::erase_if(hashed, [&](const Hashed& row) { return dead.contains(row.slot); });
  }
  std::sort(hashed.begin(), hashed.end(), [](const Hashed& a, const Hashed& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.slot < b.slot;
  });

  Distinct distinct;
  distinct.firsts.reserve(hashed.size());
  for (size_t i = 0; i < hashed.size();) {
    size_t same = i + 1;
    while (same < hashed.size() && hashed[same].hash == hashed[i].hash) ++same;
    distinct.firsts.push_back(hashed[i].slot);
    for (size_t j = i + 1; j < same; ++j) {
      // Rows of one hash and another code than the first are so rare that they need no chain of
      // their own: they are linked as ordinary rows.
      if (same_code(codes, hashed[i].slot, hashed[j].slot)) {
        distinct.copies.push_back({hashed[i].slot, hashed[j].slot});
      } else {
        distinct.firsts.push_back(hashed[j].slot);
      }
    }
    i = same;
  }
  std::sort(distinct.firsts.begin(), distinct.firsts.end());
  small_sort(distinct.copies.begin(), distinct.copies.end(),
             [](const Copy& a, const Copy& b) { return a.slot < b.slot; });
  return distinct;
}

bool is_copy(const Graph& graph, const Codes& codes, uint32_t slot) {
  const uint32_t to = graph.links(slot)[0];
  return to < slot && same_code(codes, to, slot);
}

void link_copy(Graph& graph, const Codes& codes, Copy copy) {
  uint32_t* first = graph.links(copy.first);
  uint32_t* links = graph.links(copy.slot);
  const uint32_t used = static_cast<uint32_t>(graph.linked(copy.first).size());
  // The place of the copy that was linked last; without one a free place, and when there is none
  // the last. Whoever loses that place is linked from the copy instead.
  uint32_t place = 0;
  while (place < used && !same_code(codes, first[place], copy.first)) ++place;
  place = std::min(place, graph.degree() - 1);
  uint32_t count = 0;
  links[count++] = copy.first;
  if (place < used) links[count++] = first[place];
  first[place] = copy.slot;
  // A few ways out that do not lead through the first.
  const uint32_t shared = std::min(graph.degree(), count + graph.degree() / 4);
  for (uint32_t i = 0; i < used && count < shared; ++i) {
    if (i != place) links[count++] = first[i];
  }
}

}  // namespace nearfield
