#pragma once
/// The plans that fuzzed programs begin with: those of tests/fuzz/plans, which tools/fuzz compiles
/// into the folder that DTNN_FUZZ_PLANS names.

#include <string>
#include <vector>

#include "base/json.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/exec/load.hpp"

namespace dtnn::fuzz {

struct SamplePlan {
    runtime::LoadedPlan loaded;
    Json content;  ///< without the first line's format and checksum
    int ranks = 1;
};

/// Ends the program where there are none.
const std::vector<SamplePlan>& sample_plans();

/// A plan's text with the checksum that belongs to it.
std::string plan_text(const Json& content);

/// Says why and aborts: no input may lead here.
[[noreturn]] void fail(const char* why);

/// That a user can do something about it: not an internal error, in UTF-8.
void check_message(const runtime::RunError& error);

}  // namespace dtnn::fuzz
