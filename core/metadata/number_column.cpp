#include "metadata/number_column.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "metadata/select.h"

namespace nearfield {

template <class T>
bool ScalarColumn<T>::is_none(T value) const {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return value == none_;
  }
}

template <class T>
Result<void> ScalarColumn<T>::reserve(uint32_t rows) {
  if (rows <= values_.rows()) return {};
  return values_.resize(rows);
}

template <class T>
void ScalarColumn<T>::truncate(uint32_t rows) {
  (void)values_.resize(rows);  // does not fail when it shrinks
  used_ = rows;
}

template <class T>
std::vector<std::byte> ScalarColumn<T>::encode(uint32_t first, uint32_t count) const {
  if (count == 0) return {};
  const T* const begin = values_.row(first);
  if (std::all_of(begin, begin + count, [this](T value) { return is_none(value); })) return {};
  const auto* bytes = reinterpret_cast<const std::byte*>(begin);
  return {bytes, bytes + size_t{count} * sizeof(T)};
}

template <class T>
Result<void> ScalarColumn<T>::adopt(Buffer payload, uint32_t count) {
  if (count == 0) return {};
  if (!payload.empty() && payload.size() != size_t{count} * sizeof(T)) {
    return Error{ErrorCode::kCorrupt, std::to_string(count) + " rows of values have " +
                                          std::to_string(payload.size()) + " bytes; expected " +
                                          std::to_string(size_t{count} * sizeof(T))};
  }
  if (!payload.empty() && used_ % values_.block_rows() == 0) {
    values_.adopt(std::move(payload), count);
    used_ += count;
    return {};
  }
  NEARFIELD_TRY(values_.resize(used_ + count));
  T* const begin = values_.row(used_);
  if (payload.empty()) {
    std::fill(begin, begin + count, none_);
  } else {
    std::memcpy(begin, payload.data(), payload.size());
  }
  used_ += count;
  return {};
}

template class ScalarColumn<double>;
template class ScalarColumn<uint8_t>;

NumberColumn::NumberColumn(unsigned block_shift)
    : ScalarColumn(block_shift, std::numeric_limits<double>::quiet_NaN()) {}

std::optional<double> NumberColumn::get(uint32_t slot) const {
  const double value = *values().row(slot);
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

void NumberColumn::select_range(double low, double high, const Bitmap& within, Bitmap& out) const {
  for_each_block([&](const double* values, uint32_t first, uint32_t count) {
    select_rows(values, first, count, within, out, [low, high](double value) {
      return static_cast<int>(value >= low) & static_cast<int>(value <= high);
    });
  });
}

void NumberColumn::select_any(const std::vector<double>& wanted, const Bitmap& within,
                              Bitmap& out) const {
  constexpr size_t kFewValues = 8;  // that many scans cost less than a search for every row
  if (wanted.size() <= kFewValues) {
    for (const double value : wanted) select_range(value, value, within, out);
    return;
  }
  for_each_block([&](const double* values, uint32_t first, uint32_t count) {
    select_rows(values, first, count, within, out, [&wanted](double value) {
      return value >= wanted.front() && value <= wanted.back() &&
             std::binary_search(wanted.begin(), wanted.end(), value);
    });
  });
}

void NumberColumn::select_present(const Bitmap& within, Bitmap& out) const {
  for_each_block([&](const double* values, uint32_t first, uint32_t count) {
    select_rows(values, first, count, within, out, [](double value) { return value == value; });
  });
}

void NumberColumn::check(std::vector<std::string>& problems) const {
  for_each_block([&](const double* values, uint32_t first, uint32_t count) {
    const double* const bad =
        std::find_if(values, values + count, [](double value) { return std::isinf(value); });
    if (bad == values + count) return;
    problems.push_back("row " + std::to_string(first + (bad - values)) +
                       " has an infinite number; expected a finite one or none");
  });
}

std::optional<bool> BoolColumn::get(uint32_t slot) const {
  const uint8_t value = *values().row(slot);
  if (value != kFalse && value != kTrue) return std::nullopt;
  return value == kTrue;
}

void BoolColumn::select(bool wanted, const Bitmap& within, Bitmap& out) const {
  const uint8_t target = wanted ? kTrue : kFalse;
  for_each_block([&](const uint8_t* values, uint32_t first, uint32_t count) {
    select_rows(values, first, count, within, out,
                [target](uint8_t value) { return value == target; });
  });
}

void BoolColumn::select_present(const Bitmap& within, Bitmap& out) const {
  select(false, within, out);
  select(true, within, out);
}

void BoolColumn::check(std::vector<std::string>& problems) const {
  for_each_block([&](const uint8_t* values, uint32_t first, uint32_t count) {
    const uint8_t* const bad =
        std::find_if(values, values + count, [](uint8_t value) { return value > kTrue; });
    if (bad == values + count) return;
    problems.push_back("row " + std::to_string(first + (bad - values)) + " has the truth value " +
                       std::to_string(*bad) + "; expected 0, 1 or 2");
  });
}

}  // namespace nearfield
