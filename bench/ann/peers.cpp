#include "peer.h"

namespace bench {

std::span<const PeerEntry> peers() {
  static constexpr PeerEntry kPeers[] = {
      {"nearfield", make_nearfield},
#ifdef BENCH_HNSWLIB
      {"hnswlib", make_hnswlib},
#endif
#ifdef BENCH_FAISS
      {"faiss", make_faiss_flat},
      {"faiss-sq8", make_faiss_sq8},
#endif
  };
  return kPeers;
}

}  // namespace bench
