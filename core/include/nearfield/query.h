// What a search asks and what it answers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nearfield/selection.h"
#include "nearfield/types.h"

namespace nearfield {

inline constexpr double kDefaultRecall = 0.98;

// How a search that is limited to a selection goes about it:
//   kScan         measures every selected row
//   kCodeScan     measures the codes of all of them, and the rows that rounding may have hidden
//   kBridgedWalk  walks the graph from selected row to selected row
//   kWalk         walks the graph as if nothing were selected, and returns what is
// A walk that looks at more rows than are selected becomes a scan, so an answer never costs more
// than about two scans, and k rows come back whenever k are selected.
enum class Plan : uint8_t { kScan, kCodeScan, kBridgedWalk, kWalk };
std::string_view plan_name(Plan plan);  // "scan", "code-scan", "bridged-walk", "walk"

struct SearchOptions {
  uint32_t k = 10;  // rows wanted, at least 1; fewer come back only when fewer exist
  // The share of the k nearest that a search is expected to find, above 0 and below 1. How far it
  // has to look for that is measured while linking; queries unlike the rows may find less.
  double recall = kDefaultRecall;
  // Candidates kept while walking, at least 1, raised to k when smaller: in place of `recall`.
  std::optional<uint32_t> ef = {};
  bool exact = false;                // compare with every row instead of walking the graph
  const Selection* among = nullptr;  // borrowed; only these rows come back
  std::optional<Plan> plan = {};     // in place of the best one for the selection
};

// How the order of a search by vector and by text comes about:
//   kReciprocalRank  the sum of 1 / (60 + rank) in either list (Cormack et al. 2009); what one list
//                    lacks counts nothing there
//   kWeights         the weighted sum of both scores, each scaled to 0..1 over what is ranked
//   kRerank          what matches the text, nearest vector first
enum class Fusion : uint8_t { kReciprocalRank, kWeights, kRerank };

struct FieldWeight {
  std::string_view field;
  double weight = 1;
};

struct TextOptions {
  std::string_view query;                    // words, "phrases" and prefix*; see core/text/query.h
  std::span<const FieldWeight> fields = {};  // empty: every text and keyword field, alike
  bool all_words = false;                    // rows must have every word, not just one
};

// What to rank by: a vector, a text, or both.
struct RankOptions {
  std::span<const float> vector = {};  // empty: none
  std::optional<TextOptions> text = {};
  SearchOptions search = {};  // of the vector; k and among count for texts as well
  uint32_t offset = 0;        // of the first row wanted in the whole order
  Fusion fusion = Fusion::kReciprocalRank;
  double vector_weight = 0.5;  // of kWeights, not negative and not both 0
  double text_weight = 0.5;
};

struct RankedHit {
  uint32_t slot;
  double score;    // larger is better: of text BM25, of both what the fusion gives
  float distance;  // to the vector; NaN without one
};

// A part of a record's text around what a query found there.
struct Highlight {
  std::string text;
  std::vector<std::pair<uint32_t, uint32_t>> ranges;  // bytes of `text` that match: begin, end
};

struct Ranking {
  std::vector<RankedHit> hits;
  uint64_t text_matches = 0;  // rows that match the text
};

struct Hit {
  uint32_t slot;   // the row's place; valid until the collection changes
  float distance;  // smaller is nearer, see Metric; ties are ordered by slot
};

struct SearchStats {
  uint64_t distance_computations = 0;  // on codes and on rows
  uint64_t code_distances = 0;         // of which on codes
  Plan plan = Plan::kWalk;             // of the last search; a walk that gave up ends as a scan
};

// One record as it was given; under f16 the vector is the rounded one.
struct Record {
  Id id;
  std::vector<float> vector;
  std::string metadata;  // JSON text, empty when none was given
};

}  // namespace nearfield
