#include "interrupt.h"

#include <csignal>

#include "failure.h"

namespace nearfield::cli {
namespace {

volatile std::sig_atomic_t noted = 0;

void note(int) { noted = 1; }

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return noted != 0; }

void stop_if_interrupted() {
  if (interrupted()) throw Failure(kInterrupted, "interrupted; the store is as it was before");
}

}  // namespace nearfield::cli
