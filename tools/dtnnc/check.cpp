#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "compiler/frontend/specs.hpp"
#include "compiler/support/diagnostics.hpp"
#include "tools/dtnnc/commands.hpp"
#include "tools/dtnnc/plan_source.hpp"

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
        fmt::print(stderr, "{}",
                   diagnostics.render(use_color(options.color, stderr), options.max_errors));
    return diagnostics.exit_code();
}

int check(const std::vector<std::string>& specs, const CommonOptions& options) {
    const compiler::LoadOptions load = load_options(options);
    compiler::Diagnostics all;
    for (const std::string& spec : specs) {
        // Every spec is judged by itself; what two of them share and break is said once.
        compiler::Diagnostics own;
        check_spec(spec, load, own);
        all.merge(own);
    }
    return print_diagnostics(all, options);
}

}  // namespace dtnn::tools
