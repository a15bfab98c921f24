#pragma once
/// Saying which rank has died.

#include <optional>

namespace dtnn {

/// The name of a rank's parent in /proc.
constexpr const char* kWatcherName = "dtnn-run-watch";

/// Forks where this process is one rank of several, before anything else is done, and the child
/// goes on as the rank. The parent waits for it, passes signals on, and when a signal has killed it
/// (SIGKILL for want of memory, say), which the rank itself cannot tell any more, says which rank
/// it was. Its exit code goes through; after one that ends the job the launcher is told to end the
/// others with the same code.
///
/// The rank's process dies with its parent, so a launcher that kills the one kills both; it leaves
/// a note of that. The parent ends, with the rank, when the launcher is gone. A rank that is
/// stopped (SIGSTOP) when a signal asks the job to end is killed 10 s later.
/// Gives the exit code in the parent, nothing in the rank and where there is one rank.
std::optional<int> watch_rank();

}  // namespace dtnn
