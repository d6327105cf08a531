// Exact nearest neighbours by brute force, the truth that recall is measured
// against.
//
//   nearfield-truth --base FILE --query FILE --dimensions D
//                   --metric l2|cosine|dot --out FILE [--k 10] [--threads N]
//
// Inputs are row-major little-endian 32-bit floats; the output is row-major
// int32 row numbers of the base, k per query, nearest first, ties by row.
//
// Arithmetic is in double precision and every sum runs in the same order
// (eight lanes, added pairwise at the end) whatever the machine's vectors
// are; with contraction off, the output is the same bytes everywhere.

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kLanes = 8;
typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double))));

constexpr std::size_t kTile = 4;         // queries × rows computed at a time, in registers
constexpr std::size_t kBlockRows = 128;  // rows converted at a time; with 768 dimensions 768 kB

enum class Metric { kL2, kCosine, kDot };

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "nearfield-truth: %s\n", message.c_str());
  std::exit(2);
}

struct Options {
  std::string base, query, out;
  std::size_t dimensions = 0;
  std::size_t k = 10;
  std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
  Metric metric = Metric::kL2;
};

std::size_t ParseCount(std::string_view name, std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0) {
    Fail(std::string(name) + " takes a positive number, not '" + std::string(text) + "'");
  }
  return value;
}

Metric ParseMetric(std::string_view text) {
  if (text == "l2") return Metric::kL2;
  if (text == "cosine") return Metric::kCosine;
  if (text == "dot") return Metric::kDot;
  Fail("--metric takes l2, cosine or dot, not '" + std::string(text) + "'");
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--help") {
      std::puts(
          "nearfield-truth --base FILE --query FILE --dimensions D\n"
          "                --metric l2|cosine|dot --out FILE [--k 10] [--threads N]");
      std::exit(0);
    }
    if (i + 1 == argc) Fail(std::string(name) + " takes a value");
    const std::string_view value = argv[i + 1];
    if (name == "--base")
      options.base = value;
    else if (name == "--query")
      options.query = value;
    else if (name == "--out")
      options.out = value;
    else if (name == "--dimensions")
      options.dimensions = ParseCount(name, value);
    else if (name == "--k")
      options.k = ParseCount(name, value);
    else if (name == "--threads")
      options.threads = ParseCount(name, value);
    else if (name == "--metric")
      options.metric = ParseMetric(value);
    else
      Fail("unknown option '" + std::string(name) + "'; see --help");
  }
  if (options.base.empty() || options.query.empty() || options.out.empty() ||
      options.dimensions == 0) {
    Fail("--base, --query, --dimensions and --out are needed; see --help");
  }
  return options;
}

// Rows as doubles, padded with zeros to whole lanes and to whole tiles.
class Matrix {
 public:
  Matrix(std::size_t max_rows, std::size_t dimensions)
      : dimensions_(dimensions),
        stride_((dimensions + kLanes - 1) / kLanes),
        lanes_((max_rows + kTile - 1) / kTile * kTile * stride_, Lanes{}) {}

  void Assign(const float* values, std::size_t rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      double* out = reinterpret_cast<double*>(&lanes_[row * stride_]);
      for (std::size_t d = 0; d < dimensions_; ++d) out[d] = values[row * dimensions_ + d];
    }
  }

  const Lanes* Row(std::size_t row) const { return &lanes_[row * stride_]; }
  std::size_t stride() const { return stride_; }

 private:
  std::size_t dimensions_;
  std::size_t stride_;
  std::vector<Lanes> lanes_;
};

std::size_t RowsOf(const std::string& path, std::size_t dimensions) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) Fail("cannot read " + path);
  const auto bytes = static_cast<std::size_t>(file.tellg());
  if (bytes == 0 || bytes % (dimensions * sizeof(float)) != 0) {
    Fail(path + " is not a whole number of rows of " + std::to_string(dimensions) + " floats");
  }
  return bytes / (dimensions * sizeof(float));
}

void ReadRows(std::ifstream& file, std::size_t first, std::size_t rows, std::size_t dimensions,
              float* out) {
  const std::size_t row_bytes = dimensions * sizeof(float);
  file.seekg(static_cast<std::streamoff>(first * row_bytes));
  file.read(reinterpret_cast<char*>(out), static_cast<std::streamsize>(rows * row_bytes));
  if (!file) Fail("a read failed");
}

