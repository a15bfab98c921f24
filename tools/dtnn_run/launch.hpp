#pragma once
/// Starting ranks, and saying which of them has died.

#include <optional>
#include <string>
#include <vector>

namespace dtnn {

/// Where this process is one rank of several: forks, before anything else is done, and the child
/// goes on as the rank. The parent waits for it, passes signals on, and when a signal has killed it
/// (SIGKILL for want of memory, say), which the rank itself cannot tell any more, says which rank
/// it was. Its exit code goes through; after one that ends the job the launcher is told to end the
/// others with the same code.
///
/// The rank's process dies with its parent, so a launcher that kills the one kills both.
/// Gives the exit code in the parent, nothing in the rank and where there is one rank.
std::optional<int> watch_rank();

/// Runs `mpiexec -n RANKS dtnn-run WORDS`, without the option --ranks in them, and ends with its
/// exit code; where mpiexec has lost it, which it may after a signal, with rank 0's. Signals that
/// reach this process go on to mpiexec, which hands SIGTERM, SIGUSR1 and Ctrl-C to the ranks. Does
/// not return; RunError where there is no mpiexec of MPICH's, or this process is a rank already.
[[noreturn]] void start_ranks(int ranks, const std::vector<std::string>& words);

/// WORDS without --ranks and its number.
std::vector<std::string> without_ranks(const std::vector<std::string>& words);

}  // namespace dtnn
