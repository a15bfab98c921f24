/// dtnn-run: trains, evaluates, predicts or measures what an execution plan says.

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include "base/files.hpp"
#include "base/stack_limit.hpp"
#include "base/standard_input.hpp"
#include "base/utf8.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/comm/open.hpp"
#include "runtime/comm/started_ranks.hpp"
#include "runtime/report/progress.hpp"
#include "runtime/train/agreement.hpp"
#include "tools/command_line/program.hpp"
#include "tools/dtnn_run/allocation_count.hpp"
#include "tools/dtnn_run/job_notes.hpp"
#include "tools/dtnn_run/launch.hpp"
#include "tools/dtnn_run/rank_command_line.hpp"

namespace {

using dtnn::runtime::Exit;
using dtnn::runtime::RunError;
using dtnn::tools::ExitCode;

// The two programs end alike.
static_assert(int(Exit::done) == int(ExitCode::done) &&
              int(Exit::failed) == int(ExitCode::failed) &&
              int(Exit::usage) == int(ExitCode::usage) &&
              int(Exit::mismatch) == int(ExitCode::mismatch) &&
              int(Exit::diverged) == int(ExitCode::diverged) &&
              int(Exit::internal) == int(ExitCode::internal) &&
              int(Exit::interrupted) == int(ExitCode::interrupted));

void complain(std::string_view text) {
    const std::string shown = dtnn::shown_lines(text);
    std::fwrite(shown.data(), 1, shown.size(), stderr);
}

dtnn::tools::ProgramFacts facts() {
    return {
        .name = "dtnn-run",
        .version = DTNN_VERSION,
        .doc = "Executes an execution plan: trains by default",
        .form = "dtnn-run PLAN [OPTIONS]",
        .implied = "train",
        .implied_by_all = true,
        .standard_input = std::string(dtnn::kStandardInput),
        .read_standard_input = dtnn::require_own_input,
        .examples = {{"dtnn-run plan.json --output runs/first", "trains"},
                     {"dtnn-run --resume runs/first", "goes on after a kill, to the same bits"},
                     {"dtnn-run evaluate plan.json --weights runs/first/weights.safetensors",
                      "loss and metrics on the test split"},
                     {"dtnn-run report runs/first", "one page about the run, for a browser"}},
        .environment = {{"OMP_NUM_THREADS", "threads that compute, instead of those of the plan"},
                        {"DTNN_CODEGEN",
                         "on: LLVM makes machine code of expressions; off: they are interpreted"},
                        {"DTNN_CACHE_DIR",
                         "folder of what is kept between runs; default under ~/.cache"},
                        {"DTNN_MPI",
                         "mpich or openmpi: the MPI of several ranks; default the launcher's, "
                         "else the first that is there"},
                        {"NO_COLOR", "set to something, it takes colours from a terminal"}},
        .print = [](std::string_view text) { dtnn::runtime::print_out(text); },
        .complain = complain,
        .write = [](const std::string& path,
                    std::string_view text) { dtnn::runtime::write_file(path, text); },
    };
}

int report(const RunError& error, const std::string& color) {
    const std::string who = dtnn::runtime::started_name();
    dtnn::leave_note("error", who.empty() ? error.what() : who + ": " + error.what());
    const std::string text = error.render(dtnn::runtime::choose_color(color), who);
    std::fwrite(text.data(), 1, text.size(), stderr);
    return int(error.exit());
}

/// One rank, or the only process.
int run_or_report(int argc, char** argv) {
    std::string color = "auto";
    try {
        dtnn::tools::ProgramFacts program = facts();
        program.around = [&](const dtnn::tools::Command&, const dtnn::tools::OptionList& options,
                             const std::function<int()>& carry_out) {
            if (options.has("--color")) color = options.given("--color").back();
            return carry_out();
        };
        return dtnn::tools::Program(std::move(program)).run(argc, argv);
    } catch (const dtnn::runtime::SharedRunError& error) {
        // All ranks have found it; one says so.
        return dtnn::runtime::started_ranks().rank == 0 ? report(error, color) : int(error.exit());
    } catch (const RunError& error) {
        return report(error, color);
    } catch (const std::bad_alloc&) {
        return report(RunError(Exit::failed, "there is not enough memory",
                               "run on a machine with more, or compile with a smaller "
                               "training.batch_size"),
                      color);
    } catch (const std::system_error& error) {
        return report(dtnn::runtime::system_error(error), color);
    } catch (const std::exception& error) {
        const std::string who = dtnn::runtime::started_name();
        std::fprintf(stderr, "dtnn-run: %s%sinternal error: %s\nplease report this\n", who.c_str(),
                     who.empty() ? "" : ": ", dtnn::shown_lines(error.what()).c_str());
        return int(Exit::internal);
    }
}

}  // namespace

int main(int argc, char** argv) {
    dtnn::runtime::install_signal_handlers();  // first: a signal ends what has none
    dtnn::fill_standard_streams();
    if (const std::string short_of = dtnn::raise_stack_limit(); !short_of.empty())
        return report(RunError(Exit::failed, short_of, "raise the limit: ulimit -s 8192"), "auto");
    if (const std::optional<int> code = dtnn::watch_rank()) return *code;
    dtnn::begin_allocation_count();
    const int code = run_or_report(argc, argv);
    // The failure has been told; the other ranks may still wait for this one.
    if (code != int(Exit::done) && code != int(Exit::interrupted)) dtnn::runtime::end_job(code);
    return code;
}
