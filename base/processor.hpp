#pragma once
/// The processor that the program runs on.

#include <iosfwd>
#include <string>

namespace dtnn {

/// The processor's model as the system names it; of ARM, where it has numbers alone, these:
/// "implementer 0x41, architecture 8, variant 0x3, part 0xd0c, revision 1". Empty where it says
/// neither.
std::string processor_name();

/// The same of what the system tells of its processors (/proc/cpuinfo).
std::string processor_name(std::istream& told);

}  // namespace dtnn
