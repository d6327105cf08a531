// What the readers of text files share: records come one by one with the line they stand on, and
// the first one decides about dimensions and ids.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "readers/reader.h"

namespace nearfield::cli {

struct TextRecord {
  uint64_t line = 0;  // where it begins, from 1
  std::vector<float> vector;
  std::optional<Id> id;
  std::string metadata;
};

class TextRows : public Reader {
 public:
  explicit TextRows(const ReaderOptions& options);

  uint32_t dimensions() const override { return dimensions_; }
  bool next(Rows& rows, size_t limit) override;
  double share_read() const override;

 protected:
  // Fills the next record; false at the end. Throws std::invalid_argument for a faulty one, after
  // setting its line.
  virtual bool parse(TextRecord& record) = 0;
  void begin();  // reads the first record; to be called by the constructor of a reader

  std::string path_;
  std::ifstream file_;
  uint32_t dimensions_;  // 0 until the first record is read, unless the caller knows them

 private:
  bool advance();  // reads record_

  uint64_t size_;
  uint64_t read_ = 0;  // bytes, as of the last batch
  bool has_ids_ = false;
  bool has_metadata_ = false;
  bool waiting_ = false;  // record_ is read but not handed out
  TextRecord record_;
};

// "0.5" to a float; throws std::invalid_argument for no number and for one that is not finite.
float parse_float(std::string_view text);
// A JSON number as a float; the same errors.
float to_float(double value);

}  // namespace nearfield::cli
