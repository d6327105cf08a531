// The threads of a page's engine: a pool that is planned before a database is opened and starts
// once there is work for it. JavaScript gets the workers ready (web/src/module/threads.ts), which
// takes turns of the event loop; until then, and where they cannot be had, the calling thread works
// alone. Answers do not depend on it.
//
// All of it is called by the thread that owns the module.
#pragma once

#include "nearfield/thread_pool.h"

namespace nearfield::wasm {

// How many threads there will be, the calling one among them. Before page_threads().
void plan_threads(unsigned count);
// From now on they work. Their workers must be ready: waiting for one here would keep it from
// coming.
void start_threads();
// They end; the calling thread works alone again.
void stop_threads();
// Lives as long as the module.
ThreadPool* page_threads();

}  // namespace nearfield::wasm
