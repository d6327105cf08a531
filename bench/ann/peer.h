// Peer: one index library under test, Nearfield being one of them. Each is a file of its own beside
// this one; what they all are given is here, so that it is the same. A peer throws
// std::runtime_error or an exception of its library when something fails.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data_set.h"

namespace bench {

inline constexpr uint32_t kK = 10;
inline constexpr uint32_t kM = 16;
inline constexpr uint32_t kEfConstruction = 200;

// The ef of a setting, see Peer::search.
inline uint32_t ef_of(uint32_t setting) { return setting == 0 ? 100 : setting; }

// What a peer knows before it sees a row.
struct Task {
  size_t dimensions = 0;
  bool cosine = false;
  bool l2 = false;         // neither: the dot product
  std::string saved_path;  // of the file or folder that save() writes
};

class Peer {
 public:
  virtual ~Peer() = default;

  // From rows in memory, which may go when it returns, to an index that answers queries. Once.
  virtual void build(const RowsView& rows, unsigned threads) = 0;
  virtual void save() = 0;
  // In place of build(): the index that another process saved.
  virtual void open() = 0;
  // Answers the queries on one thread. `setting` is ef, for Nearfield the recall asked for in
  // thousandths; 0 stands for a usual one: ef 100, the default recall. `ids` has kK places a query,
  // -1 where fewer were found.
  virtual void search(const RowsView& queries, uint32_t setting, std::span<int32_t> ids) = 0;
};

std::unique_ptr<Peer> make_nearfield(const Task& task);
std::unique_ptr<Peer> make_hnswlib(const Task& task);
std::unique_ptr<Peer> make_faiss_flat(const Task& task);  // f32 rows
std::unique_ptr<Peer> make_faiss_sq8(const Task& task);   // 8 bits a dimension, no rows

struct PeerEntry {
  std::string_view name;
  std::unique_ptr<Peer> (*make)(const Task& task);
};

// Those that this program was built with, Nearfield first.
std::span<const PeerEntry> peers();

}  // namespace bench
