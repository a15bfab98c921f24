// check, compile and summary of every combination of --sweep.

#include "tools/dtnnc/sweep/sweep_commands.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <map>

#include "base/folders.hpp"
#include "base/quantity_text.hpp"
#include "base/table.hpp"
#include "base/text.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/specs.hpp"
#include "plan/json/json.hpp"
#include "plan/summary/summary.hpp"
#include "plan/sweep_index.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"
#include "tools/dtnnc/sweep/sweep.hpp"

namespace dtnn::tools {
namespace {

namespace fs = std::filesystem;

/// The diagnostics of all combinations: each mistake once, with the combinations that have it.
class SweepDiagnostics {
  public:
    void add(const compiler::Diagnostics& own, const Combination& combination) {
        ++combinations_;
        texts_.merge(own);
        for (const compiler::Diagnostic& one : own.all()) {
            const compiler::Place& place = one.span.place;
            const std::string key =
                fmt::format("{}:{}:{}:{}:{}", int(one.code), file_of(place), place.line,
                            place.column, place.file.empty() ? one.text : "");
            const auto [found, fresh] = indices_.emplace(key, findings_.size());
            if (fresh) findings_.push_back({one, describe(combination), 0});
            ++findings_[found->second].count;
        }
    }

    compiler::Diagnostics all() const {
        compiler::Diagnostics result;
        const auto show = [&](const compiler::Span& span) {
            if (const std::string* text = texts_.file_text(span.place.file))
                result.add_file(span.place.file, *text);
        };
        for (const Finding& finding : findings_) {
            show(finding.diagnostic.span);
            for (const auto* notes : {&finding.diagnostic.notes, &finding.diagnostic.chain})
                for (const compiler::Note& note : *notes)
                    show(note.span);
            compiler::Diagnostic& copy =
                finding.diagnostic.severity == compiler::Severity::error
                    ? result.error(finding.diagnostic.code, finding.diagnostic.span, "")
                    : result.warning(finding.diagnostic.code, finding.diagnostic.span, "");
            copy = finding.diagnostic;
            copy.notes.push_back({{}, where(finding)});
        }
        return result;
    }

  private:
    /// The settings of one path are one place to mistakes in the path: every value has them.
    static std::string file_of(const compiler::Place& place) {
        const std::size_t equals = place.file.find('=');
        const bool in_path = place.file.starts_with("--set ") && equals != std::string::npos &&
                             place.column <= int(equals);
        return in_path ? place.file.substr(0, equals) : place.file;
    }

    struct Finding {
        compiler::Diagnostic diagnostic;  ///< of the first combination that has it
        std::string first;
        int count = 0;
    };

    std::string where(const Finding& finding) const {
        if (finding.count == 1) return fmt::format("in the combination {}", finding.first);
        return fmt::format("in {} of the {} combinations, first in {}", finding.count,
                           combinations_, finding.first);
    }

