// dtnnc: reads the command line and calls the command that it names (commands/).

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <new>
#include <set>
#include <system_error>

#include "base/files.hpp"
#include "base/spec_folders.hpp"
#include "base/stack_limit.hpp"
#include "base/standard_input.hpp"
#include "compiler/frontend/compose/spec_files.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/support/check.hpp"
#include "tools/command_line/program.hpp"
#include "tools/dtnnc/explain/explain_topics.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"
#include "tools/dtnnc/runtime_library.hpp"
#include "tools/dtnnc/standard_input.hpp"

namespace {

using namespace dtnn::tools;

/// The names of the specs on the path, of every kind.
std::vector<std::string> names_of_specs() {
    namespace fs = std::filesystem;
    std::set<std::string> names;
    const auto add = [&](const fs::path& folder) {
        for (std::string& name : dtnn::compiler::spec_names(folder))
            names.insert(std::move(name));
    };
    for (const std::string& folder : dtnn::spec_folders()) {
        for (const dtnn::compiler::KindInfo& kind : dtnn::compiler::all_kinds()) {
            const fs::path own = fs::path(folder) / kind.folder;
            add(own);
            for (const fs::path& room : dtnn::compiler::rooms_of(own))
                add(room);
        }
    }
    return {names.begin(), names.end()};
}

/// The words that may stand for an argument, for completion.
std::vector<std::string> names_of(const std::string& kind) {
    if (kind == "SPEC") return names_of_specs();
    if (kind == "WORD") return topic_words();
    return {};
}

ProgramFacts facts() {
    return {
        .name = "dtnnc",
        .version = DTNN_VERSION,
        .doc = "Compiles specs of training jobs to execution plans, and says what is in them",
        .form = "",
        .implied = "check",
        .standard_input = std::string(dtnn::kStandardInput),
        .read_standard_input = [] { standard_input(); },
        .examples = {{"dtnnc check job.yaml", "every mistake, with file, line and column"},
                     {"dtnnc compile job.yaml -o plan.json && dtnn-run plan.json",
                      "from a spec to trained weights"},
                     {"dtnnc diff plan.json job.yaml", "what has changed since it was compiled"},
                     {"dtnnc explain conv2d", "any operator, field, word or diagnostic"}},
        .environment =
            {{"DTNN_SPEC_PATH", "folders with specs, with colons between them, searched for names"},
             {"DTNN_TUNING", "file of measured times that kernels are chosen by; empty: none"},
             {"DTNN_CACHE_DIR", "folder of what is kept between runs; default under ~/.cache"},
             {"NO_COLOR", "set to something, it takes colours from a terminal"},
             {"COLUMNS", "columns of tables where there is no terminal"}},
        .names = names_of,
        .print = [](std::string_view text) { write_stdout(text); },
        .complain = [](std::string_view text) { write_stderr(text); },
        .write = [](const std::string& path, std::string_view text) { write_file(path, text); },
    };
}

/// The exit code of a command whose output cannot be written: `diff` says with 1 that there is a
/// difference, as diff(1) does, and has another.
int failure_of(std::string_view name) {
    for (const Command& command : registered_commands())
        if (command.name == name) return command.failure;
    return int(ExitCode::failed);
}

int report(ExitCode code, const std::string& what) {
    write_stderr(fmt::format("dtnnc: {}\n", what));
    return int(code);
}

}  // namespace

int main(int argc, char** argv) {
    dtnn::fill_standard_streams();
    if (const std::string short_of = dtnn::raise_stack_limit(); !short_of.empty())
        return report(ExitCode::failed, short_of + "\nhelp: raise the limit: ulimit -s 8192");
    // A reader that went away (`| head`) is an error of writing like any other, only not worth a
    // word.
    std::signal(SIGPIPE, SIG_IGN);
    const auto failed = ExitCode(failure_of(argc > 1 ? argv[1] : ""));
    try {
        return Program(facts()).run(argc, argv);
    } catch (const UsageError& error) {
        return report(ExitCode::usage, error.what());
    } catch (const PlanError& error) {
        return report(ExitCode::mismatch, error.what());
    } catch (const NoRuntimeLibrary& error) {
        return report(failed, fmt::format("{}\nhelp: {}", error.what(), error.help()));
    } catch (const ClosedOutput&) {
        return int(failed);
    } catch (const OutputError& error) {
        return report(failed, error.what());
    } catch (const std::bad_alloc&) {
        return report(failed, "not enough memory");
    } catch (const std::system_error& error) {
        return report(failed, error.what());
    } catch (const dtnn::compiler::InternalError& error) {
        std::string text = error.what();
        if (text.find("please report this") == std::string::npos) text += "\n  please report this";
        return report(ExitCode::internal, text);
    } catch (const std::exception& error) {
        return report(ExitCode::internal,
                      fmt::format("internal error: {}\n  please report this", error.what()));
    }
}
