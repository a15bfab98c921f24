#include "runtime/base/other_load.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace dtnn::runtime {
namespace {

/// The system counts in ticks of a hundredth of a second.
constexpr double kLeastSeconds = 0.2;

double seconds_of(const timeval& time) {
    return double(time.tv_sec) + 1e-6 * double(time.tv_usec);
}

}  // namespace

OtherLoad::OtherLoad() : last_(count()) {}

OtherLoad::Count OtherLoad::count() {
    Count count;
    cpu_set_t cores;
    rusage used{};
    const double ticks = double(::sysconf(_SC_CLK_TCK));
    if (::sched_getaffinity(0, sizeof cores, &cores) != 0 || ticks <= 0 ||
        ::getrusage(RUSAGE_SELF, &used) != 0)
        return count;
    count.own = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    // "cpu3 user nice system idle iowait irq softirq steal guest guest_nice"
    std::ifstream file("/proc/stat");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("cpu") || line.size() < 4 || line[3] < '0' || line[3] > '9') continue;
        std::istringstream fields(line.substr(3));
        std::size_t core = 0;
        double times[8] = {};
        fields >> core;
        for (double& time : times)
            fields >> time;
        if (!fields || core >= CPU_SETSIZE || !CPU_ISSET(core, &cores)) continue;
        count.known = true;
        for (int i = 0; i < 8; ++i) {
            count.all += times[i] / ticks;
            if (i != 3 && i != 4) count.busy += times[i] / ticks;
        }
    }
    return count;
}

double OtherLoad::take() {
    const Count now = count();
    const double all = now.all - last_.all;
    if (!now.known || !last_.known || all < kLeastSeconds) return -1;
    const double others = (now.busy - last_.busy) - (now.own - last_.own);
    last_ = now;
    return std::clamp(others / all, 0.0, 1.0);
}

}  // namespace dtnn::runtime
