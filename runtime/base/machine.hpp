#pragma once
/// The machine that a run is on, for histories and reports. Nothing is decided by it.

#include <cstdint>
#include <string>

namespace dtnn::runtime {

struct Machine {
    std::string host;
    std::string system;     ///< "Linux 6.1.0-18-amd64 x86_64"
    std::string processor;  ///< the model's name as the system gives it; may be empty
    int processors = 0;     ///< that this process may run on
    std::int64_t memory_bytes = 0;
};

Machine this_machine();

}  // namespace dtnn::runtime
