// dtnnc: reads the command line and calls the command that it names (commands/).

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <new>
#include <sstream>

#include "base/files.hpp"
#include "compiler/support/check.hpp"
#include "compiler/support/diagnostics.hpp"
#include "tools/dtnnc/command.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace {

using namespace dtnn::tools;

enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kPlanMismatch = 5, kInternal = 70 };

// CLI11 names an unknown first word an unexpected argument; the commands are a closed set, so a
// near one is offered.
bool unknown_command(int argc, char** argv, const CLI::App& app) {
    if (argc < 2 || argv[1][0] == '-') return false;
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return false;
    write_stderr(fmt::format("dtnnc: no command is named `{}`\n", argv[1]));
    if (auto near = dtnn::compiler::did_you_mean(argv[1], names))
        write_stderr(fmt::format("help: did you mean `{}`?\n", *near));
    else
        write_stderr(fmt::format("help: there are {}\n", fmt::join(names, ", ")));
    return true;
}

int run(int argc, char** argv) {
    CLI::App app{"Compiles specs of training jobs to execution plans.", "dtnnc"};
    app.set_version_flag("--version", "dtnnc " DTNN_VERSION);
    app.require_subcommand(1);
    std::vector<std::pair<CLI::App*, std::function<int()>>> commands;
    for (const Command& command : registered_commands()) {
        CLI::App* const reader = app.add_subcommand(command.name, command.doc);
        OptionList options(*reader);
        commands.emplace_back(reader, command.declare(options));
    }
    if (unknown_command(argc, argv, app)) return kUsage;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::ostringstream answer, complaint;
        const int code = app.exit(error, answer, complaint);
        write_stdout(answer.str());
        write_stderr(complaint.str());
        return code == 0 ? kDone : kUsage;
    }
    for (const auto& [reader, carry_out] : commands)
        if (reader->parsed()) return carry_out();
    return kUsage;
}

/// The exit code of a command whose output cannot be written: `diff` says with 1 that there is a
/// difference, as diff(1) does, and has another.
int failure_of(std::string_view name) {
    for (const Command& command : registered_commands())
        if (command.name == name) return command.failure;
    return kFailed;
}

int report(int code, const char* what) {
    write_stderr(fmt::format("dtnnc: {}\n", what));
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    dtnn::fill_standard_streams();
    // A reader that went away (`| head`) is an error of writing like any other, only not worth a
    // word.
    std::signal(SIGPIPE, SIG_IGN);
    const int failed = failure_of(argc > 1 ? argv[1] : "");
    try {
        return run(argc, argv);
    } catch (const UsageError& error) {
        return report(kUsage, error.what());
    } catch (const PlanError& error) {
        return report(kPlanMismatch, error.what());
    } catch (const ClosedOutput&) {
        return failed;
    } catch (const OutputError& error) {
        return report(failed, error.what());
    } catch (const std::bad_alloc&) {
        return report(failed, "not enough memory");
    } catch (const std::system_error& error) {
        return report(failed, error.what());
    } catch (const dtnn::compiler::InternalError& error) {
        std::string text = error.what();
        if (text.find("please report this") == std::string::npos) text += "\n  please report this";
        return report(kInternal, text.c_str());
    } catch (const std::exception& error) {
        return report(
            kInternal,
            fmt::format("internal error: {}\n  please report this", error.what()).c_str());
    }
}
