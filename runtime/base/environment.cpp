#include "runtime/base/environment.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "base/text.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

int parse_thread_count(const std::string& text) {
    const RunError garbage(Exit::usage,
                           fmt::format("OMP_NUM_THREADS is `{}`, not a number of threads", text),
                           "set it to a whole number from 1 to 65536, or unset it");
    std::string_view rest = text;
    const auto skip_blanks = [&rest] {
        while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t'))
            rest.remove_prefix(1);
    };
    int first = 0;
    while (true) {
        skip_blanks();
        int value = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc() || value < 1 || value > 65536) throw garbage;
        if (first == 0) first = value;
        rest.remove_prefix(std::size_t(end - rest.data()));
        skip_blanks();
        if (rest.empty()) return first;
        if (rest.front() != ',') throw garbage;
        rest.remove_prefix(1);
    }
}

std::optional<int> threads_from_environment() {
    const char* value = std::getenv("OMP_NUM_THREADS");
    if (value == nullptr || *value == '\0') return std::nullopt;
    return parse_thread_count(value);
}

ThreadChoice choose_threads(int planned, std::optional<int> wanted) {
    if (!wanted || *wanted == planned) return {planned, ""};
    if (*wanted < planned) return {*wanted, ""};
    return {planned,
            fmt::format("OMP_NUM_THREADS is {}, but the plan's workspaces are laid out for {}; "
                        "running with {}\nhelp: compile the plan again with --threads {}",
                        *wanted, count_text(planned, "thread"), planned, *wanted)};
}

int processor_count() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    const unsigned count = std::thread::hardware_concurrency();
    return count == 0 ? 1 : int(count);
}

}  // namespace dtnn::runtime
