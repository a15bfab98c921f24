#include "base/stack_limit.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>

namespace dtnn {

std::string raise_stack_limit() {
    constexpr rlim_t kWanted = rlim_t{8} << 20, kLeast = rlim_t{1} << 20;
    rlimit limit{};
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kWanted) return "";
    // The system looks at the limit when the stack grows, so that a new one counts at once; threads
    // would have the limit that was there when the program began.
    pthread_attr_t of_threads;
    if (pthread_attr_init(&of_threads) == 0) {
        pthread_attr_setstacksize(&of_threads, kWanted);
        pthread_setattr_default_np(&of_threads);
        pthread_attr_destroy(&of_threads);
    }
    rlimit raised = {kWanted, std::max(limit.rlim_max, kWanted)};
    if (setrlimit(RLIMIT_STACK, &raised) == 0) return "";
    raised = {std::min(kWanted, limit.rlim_max), limit.rlim_max};
    if (setrlimit(RLIMIT_STACK, &raised) == 0) limit = raised;
    if (limit.rlim_cur >= kLeast) return "";
    return fmt::format("the stack may have {} KiB (ulimit -s), and {} are needed",
                       limit.rlim_cur >> 10U, kLeast >> 10U);
}

}  // namespace dtnn
