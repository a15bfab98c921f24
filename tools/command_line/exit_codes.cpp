#include "tools/command_line/exit_codes.hpp"

namespace dtnn::tools {

std::span<const ExitMeaning> exit_meanings() {
    static constexpr ExitMeaning kMeanings[] = {
#define DTNN_EXIT_CODE(name, code, meaning) {ExitCode::name, meaning},
#include "tools/command_line/exit_codes.def"
#undef DTNN_EXIT_CODE
    };
    return kMeanings;
}

const char* meaning_of(int code) {
    for (const ExitMeaning& one : exit_meanings())
        if (int(one.code) == code) return one.meaning;
    return nullptr;
}

}  // namespace dtnn::tools
