#include "runtime/base/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/processor.hpp"
#include "runtime/base/environment.hpp"

namespace dtnn::runtime {
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
