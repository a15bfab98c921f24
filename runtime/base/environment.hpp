#pragma once
/// The environment's words about a run.

#include <optional>
#include <string>

namespace dtnn::runtime {

/// The number that an OMP_NUM_THREADS value gives: a positive whole number, or the first of a list
/// ("4,2", as OpenMP defines it). Anything else is a RunError (usage).
int parse_thread_count(const std::string& text);

/// OMP_NUM_THREADS, or nothing when it is unset or empty.
std::optional<int> threads_from_environment();

struct ThreadChoice {
    int threads = 1;
    std::string warning;  ///< empty: none
};
/// The threads of a run: no more than the plan's workspaces are laid out for.
ThreadChoice choose_threads(int planned, std::optional<int> wanted);

/// Threads that this process may really run at the same time.
int processor_count();

}  // namespace dtnn::runtime