    compiler::Diagnostics texts_;
    std::vector<Finding> findings_;
    std::map<std::string, std::size_t> indices_;
    int combinations_ = 0;
};

CommonOptions with_settings(const CommonOptions& options, const Combination& combination) {
    CommonOptions result = options;
    result.settings.insert(result.settings.end(), combination.settings.begin(),
                           combination.settings.end());
    return result;
}

plan::SweptPlan describe_plan(const Combination& combination, const plan::Plan& plan) {
    plan::SweptPlan entry;
    entry.settings = combination.settings;
    for (const plan::Layer& layer : plan.layers)
        entry.parameters += layer.parameters;
    entry.arena_bytes = plan.memory.arena;
    const plan::Work work = plan::work_of(plan);
    entry.forward_flops_per_sample = work.forward_flops_per_sample;
    entry.train_step_flops = work.train_step_flops;
    return entry;
}

/// The index of a sweep, but for its plans.
plan::SweepIndex begin_index(const std::string& spec, const std::vector<Sweep>& sweeps,
                             const CommonOptions& options) {
    plan::SweepIndex index;
    index.spec = spec;
    index.settings = options.settings;
    for (const Sweep& sweep : sweeps)
        index.sweeps.push_back({sweep.path, sweep.values});
    return index;
}

std::string entry_table(const plan::SweepIndex& index, Format format) {
    Table table;
    for (const plan::SweptSetting& sweep : index.sweeps)
        table.columns.push_back({sweep.path, true});
    const bool plain = format == Format::csv;  // for programs: numbers as the index has them
    const char* const names[] = {"parameters", plain ? "arena_bytes" : "arena",
                                 plain ? "train_step_flops" : "work per step"};
    for (const char* name : names)
        table.columns.push_back({name, true});
    const bool files = !index.plans.empty() && !index.plans[0].file.empty();
    if (files) table.columns.push_back({"file", false});
    for (const plan::SweptPlan& one : index.plans) {
        std::vector<std::string> row;
        for (std::size_t i = 0; i < index.sweeps.size(); ++i)
            row.push_back(one.value(i));
        const auto flops = one.train_step_flops;
        row.push_back(plain ? fmt::to_string(one.parameters) : grouped(one.parameters));
        row.push_back(plain ? fmt::to_string(one.arena_bytes) : bytes_text(one.arena_bytes));
        row.push_back(plain ? fmt::to_string(flops) : flops_text(double(flops)));
        if (files) row.push_back(one.file);
        table.rows.push_back(std::move(row));
    }
    if (format == Format::markdown) return markdown_table(table);
    if (plain) return csv_table(table);
    // The names of files are copied from here; none is cut.
    return text_table(table, 1000);
}

/// The folder of a sweep, which takes its name when it is complete.
class SweepFolder {
  public:
    explicit SweepFolder(const std::string& path) : folder_(path) {
        refuse_strange();
        if (folder_.error() != 0) fail(folder_.error());
    }

    void write(const std::string& file, std::string_view text) const {
        write_file((fs::path(folder_.path()) / file).string(), text);
    }

    void complete() {
        if (const int error = folder_.put(FolderAside::Existing::replaced)) fail(error);
    }

    const std::string& path() const { return folder_.place(); }

  private:
    [[noreturn]] void fail(int error) const {
        throw OutputError(fmt::format("cannot write {}: {}", path(), std::strerror(error)));
    }

    /// Only a sweep's own folder, or an empty one, is replaced.
    void refuse_strange() const {
        std::error_code error;
        if (!fs::exists(path(), error)) return;
        if (!fs::is_directory(path(), error))
            throw OutputError(fmt::format("cannot write {}: it is no folder", path()));
        for (const auto& item : fs::directory_iterator(path(), error)) {
            const std::string name = item.path().filename().string();
            if (name == plan::kSweepIndex || name.ends_with(plan::kSweepPlanEnding)) continue;
            if (name == plan::kSweepRuns || name == plan::kSweepTable)
                throw OutputError(
                    fmt::format("cannot write {}: its plans have been trained, and the runs are in "
                                "{}/{}\nhelp: name another folder with -o",
                                path(), path(), plan::kSweepRuns));
            throw OutputError(fmt::format(
                "cannot write {}: it holds {}, which no sweep wrote\nhelp: name another folder "
                "with -o",
                path(), name));
        }
        if (error) fail(error.value());
    }

