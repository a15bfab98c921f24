#pragma once
/// `dtnnc tune`: the fastest engines of NVIDIA's libraries, by measuring them on this machine.

#include <string>

namespace dtnn::tools {

struct TuneCommand {
    std::string plan;    ///< for a device
    std::string output;  ///< empty: PLAN with ".tuned.json" in place of ".json"
    int repeats = 20;    ///< runs of an engine
};

/// Writes the plan with the engines that it found, and a table of them.
int tune_plan(const TuneCommand& command);

}  // namespace dtnn::tools
