// TextIndex: the words of one text or keyword field, row by row.
//
// Segments over rising ranges of rows, which never change, and the newest rows in a form that
// grows. Neighbouring segments are merged when the later one is no longer much smaller, so that
// their number stays logarithmic in the rows and each row is copied as often (O'Neil et al. 1996,
// as Lucene does). Counts for BM25 are of live rows alone: whoever buries a row says so.
// Threads: any number may read; one may change while nobody reads.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearfield/fields.h"
#include "text/analyzer.h"
#include "text/segment.h"

namespace nearfield {

class TextIndex {
 public:
  explicit TextIndex(const Field& field) : analyzer_(field) {}

  const Analyzer& analyzer() const { return analyzer_; }
  uint32_t rows() const { return growing_.first + static_cast<uint32_t>(growing_.lengths.size()); }
  // Appends row rows() with its texts, none or several.
  void add(std::span<const std::string_view> texts);
  // The row's record is dead. REQUIRES: it was live.
  void remove(uint32_t slot);

  // Live rows that have a token, and the tokens of all of them.
  uint64_t live_rows() const { return live_rows_; }
  uint64_t live_tokens() const { return live_tokens_; }
  uint32_t length(uint32_t slot) const;  // tokens of a row

  // The rows of a term and, if it can be told without reading them, how many; one list a part.
  struct Found {
    PostingList list;
    uint32_t rows;
  };
  std::vector<Found> find(std::string_view term) const;
  // Those of all terms that begin with `prefix`.
  std::vector<Found> find_prefix(std::string_view prefix) const;

  // Storage. freeze() makes a segment of the newest rows, and merges; stored() says that all
  // segments lie in storage; adopt() appends one that was read. The totals of live rows come back
  // as they were told.
  struct Part {
    Segment segment;
    bool stored;
  };
  Result<void> freeze();
  std::span<const Part> parts() const { return parts_; }
  void stored();
  Result<void> adopt(uint32_t rows, Buffer bytes);
  void set_live(uint64_t rows, uint64_t tokens) {
    live_rows_ = rows;
    live_tokens_ = tokens;
  }

  void check(std::vector<std::string>& problems) const;
  uint64_t memory_bytes() const;

 private:
  struct GrowingTerm {
    PostingWriter postings;
    uint32_t rows = 0;
  };
  struct Growing {
    uint32_t first = 0;
    std::vector<uint32_t> lengths;
    std::map<std::string, GrowingTerm, std::less<>> terms;
    uint64_t bytes = 0;  // of terms and postings, about
  };
  Found found_in(const GrowingTerm& term) const;
  static Result<Segment> merge(const Segment& a, const Segment& b);

  Analyzer analyzer_;
  std::vector<Part> parts_;
  Growing growing_;
  uint64_t live_rows_ = 0;
  uint64_t live_tokens_ = 0;

  TokenList tokens_;  // of the row that is added
  std::vector<uint32_t> order_;
  std::vector<uint8_t> positions_;
};

}  // namespace nearfield