    FolderAside folder_;
};

/// Prints the mistakes of all combinations, before any is compiled; the exit code.
int check_all(const std::string& spec, const std::vector<Combination>& all,
              const CommonOptions& options) {
    SweepDiagnostics found;
    for (const Combination& one : all) {
        compiler::Diagnostics own;
        compiler::check_spec(spec, load_options(with_settings(options, one)), own);
        settle_warnings(options, own);
        found.add(own, one);
    }
    const compiler::Diagnostics diagnostics = found.all();
    // Warnings must not stand in the middle of JSON output.
    if (!diagnostics.has_errors() && options.format == Format::json) return 0;
    return print_diagnostics(diagnostics, options);
}

/// Compiles every combination and hands each plan to `take`. The exit code; what one combination's
/// plan is refused for is said beside that of the others.
template <class Take>
int compile_all(const std::string& spec, const std::vector<Combination>& all,
                const CompileCommand& command, const CommonOptions& options, Take take) {
    SweepDiagnostics found;
    bool refused = false;
    for (const Combination& one : all) {
        compiler::Diagnostics own;
        const auto plan = compile_spec(spec, command, with_settings(options, one), own);
        refused = refused || !plan;
        if (plan && !refused) take(one, *plan);
        found.add(own, one);
    }
    if (!refused) return 0;
    return print_diagnostics(found.all(), options);
}

}  // namespace

void declare_sweep(OptionList& list, std::vector<std::string>& sweeps) {
    list.list("--sweep", sweeps,
              "Sets a field to several values in turn, as in training.batch_size=32,64; of several "
              "such fields every combination",
              {.value = "PATH=VALUES"});
}

int check_sweep(const std::vector<std::string>& specs, const std::vector<std::string>& sweeps,
                bool quiet, const CommonOptions& options) {
    const std::vector<Combination> all = combinations(parse_sweeps(sweeps, options.settings));
    SweepDiagnostics found;
    for (const Combination& one : all) {
        compiler::Diagnostics own;
        for (const std::string& spec : specs) {
            compiler::Diagnostics of_spec;
            check_spec(spec, load_options(with_settings(options, one)), of_spec);
            settle_warnings(options, of_spec);
            own.merge(of_spec);
        }
        found.add(own, one);
    }
    const int exit_code = print_diagnostics(found.all(), options);
    if (exit_code != 0 || quiet || options.format == Format::json) return exit_code;
    for (const std::string& spec : specs)
        write_stdout(
            fmt::format("{}: ok: {}\n", spec, count_text(std::int64_t(all.size()), "combination")));
    return 0;
}

int compile_sweep(const std::string& spec, const std::string& output,
                  const std::vector<std::string>& texts, const CompileCommand& command,
                  const CommonOptions& options) {
    if (output == "-") throw UsageError("--sweep writes a folder; -o - is standard output");
    if (!command.emit.empty())
        throw UsageError("--emit prints one compilation, --sweep makes many");
    const std::vector<Sweep> sweeps = parse_sweeps(texts, options.settings);
    const std::vector<Combination> all = combinations(sweeps);
    if (const int exit_code = check_all(spec, all, options)) return exit_code;

    plan::SweepIndex index = begin_index(spec, sweeps, options);
    std::optional<SweepFolder> folder;
    const int exit_code = compile_all(
        spec, all, command, options, [&](const Combination& one, const plan::Plan& plan) {
            if (!folder) folder.emplace(output.empty() ? plan.name + "-sweep" : output);
            plan::SweptPlan entry = describe_plan(one, plan);
            entry.file = one.file + std::string(plan::kSweepPlanEnding);
            folder->write(entry.file, plan::to_json(plan));
            index.plans.push_back(std::move(entry));
        });
    if (exit_code != 0 || !folder) return exit_code;
    const std::string text = plan::to_json(index);
    folder->write(plan::kSweepIndex, text);
    folder->complete();
    write_stdout(options.format == Format::json ? text : entry_table(index, options.format));
    tell_written(folder->path(),
                 fmt::format("{} plans and {}; train them: dtnn-run sweep {}", index.plans.size(),
                             plan::kSweepIndex, folder->path()));
    return 0;
}

int summary_sweep(const std::string& spec, const std::vector<std::string>& texts,
                  const CommonOptions& options) {
    if (is_plan(spec)) throw UsageError(fmt::format("--sweep changes specs; {} is a plan", spec));
    const std::vector<Sweep> sweeps = parse_sweeps(texts, options.settings);
    const std::vector<Combination> all = combinations(sweeps);
    if (const int exit_code = check_all(spec, all, options)) return exit_code;
    plan::SweepIndex index = begin_index(spec, sweeps, options);
    const int exit_code =
        compile_all(spec, all, {}, options, [&](const Combination& one, const plan::Plan& plan) {
            index.plans.push_back(describe_plan(one, plan));
        });
    if (exit_code != 0) return exit_code;
    write_stdout(options.format == Format::json ? plan::to_json(index)
                                                : entry_table(index, options.format));
    return 0;
}

}  // namespace dtnn::tools
