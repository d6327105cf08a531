// The words that every other header uses: metrics, row types, ids.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace nearfield {

// How near two vectors are. Every search returns distances of which smaller is nearer:
//   kCosine  1 - cos(a, b), in 0..2; a zero vector is at distance 1 from everything
//   kL2      the squared Euclidean distance
//   kDot     the negated dot product
enum class Metric : uint8_t { kCosine = 0, kL2 = 1, kDot = 2 };

// How the rows themselves are kept:
//   kF32  as given, 32-bit floats
//   kF16  rounded to 16-bit floats (ties to even), in half the bytes; values within ±65504. The
//         rounded values are what is searched and what comes back.
enum class RowType : uint8_t { kF32 = 0, kF16 = 1 };

std::string_view metric_name(Metric metric);       // "cosine", "l2", "dot"
std::string_view row_type_name(RowType row_type);  // "f32", "f16"

// A record's name: a signed 64-bit integer or a string of UTF-8 bytes. 7 and "7" are two ids.
using Id = std::variant<int64_t, std::string>;

// An Id that borrows its characters. Equality and order: integers before strings, then by value.
class IdView {
 public:
  IdView() = default;
  IdView(int64_t number) : number_(number) {}                     // NOLINT: implicit on purpose
  IdView(std::string_view text) : text_(text), is_text_(true) {}  // NOLINT
  IdView(const Id& id) {                                          // NOLINT
    if (const auto* number = std::get_if<int64_t>(&id)) {
      number_ = *number;
    } else {
      text_ = std::get<std::string>(id);
      is_text_ = true;
    }
  }

  bool is_text() const { return is_text_; }
  int64_t number() const { return number_; }       // meaningful when !is_text()
  std::string_view text() const { return text_; }  // meaningful when is_text()
  Id to_id() const { return is_text_ ? Id(std::string(text_)) : Id(number_); }

  friend bool operator==(const IdView& a, const IdView& b) {
    return a.is_text_ == b.is_text_ && a.number_ == b.number_ && a.text_ == b.text_;
  }

 private:
  int64_t number_ = 0;
  std::string_view text_;
  bool is_text_ = false;
};

// "7" or "\"seven\"": an id as error messages show it.
std::string describe_id(IdView id);

}  // namespace nearfield
