#include "text/postings.h"

#include <bit>
#include <cstring>

namespace nearfield {

void put_varint(uint32_t value, std::vector<uint8_t>& bytes) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<uint8_t>(value | 0x80));
  bytes.push_back(static_cast<uint8_t>(value));
}

uint32_t VarintReader::next_long() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 35 && at_ != end_; shift += 7) {
    const uint8_t byte = *at_++;
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      if (value > 0xffffffff) break;
      return static_cast<uint32_t>(value);
    }
  }
  fail();
  return 0;
}

std::span<const uint8_t> VarintReader::take_varints(uint32_t count) {
  const uint8_t* const begin = at_;
  // Eight bytes at a time: a varint ends with a byte below 0x80.
  constexpr uint64_t kHigh = 0x8080808080808080;
  while (count >= 8 && remaining() >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, at_, sizeof(word));
    count -= static_cast<uint32_t>(std::popcount(~word & kHigh));
    at_ += sizeof(word);
  }
  for (; count > 0; ++at_) {
    if (at_ == end_) {
      fail();
      return {};
    }
    if (*at_ < 0x80) --count;
  }
  // The eight bytes may end within a varint of which no part belongs to what follows.
  return {begin, at_};
}

std::span<const uint8_t> PostingCursor::positions() {
  for (; skip_ > 0xffffffff; skip_ -= 0xffffffff) (void)positions_.take_varints(0xffffffff);
  (void)positions_.take_varints(static_cast<uint32_t>(skip_));
  skip_ = 0;
  if (frequency_ > 0xffffffff) positions_.fail();
  const auto bytes = positions_.take_varints(frequency());
  skip_ -= frequency_;  // which next() adds
  return bytes;
}

void PostingWriter::add(uint32_t row, uint32_t frequency, std::span<const uint8_t> positions) {
  put_varint((row - next) << 1 | (frequency == 1 ? 1u : 0u), row_bytes);
  if (frequency > 1) put_varint(frequency - 2, row_bytes);
  position_bytes.insert(position_bytes.end(), positions.begin(), positions.end());
  next = row + 1;
}

}  // namespace nearfield