double Sum(Lanes v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

// kTile × kTile sums of products or of squared differences.
template <bool kDifference>
void Tile(const Matrix& queries, std::size_t query, const Matrix& rows, std::size_t row,
          double out[kTile][kTile]) {
  const std::size_t stride = rows.stride();
  const Lanes* a = queries.Row(query);
  const Lanes* b = rows.Row(row);
  Lanes sums[kTile][kTile] = {};
  for (std::size_t s = 0; s < stride; ++s) {
    for (std::size_t i = 0; i < kTile; ++i) {
      for (std::size_t j = 0; j < kTile; ++j) {
        if constexpr (kDifference) {
          const Lanes difference = a[i * stride + s] - b[j * stride + s];
          sums[i][j] += difference * difference;
        } else {
          sums[i][j] += a[i * stride + s] * b[j * stride + s];
        }
      }
    }
  }
  for (std::size_t i = 0; i < kTile; ++i) {
    for (std::size_t j = 0; j < kTile; ++j) out[i][j] = Sum(sums[i][j]);
  }
}

double Length(const Matrix& matrix, std::size_t row) {
  Lanes sum = {};
  for (std::size_t s = 0; s < matrix.stride(); ++s) sum += matrix.Row(row)[s] * matrix.Row(row)[s];
  return std::sqrt(Sum(sum));
}

struct Hit {
  double distance;
  std::int32_t row;
  bool operator<(const Hit& other) const {
    return distance < other.distance || (distance == other.distance && row < other.row);
  }
};

// The k nearest seen so far, sorted. (distance, row) is a total order, so the
// content does not depend on the order of insertion.
void Insert(std::vector<Hit>& best, std::size_t k, Hit hit) {
  if (best.size() == k) {
    if (!(hit < best.back())) return;
    best.pop_back();
  }
  best.insert(std::upper_bound(best.begin(), best.end(), hit), hit);
}

using Results = std::vector<std::vector<Hit>>;  // per query

// A zero vector has no direction: its cosine with anything counts as 0.
double Distance(Metric metric, double sum, double query_length, double row_length) {
  if (metric == Metric::kL2) return sum;
  if (metric == Metric::kDot) return -sum;
  const double lengths = query_length * row_length;
  return lengths > 0 ? -sum / lengths : 0.0;
}

void ScanBlock(const Options& options, const Matrix& queries,
               const std::vector<double>& query_lengths, const Matrix& block, std::size_t first_row,
               std::size_t rows, Results& results) {
  std::vector<double> row_lengths(rows);
  if (options.metric == Metric::kCosine) {
    for (std::size_t row = 0; row < rows; ++row) row_lengths[row] = Length(block, row);
  }
  double sums[kTile][kTile];
  for (std::size_t query = 0; query < results.size(); query += kTile) {
    const std::size_t query_count = std::min(kTile, results.size() - query);
    for (std::size_t row = 0; row < rows; row += kTile) {
      if (options.metric == Metric::kL2)
        Tile<true>(queries, query, block, row, sums);
      else
        Tile<false>(queries, query, block, row, sums);
      const std::size_t row_count = std::min(kTile, rows - row);
      for (std::size_t i = 0; i < query_count; ++i) {
        for (std::size_t j = 0; j < row_count; ++j) {
          const double distance =
              Distance(options.metric, sums[i][j], query_lengths[query + i], row_lengths[row + j]);
          Insert(results[query + i], options.k,
                 {distance, static_cast<std::int32_t>(first_row + row + j)});
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  const std::size_t base_rows = RowsOf(options.base, options.dimensions);
  const std::size_t query_rows = RowsOf(options.query, options.dimensions);
  if (base_rows > INT32_MAX) Fail("the base has more rows than an int32 can count");
  if (base_rows < options.k) Fail("the base has fewer than k rows");

  Matrix queries(query_rows, options.dimensions);
  std::vector<double> query_lengths(query_rows);
  {
    std::vector<float> values(query_rows * options.dimensions);
    std::ifstream file(options.query, std::ios::binary);
    ReadRows(file, 0, query_rows, options.dimensions, values.data());
    queries.Assign(values.data(), query_rows);
    for (std::size_t row = 0; row < query_rows; ++row) query_lengths[row] = Length(queries, row);
  }

  // Threads take the next block of rows each and keep their own results.
  Results merged(query_rows);
  std::mutex merge_mutex;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    Results results(query_rows);
    Matrix block(kBlockRows, options.dimensions);
    std::vector<float> values(kBlockRows * options.dimensions);
    std::ifstream file(options.base, std::ios::binary);
    for (std::size_t first; (first = next.fetch_add(kBlockRows)) < base_rows;) {
      const std::size_t rows = std::min(kBlockRows, base_rows - first);
      ReadRows(file, first, rows, options.dimensions, values.data());
      block.Assign(values.data(), rows);
      ScanBlock(options, queries, query_lengths, block, first, rows, results);
    }
    const std::lock_guard<std::mutex> lock(merge_mutex);
    for (std::size_t query = 0; query < query_rows; ++query) {
      for (const Hit& hit : results[query]) Insert(merged[query], options.k, hit);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < options.threads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();

  std::vector<std::int32_t> ids;
  ids.reserve(query_rows * options.k);
  for (const auto& hits : merged) {
    for (const Hit& hit : hits) ids.push_back(hit.row);
  }
  std::ofstream out(options.out, std::ios::binary);
  out.write(reinterpret_cast<const char*>(ids.data()),
            static_cast<std::streamsize>(ids.size() * sizeof(ids[0])));
  out.close();
  if (!out) Fail("cannot write " + options.out);
}
