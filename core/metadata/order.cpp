#include "metadata/order.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace nearfield {

namespace {

// `key_of`: slot -> optional key.
template <class Key, class KeyOf>
std::vector<uint32_t> order(const Bitmap& slots, bool descending, uint64_t offset, uint64_t limit,
                            KeyOf key_of) {
  struct Entry {
    Key key;
    uint32_t slot;
  };
  std::vector<Entry> entries;
  std::vector<uint32_t> without;
  slots.for_each([&](uint32_t slot) {
    if (const std::optional<Key> key = key_of(slot)) {
      entries.push_back({*key, slot});
    } else {
      without.push_back(slot);
    }
  });
  const size_t total = entries.size() + without.size();
  const auto begin = static_cast<size_t>(std::min<uint64_t>(offset, total));
  const size_t end = begin + static_cast<size_t>(std::min<uint64_t>(limit, total - begin));
  const size_t sorted = std::min(end, entries.size());
  std::partial_sort(entries.begin(), entries.begin() + static_cast<ptrdiff_t>(sorted),
                    entries.end(), [descending](const Entry& a, const Entry& b) {
                      if (a.key != b.key) return descending ? b.key < a.key : a.key < b.key;
                      return a.slot < b.slot;
                    });
  std::vector<uint32_t> page;
  for (size_t i = begin; i < end; ++i)
    page.push_back(i < entries.size() ? entries[i].slot : without[i - entries.size()]);
  return page;
}

}  // namespace

std::vector<uint32_t> order_by(const Column& column, const Bitmap& slots, bool descending,
                               uint64_t offset, uint64_t limit) {
  if (const NumberColumn* numbers = column.numbers()) {
    return order<double>(slots, descending, offset, limit,
                         [&](uint32_t slot) { return numbers->get(slot); });
  }
  if (const BoolColumn* bools = column.bools()) {
    return order<bool>(slots, descending, offset, limit,
                       [&](uint32_t slot) { return bools->get(slot); });
  }
  return order<std::string_view>(slots, descending, offset, limit, [&](uint32_t slot) {
    std::optional<std::string_view> key;
    column.tags()->for_each(slot, [&](std::string_view value) {
      if (!key || (descending ? *key < value : value < *key)) key = value;
    });
    return key;
  });
}

}  // namespace nearfield
