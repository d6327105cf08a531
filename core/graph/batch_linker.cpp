#include "graph/linker.h"
namespace nearfield {
std::unique_ptr<Linker> make_batch_linker(Graph&, const Codes&, const Kernels&, ThreadPool&, const GraphOptions&) { return nullptr; }
}  // namespace nearfield
