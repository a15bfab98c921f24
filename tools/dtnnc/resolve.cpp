#include <fmt/format.h>

#include "compiler/frontend/read/resolve_spec.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "tools/dtnnc/commands.hpp"
#include "tools/dtnnc/origins.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {
namespace {

std::string resolved_json(const compiler::ResolvedSpec& spec, const std::string& path) {
    std::string text =
        fmt::format("{{\n  \"version\": 1,\n  \"spec\": {},\n  \"kind\": \"{}\",\n  \"values\": [",
                    compiler::json_quoted(path), spec.kind);
    bool first = true;
    for (const plan::ResolvedValue& value : spec.values) {
        text += fmt::format(
            "{}\n    {{\"path\": {}, \"value\": {}, \"origin\": \"{}\", \"place\": {}}}",
            first ? "" : ",", compiler::json_quoted(value.path), value.value, origin_name(value),
            place_json(value));
        first = false;
    }
    return text + "\n  ]\n}\n";
}

}  // namespace

std::string origin_name(const plan::ResolvedValue& value) {
    switch (value.origin) {
        case plan::OriginKind::file:
            return "file";
        case plan::OriginKind::command_line:
            return "command_line";
        case plan::OriginKind::fallback:
            break;
    }
    return "default";
}

std::string place_json(const plan::ResolvedValue& value) {
    if (value.origin == plan::OriginKind::fallback) return "null";
    if (value.origin == plan::OriginKind::command_line)
        return fmt::format("{{\"argument\": {}}}", compiler::json_quoted(value.place.file));
    return fmt::format("{{\"file\": {}, \"line\": {}, \"column\": {}}}",
                       compiler::json_quoted(value.place.file), value.place.line,
                       value.place.column);
}

int resolve(const std::string& spec, const std::string& output, const std::string& origins,
            const CommonOptions& options) {
    if (is_plan(spec))
        throw UsageError(fmt::format(
            "{} is a plan, not a spec\nhelp: a plan holds its resolved spec; dtnn-run writes it as "
            "resolved.yaml, and `dtnnc settings` lists its values",
            spec));
    compiler::Diagnostics diagnostics;
    const compiler::ResolvedSpec resolved =
        compiler::resolve_spec(spec, load_options(options), diagnostics);
    if (diagnostics.has_errors() || options.format != "json") {
        const int exit_code = print_diagnostics(diagnostics, options);
        if (diagnostics.has_errors()) return exit_code;
    }
    const std::string text = options.format == "json" ? resolved_json(resolved, spec)
                             : origins == "none"      ? resolved.text
                                                      : compiler::text_with_origins(resolved);
    if (output.empty() || output == "-")
        write_stdout(text);
    else
        write_file(output, text);
    return 0;
}

}  // namespace dtnn::tools
