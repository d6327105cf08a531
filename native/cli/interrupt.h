// Ctrl-C (and a polite kill) as a question that long commands ask between two pieces of work.
#pragma once

namespace nearfield::cli {

// From now on the first signal is only noted; a second one ends the program at once.
void watch_interrupts();
bool interrupted();
// Throws a Failure when the signal came.
void stop_if_interrupted();

}  // namespace nearfield::cli
