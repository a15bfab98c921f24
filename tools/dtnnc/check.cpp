#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "compiler/frontend/specs.hpp"
#include "compiler/support/diagnostics.hpp"
#include "tools/dtnnc/commands.hpp"

namespace dtnn::tools {

bool use_color(const std::string& color, std::FILE* stream) {
    if (color != "auto") return color == "always";
    const char* no_color = std::getenv("NO_COLOR");
    return isatty(fileno(stream)) && !(no_color && *no_color);
}

int print_diagnostics(const compiler::Diagnostics& diagnostics, const CommonOptions& options) {
    if (options.format == "json")
        fmt::print("{}", diagnostics.render_json());
    else if (!diagnostics.all().empty())
        fmt::print(stderr, "{}", diagnostics.render(use_color(options.color, stderr)));
    return diagnostics.exit_code();
}

int check(const std::vector<std::string>& specs, const CommonOptions& options) {
    const compiler::LoadOptions load{options.spec_path, options.settings};
    compiler::Diagnostics all;
    // Two jobs may share a broken model; its mistakes are reported once, so each file has its own
    // collector only in text, where one follows the other.
    int exit_code = 0;
    if (options.format == "json" || specs.size() == 1) {
        for (const std::string& spec : specs)
            check_spec(spec, load, all);
        return print_diagnostics(all, options);
    }
    std::string said;
    for (const std::string& spec : specs) {
        compiler::Diagnostics diagnostics;
        check_spec(spec, load, diagnostics);
        exit_code = std::max(exit_code, diagnostics.exit_code());
        const std::string text = diagnostics.render(use_color(options.color, stderr));
        if (said.find(text) == std::string::npos) said += text;
    }
    fmt::print(stderr, "{}", said);
    return exit_code;
}

}  // namespace dtnn::tools
