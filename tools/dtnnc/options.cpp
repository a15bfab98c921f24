#include "tools/dtnnc/options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/spec_folders.hpp"
#include "base/standard_input.hpp"
#include "compiler/frontend/compose/spec_files.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/runtime_library.hpp"
#include "tools/dtnnc/standard_input.hpp"

namespace dtnn::tools {
namespace {

/// Looks into the files of a dataset, where the runtime's readers are here.
std::optional<compiler::DataFault> find_data(plan::Dataset& dataset) {
    try {
        return runtime_library().find_data(dataset);
    } catch (const NoRuntimeLibrary& error) {
        return compiler::DataFault{error.what(), error.help()};
    }
}

}  // namespace

void declare_format(OptionList& list, CommonOptions& options, const std::vector<Format>& formats) {
    list.one_of("--format", options.format, "Form of what is printed", formats);
    list.text("--color", options.color, "Colours; auto: on a terminal, and obeys NO_COLOR",
              {.choices = {"auto", "always", "never"}});
}

void declare_set(OptionList& list, CommonOptions& options) {
    list.list("--set", options.settings, "Sets a field, as in training.batch_size=128",
              {.value = "PATH=VALUE"});
}

void declare_lints(OptionList& list, CommonOptions& options) {
    options.lint = true;
    list.flag("--strict", options.strict, "Makes warnings errors");
    const auto& lints = compiler::lint_names();
    list.list("--allow", options.allow, "Does not warn of a lint, by its code, as in no-shuffle",
              {.value = "LINT", .offers = {lints.begin(), lints.end()}});
}

void settle_warnings(const CommonOptions& options, compiler::Diagnostics& diagnostics) {
    if (options.strict) diagnostics.raise_warnings();
}

void declare_spec_path(OptionList& list, CommonOptions& options) {
    list.list("--spec-path", options.spec_path,
              "Folder with specs, searched before DTNN_SPEC_PATH and the installed ones",
              {.value = "FOLDER"});
    list.when_read([&options] {
        for (std::string& folder : spec_folders())
            options.spec_path.push_back(std::move(folder));
    });
}

void declare_common(OptionList& list, CommonOptions& options, const std::vector<Format>& formats) {
    declare_format(list, options, formats);
    list.number("--max-errors", options.max_errors,
                "Most errors that are shown as text; 0 shows all",
                {.lowest = 0, .shows_default = true});
    declare_set(list, options);
    list.number("--ranks", options.ranks,
                "Ranks that the figures are for; a job that does not say how many share its "
                "data has just so many",
                {.lowest = 1, .highest = 1'000'000});
    declare_spec_path(list, options);
}

compiler::LoadOptions load_options(const CommonOptions& options) {
    for (const std::string& code : options.allow) {
        if (compiler::find_lint(code)) continue;
        const auto& names = compiler::lint_names();
        const auto near = compiler::did_you_mean(code, {names.begin(), names.end()});
        throw UsageError(fmt::format("--allow {}: no lint has that code\nhelp: {}", code,
                                     near ? fmt::format("did you mean `{}`?", *near)
                                          : fmt::format("there are {}", fmt::join(names, ", "))));
    }
    compiler::LoadOptions load{options.spec_path, options.settings, {},          options.ranks,
                               find_data,         options.allow,    options.lint};
    if (const std::string* read = standard_input_read()) load.texts.emplace(kStandardInput, *read);
    return load;
}

void refuse_spec_options(const CommonOptions& options, const std::string& plan) {
    if (!options.settings.empty())
        throw UsageError(fmt::format("--set changes specs; {} is a plan", plan));
    if (options.ranks > 0)
        throw UsageError(
            fmt::format("--ranks says what a spec is compiled for; {} is a plan", plan));
}

bool use_color(const std::string& color, std::FILE* stream) {
    if (color != "auto") return color == "always";  // The option's words: read here alone.
    const char* no_color = std::getenv("NO_COLOR");
    return isatty(fileno(stream)) && !(no_color && *no_color);
}

int print_diagnostics(const compiler::Diagnostics& diagnostics, const CommonOptions& options) {
    if (options.format == Format::json)
        write_stdout(diagnostics.render_json());
    else if (!diagnostics.all().empty())
        write_stderr_bytes(
            diagnostics.render(use_color(options.color, stderr), options.max_errors));
    return diagnostics.exit_code();
}

}  // namespace dtnn::tools
