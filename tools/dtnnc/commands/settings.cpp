// dtnnc settings: everything of a job that is no layer, with where it comes from.

#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <set>

#include "base/json_text.hpp"
#include "base/table.hpp"
#include "compiler/frontend/read/resolve_spec.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/origins.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {
namespace {

constexpr int kAll = 1'000'000;  ///< columns

using compiler::Field;

/// The values of layers are in the resolved spec and in the summary.
bool is_layer(const plan::ResolvedValue& value) {
    return value.path.starts_with("model.layers.");
}

/// Settings that were left out and have no part in the plan are listed with what they mean.
void add_absent(std::vector<plan::ResolvedValue>& values, bool job) {
    std::set<std::string> there;
    for (const plan::ResolvedValue& value : values)
        there.insert(value.path);
    if (!job) return;
    for (const char* name : {"memory_budget", "threads"})
        if (!there.contains(name)) {
            const Field& field = *find_field(compiler::job_table(), name);
            values.insert(values.begin() + 1,
                          {name,
                           field.fallback ? compiler::to_json(*field.fallback) : "null",
                           plan::OriginKind::fallback,
                           {},
                           field.change.meaning,
                           std::string(field.change.reason)});
        }
}

std::string doc_of(const plan::ResolvedValue& value) {
    if (value.path.starts_with("model.parameters.")) return "a parameter of the model";
    const Field* field = compiler::field_of_path(value.path);
    return field ? std::string(field->doc) : "";
}

std::string unit_of(const plan::ResolvedValue& value) {
    const Field* field = compiler::field_of_path(value.path);
    return field ? std::string(field->unit) : "";
}

std::string settings_json(const std::string& name, const std::vector<plan::ResolvedValue>& values) {
    std::string text =
        fmt::format("{{\n  \"version\": 1,\n  \"source\": {},\n  \"settings\": [", json_text(name));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const plan::ResolvedValue& value = values[i];
        text += fmt::format(
            "{}\n    {{\"path\": {}, \"value\": {}, \"unit\": {}, \"origin\": \"{}\", \"place\": "
            "{}, \"doc\": {}}}",
            i == 0 ? "" : ",", json_text(value.path), value.value, json_text(unit_of(value)),
            origin_name(value), place_json(value), json_text(doc_of(value)));
    }
    return text + "\n  ]\n}\n";
}

Table settings_table(const std::vector<plan::ResolvedValue>& values) {
    Table table;
    for (const char* name : {"setting", "value", "unit", "origin", "what it is"})
        table.columns.push_back({name, false});
    for (const plan::ResolvedValue& value : values) {
        // Texts are read without their quotes; a setting that is left out shows nothing.
        std::string shown = value.value == "null" ? "" : value.value;
        if (shown.size() >= 2 && shown.front() == '"' && shown.find('\\') == std::string::npos)
            shown = shown.substr(1, shown.size() - 2);
        table.rows.push_back(
            {value.path, shown, unit_of(value), compiler::origin_text(value), doc_of(value)});
    }
    return table;
}

int settings(const std::string& spec_or_plan, const CommonOptions& options) {
    std::vector<plan::ResolvedValue> values;
    bool job = true;
    if (is_plan(spec_or_plan)) {
        refuse_spec_options(options, spec_or_plan);
        values = load_plan(spec_or_plan).values;
    } else {
        const compiler::LoadOptions load = load_options(options);
        compiler::Diagnostics diagnostics;
        compiler::ResolvedSpec spec = compiler::resolve_spec(spec_or_plan, load, diagnostics);
        if (diagnostics.has_errors() || options.format == Format::text) {
            CommonOptions said = options;
            if (said.format != Format::json) said.format = Format::text;
            const int exit_code = print_diagnostics(diagnostics, said);
            if (diagnostics.has_errors()) return exit_code;
        }
        values = std::move(spec.values);
        job = spec.kind == compiler::SpecKind::job;
        if (job || spec.kind == compiler::SpecKind::model) {
            // Behind the model's name and before what its layers make of them.
            auto at = values.begin();
            while (at != values.end() && at->path != "model.input.shape")
                ++at;
            const std::vector<plan::ResolvedValue> parameters =
                compiler::model_parameters(spec_or_plan, load);
            values.insert(at, parameters.begin(), parameters.end());
        }
    }
    std::erase_if(values, is_layer);
    if (!values.empty()) add_absent(values, job);
    if (options.format == Format::json)
        write_stdout(settings_json(spec_or_plan, values));
    else if (options.format == Format::markdown)
        write_stdout(markdown_table(settings_table(values)));
    else if (options.format == Format::csv)
        write_stdout(csv_table(settings_table(values)));
    else
        // Only a terminal's lines have an end; files get all of the last column.
        write_stdout(
            text_table(settings_table(values), ::isatty(STDOUT_FILENO) ? output_width() : kAll));
    return 0;
}

struct SettingsArguments {
    std::string source;
    CommonOptions common;
};

std::function<int()> declare_settings(OptionList& list) {
    auto given = std::make_shared<SettingsArguments>();
    list.argument("SPEC|PLAN", given->source, "A job, another spec or a plan");
    declare_common(list, given->common,
                   {Format::text, Format::markdown, Format::csv, Format::json});
    return [given] { return settings(given->source, given->common); };
}

const RegisteredCommand kSettingsCommand(
    {.name = "settings",
     .doc = "Lists every setting of a job outside its layers",
     .place = 70,
     .declare = declare_settings,
     .purpose = Purpose::look,
     .exits = {{ExitCode::failed}, {ExitCode::invalid_spec}, {ExitCode::mismatch}},
     .examples = {{"dtnnc settings job.yaml", "values, units, and who has said them"},
                  {"dtnnc settings plan.json --format csv", "what a plan was compiled from"}}});

}  // namespace

}  // namespace dtnn::tools
