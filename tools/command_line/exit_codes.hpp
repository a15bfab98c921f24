#pragma once
/// The exit codes of both programs.

#include <span>

namespace dtnn::tools {

enum class ExitCode : int {
#define DTNN_EXIT_CODE(name, code, meaning) name = code,
#include "tools/command_line/exit_codes.def"
#undef DTNN_EXIT_CODE
};

struct ExitMeaning {
    ExitCode code;
    const char* meaning;
};

/// All of them, the lowest first.
std::span<const ExitMeaning> exit_meanings();

/// Null where no code is so.
const char* meaning_of(int code);

}  // namespace dtnn::tools
