#include "base/processor.hpp"

#include <doctest/doctest.h>

#include <sstream>

namespace dtnn {
namespace {

std::string name_in(const std::string& text) {
    std::istringstream told(text);
    return processor_name(told);
}

TEST_CASE("a processor has the name that the system gives it, or the numbers of its first core") {
    CHECK(name_in("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
                  "model name\t: Intel(R) Xeon(R) Processor @ 2.10GHz\ncpu MHz\t\t: 2100.000\n\n"
                  "processor\t: 1\nmodel name\t: another\n") ==
          "Intel(R) Xeon(R) Processor @ 2.10GHz");
    CHECK(name_in("processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm\n"
                  "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
                  "CPU part\t: 0xd0c\nCPU revision\t: 1\n\n"
                  "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n") ==
          "implementer 0x41, architecture 8, variant 0x3, part 0xd0c, revision 1");
    CHECK(name_in("").empty());
    CHECK(name_in("processor\t: 0\nmodel name\nCPU part\t:\n: \n").empty());
}

}  // namespace
}  // namespace dtnn
