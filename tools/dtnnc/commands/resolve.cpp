#include <fmt/format.h>

#include <memory>

#include "base/json_text.hpp"
#include "compiler/frontend/read/resolve_spec.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/origins.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {
namespace {

std::string resolved_json(const compiler::ResolvedSpec& spec, const std::string& path) {
    std::string text =
        fmt::format("{{\n  \"version\": 1,\n  \"spec\": {},\n  \"kind\": \"{}\",\n  \"values\": [",
                    json_text(path), plan::name_of(spec.kind));
    bool first = true;
    for (const plan::ResolvedValue& value : spec.values) {
        text += fmt::format(
            "{}\n    {{\"path\": {}, \"value\": {}, \"origin\": \"{}\", \"place\": {}}}",
            first ? "" : ",", json_text(value.path), value.value, origin_name(value),
            place_json(value));
        first = false;
    }
    return text + "\n  ]\n}\n";
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
    if (diagnostics.has_errors() || options.format != Format::json) {
        const int exit_code = print_diagnostics(diagnostics, options);
        if (diagnostics.has_errors()) return exit_code;
    }
    // The words of --origins are read here alone.
    const std::string text = options.format == Format::json ? resolved_json(resolved, spec)
                             : origins == "none"            ? resolved.text
                                                            : compiler::text_with_origins(resolved);
    if (output.empty() || output == "-") {
        write_stdout(text);
    } else {
        write_file(output, text);
        tell_written(output);
    }
    return 0;
}

struct ResolveArguments {
    std::string spec, output;
    std::string origins = "comment";
    CommonOptions common;
};

std::function<int()> declare_resolve(OptionList& list) {
    auto given = std::make_shared<ResolveArguments>();
    list.argument("SPEC", given->spec, "A spec of any kind");
    list.text("-o,--output", given->output, "File of the document; default standard output",
              {.value = "FILE"});
    list.text("--origins", given->origins, "comment: beside each value; none: only the document",
              {.choices = {"comment", "none"}});
    declare_common(list, given->common);
    return [given] { return resolve(given->spec, given->output, given->origins, given->common); };
}

const RegisteredCommand kResolveCommand(
    {.name = "resolve",
     .doc = "Prints a spec with everything said, and where each value comes from",
     .place = 60,
     .declare = declare_resolve,
     .purpose = Purpose::look,
     .exits = {{ExitCode::failed}, {ExitCode::invalid_spec}, {ExitCode::mismatch}},
     .examples = {{"dtnnc resolve job.yaml", "the whole job as one document, with origins"},
                  {"dtnnc resolve job.yaml --origins none -o whole.yaml",
                   "a spec that needs no other file"}}});

}  // namespace

}  // namespace dtnn::tools
