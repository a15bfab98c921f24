#include "runtime/base/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

#include "runtime/base/environment.hpp"

namespace dtnn::runtime {
namespace {

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("model name")) continue;
        const std::size_t colon = line.find(": ");
        if (colon != std::string::npos) return line.substr(colon + 2);
    }
    return "";
}

}  // namespace

Machine this_machine() {
    Machine machine;
    utsname names{};
    if (::uname(&names) == 0) {
        machine.host = names.nodename;
        machine.system = fmt::format("{} {} {}", names.sysname, names.release, names.machine);
    }
    machine.processor = processor_name();
    machine.processors = processor_count();
    machine.memory_bytes =
        std::int64_t(::sysconf(_SC_PHYS_PAGES)) * std::int64_t(::sysconf(_SC_PAGESIZE));
    return machine;
}

}  // namespace dtnn::runtime
