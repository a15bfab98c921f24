// dtnnc explain WORD or PLAN, or the list of words.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/json_text.hpp"
#include "base/spec_folders.hpp"
#include "base/standard_input.hpp"
#include "compiler/frontend/compose/spec_files.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/support/diagnostics.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/explain/explain_formula.hpp"
#include "tools/dtnnc/explain/explain_index.hpp"
#include "tools/dtnnc/explain/explain_plan.hpp"
#include "tools/dtnnc/explain/explain_topics.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"
#include "tools/dtnnc/standard_input.hpp"

namespace dtnn::tools {
namespace {

// 2: sections are objects; 1: they were texts.
constexpr int kVersion = 2;
constexpr std::size_t kWidth = 100;

/// "  " and the names, in lines of at most kWidth columns.
std::string wrapped(const std::vector<std::string>& names) {
    std::string text, line = " ";
    for (const std::string& name : names) {
        if (line.size() + name.size() + 2 > kWidth) {
            text += line + "\n";
            line.assign(1, ' ');
        }
        line += " " + name;
    }
    return text + line + "\n";
}

/// Lines that are too long for the width, broken at spaces; what is behind a field's name stays
/// below itself. Examples, which are indented by four, stay as they are.
std::string folded(const std::string& text, std::size_t width) {
    constexpr std::size_t kFieldColumn = 23;
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line = std::string_view(text).substr(at, end - at);
        at = end + 1;
        const std::size_t blanks = line.find_first_not_of(' ');
        const std::string indent(blanks == 2 || blanks == kFieldColumn ? kFieldColumn : 0, ' ');
        std::size_t room = width;
        while (line.size() > room && blanks != 4 && room > kFieldColumn) {
            const std::size_t space = line.rfind(' ', room);
            if (space == std::string_view::npos || space < blanks + 1) break;
            result.append(line.substr(0, space)).append("\n").append(indent);
            line.remove_prefix(space + 1);
            room = width - indent.size();
        }
        result.append(line).append("\n");
    }
    return result;
}

std::string json_list(const std::vector<std::string>& items) {
    return fmt::format("[{}]", fmt::join(items, ","));
}

int list_groups(bool json) {
    std::vector<std::string> objects;
    for (const TopicGroup& group : topic_groups()) {
        if (!json) {
            write_stdout(fmt::format("{}:\n{}\n", group.title, wrapped(group.names)));
            continue;
        }
        std::vector<std::string> names;
        for (const std::string& name : group.names)
            names.push_back(json_text(name));
        objects.push_back(
            fmt::format("{{\"title\":{},\"names\":{}}}", json_text(group.title), json_list(names)));
    }
    if (json)
        write_stdout(
            fmt::format("{{\"version\":{},\"groups\":{}}}\n", kVersion, json_list(objects)));
    else
        write_stdout(
            "and every field, by its name (`filters`) or with its owner (`conv2d.filters`, "
            "`training.batch_size`):\ndtnnc explain WORD\n");
    return 0;
}

int explain_plan(const std::string& path, const std::string& word, bool json) {
    const plan::Plan plan = load_plan(path);
    const std::string text = explain_plan_text(plan, word);
    if (text.empty())
        throw UsageError(
            fmt::format("no step, layer, operator or kernel of {} holds `{}`\n"
                        "help: `dtnnc explain {}` lists them",
                        path, word, path));
    if (json)
        write_stdout(explain_plan_json(plan, word));
    else
        write_stdout(word.empty() ? text + precision_advice(plan) : text);
    return 0;
}

/// How a spec of the kind is taken up by its name.
std::string use_of(const compiler::KindInfo& kind, const std::string& name) {
    if (kind.kind == compiler::SpecKind::operation)
        return fmt::format("a model takes it up: `operators: [{0}]`, and layers use it: `- {0}`",
                           name);
    if (kind.kind == compiler::SpecKind::job)
        return fmt::format("`dtnnc compile {}` compiles it", name);
    return fmt::format("a {} takes it up: `{}: {}`",
                       kind.kind == compiler::SpecKind::loss ? "training" : "job", kind.name, name);
}

/// Specs by that name, which are no words of the language.
std::vector<Topic> specs_named(const std::string& name, const CommonOptions& options) {
    namespace fs = std::filesystem;
    std::vector<Topic> found;
    if (!compiler::may_be_reference(name) || compiler::is_path(name)) return found;
    std::vector<std::string> folders = options.spec_path;
    for (const std::string& folder : spec_folders())
        folders.push_back(folder);
    for (const compiler::KindInfo& kind : compiler::all_kinds())
        for (const std::string& folder : folders) {
            const std::vector<fs::path> files =
                compiler::files_named(name, fs::path(folder) / kind.folder, true);
            if (files.empty()) continue;
            const std::string group = fmt::format("a spec of kind {}", kind.name);
            found.push_back({name, group,
                             fmt::format("{} - {}\n\n{}\n\n{}\n", name, group, files[0].string(),
                                         use_of(kind, name))});
            break;
        }
    return found;
}

int explain(const std::string& word, const std::string& part, const CommonOptions& options) {
    const bool json = options.format == Format::json;
    if (is_plan(word)) return explain_plan(word, part, json);
    if (!part.empty())
        throw UsageError(
            fmt::format("{}: what stands behind {} is of a plan, and that is none", part, word));
    if (word.empty()) return list_groups(json);
    std::vector<Topic> found;
    if (const std::size_t at = word.rfind('#'); at != std::string::npos) {
        compiler::Diagnostics diagnostics;
        std::string mistake;
        std::string file = word.substr(0, at);
        if (file == "-") {
            file = kStandardInput;
            standard_input();
        }
        const auto topic =
            explain_formula(file, word.substr(at + 1), options, diagnostics, mistake);
        if (!mistake.empty()) throw UsageError(mistake);
        if (!topic) return print_diagnostics(diagnostics, options);
        found.push_back(*topic);
    } else {
        found = topics_of(word);
        if (found.empty()) found = specs_named(word, options);
        // Words of the language first, then the pages that tell of what people look for.
        if (const auto pages = index_topic(word)) found.push_back(*pages);
    }
    if (found.empty()) {
        write_stderr(fmt::format("dtnnc: nothing is named `{}`\n", word));
        std::vector<std::string> words = topic_words();
        for (std::string& one : index_words())
            words.push_back(std::move(one));
        if (const auto near = compiler::did_you_mean(word, words))
            write_stderr(fmt::format("help: did you mean `{}`?\n", *near));
        else
            write_stderr("help: `dtnnc explain` alone lists the words there are\n");
        return 2;
    }
    std::vector<std::string> sections;
    for (const Topic& topic : found)
        sections.push_back(json ? fmt::format("{{\"name\":{},\"group\":{},\"text\":{}}}",
                                              json_text(topic.name), json_text(topic.group),
                                              json_text(topic.text))
                                : topic.text);
    if (json)
        write_stdout(fmt::format("{{\"version\":{},\"word\":{},\"sections\":{}}}\n", kVersion,
                                 json_text(word), json_list(sections)));
    else if (const std::string text = fmt::format("{}", fmt::join(sections, "\n"));
             isatty(STDOUT_FILENO) != 0)
        write_stdout(folded(text, std::size_t(output_width())));
    else
        write_stdout(text);
    return 0;
}

struct ExplainArguments {
    std::string word, part;
    CommonOptions common;
};

std::function<int()> declare_explain(OptionList& list) {
    auto given = std::make_shared<ExplainArguments>();
    list.argument("WORD|PLAN", given->word,
                  "What to explain; FILE#NAME: an operator that a spec declares, or its `loss`; "
                  "a plan: its kernels, others there were, and why not those; without it, the "
                  "words there are",
                  false);
    list.argument("PART", given->part,
                  "Of a plan: a step, layer, operator or kernel, or a part of its name", false);
    declare_format(list, given->common);
    declare_spec_path(list, given->common);
    return [given] { return explain(given->word, given->part, given->common); };
}

const RegisteredCommand kExplainCommand(
    {.name = "explain",
     .doc = "Explains an operator, a field, a word of the language, a diagnostic, a kernel, or a "
            "plan's choice of kernels",
     .place = 120,
     .declare = declare_explain,
     .purpose = Purpose::learn,
     .exits = {{ExitCode::failed}, {ExitCode::invalid_spec}, {ExitCode::mismatch}},
     .examples = {{"dtnnc explain conv2d", "an operator: fields, shapes, an example"},
                  {"dtnnc explain training.batch_size", "a field"},
                  {"dtnnc explain unknown-field", "a diagnostic: what it means, what to do"},
                  {"dtnnc explain plan.json conv2d",
                   "the kernels of a plan, others there were, and why not those"}}});

}  // namespace

}  // namespace dtnn::tools
