#include "tools/dtnnc_runtime/calibrate/tune_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/processor.hpp"
#include "base/quantity_text.hpp"
#include "base/table.hpp"
#include "compiler/tuning/kernel_choice.hpp"
#include "plan/json/json.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/other_load.hpp"
#include "runtime/exec/measure_kernels.hpp"
#include "runtime/exec/step_problem.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/tuning_file.hpp"

namespace dtnn::tools {
namespace {

using compiler::KernelTime;
using compiler::TuningEntry;
using compiler::TuningHistory;
using kernels::KernelInfo;

/// Others may take so much of the cores' time on a machine that is called idle.
constexpr double kMostOthers = 0.05;
/// The measurements are written this often, so that a long tuning that is ended is not lost.
constexpr double kSecondsBetweenFiles = 10;

/// Steps that are one problem.
struct Task {
    kernels::Problem problem;
    std::string key;
    std::string name;  ///< the first of the steps
    int steps = 0;
    int train_steps = 0;
    std::vector<const KernelInfo*> able;
    const TuningEntry* entry = nullptr;
};

std::vector<Task> tasks_of(const plan::Plan& plan) {
    std::vector<Task> tasks;
    std::map<std::string, std::size_t> known;
    const plan::Program* train = plan::find_program(plan, plan::ProgramKind::train);
    for (const plan::Program& program : plan.programs)
        for (const auto* list : {&program.prologue, &program.steps})
            for (const plan::Step& step : *list) {
                if (kernels::find_kernel(step.op, step.kernel) == nullptr) continue;
                kernels::Problem problem = runtime::problem_of(plan, program, step);
                std::string key = compiler::problem_key(problem);
                auto [found, fresh] = known.try_emplace(key, tasks.size());
                if (fresh) {
                    auto able = compiler::measurable_kernels(problem);
                    tasks.push_back({std::move(problem), std::move(key), step.name, 0, 0, able});
                }
                ++tasks[found->second].steps;
                if (&program == train) ++tasks[found->second].train_steps;
            }
    std::erase_if(tasks, [](const Task& task) { return task.able.size() < 2; });
    return tasks;
}

double quantile(const std::vector<double>& sorted, double part) {
    return sorted[std::size_t(std::lround(part * double(sorted.size() - 1)))];
}

TuningEntry entry_of(const Task& task, const std::vector<runtime::MeasuredKernel>& measured) {
    TuningEntry entry;
    entry.problem = task.key;
    entry.processor = processor_name();
    entry.kernels = kernels::revision();
    for (const runtime::MeasuredKernel& one : measured)
        entry.times.push_back({std::string(one.kernel->name), quantile(one.seconds, 0.5),
                               quantile(one.seconds, 0.25), quantile(one.seconds, 0.75),
                               int(one.seconds.size())});
    return entry;
}

/// The fastest kernel of the nearest problem that was measured comes first.
std::vector<const KernelInfo*> in_order(const Task& task, const TuningHistory& history) {
    std::vector<const KernelInfo*> order = task.able;
    const TuningEntry* near =
        history.nearest(task.key, processor_name(), std::string(kernels::revision()));
    if (!near) return order;
    std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
        const KernelTime *one = near->find(a->name), *other = near->find(b->name);
        return one && (!other || one->median < other->median);
    });
    return order;
}

class KernelTuner {
  public:
    KernelTuner(const TuningFile& file, const TuneKernelsCommand& command, int threads)
        : file_(file), again_(command.again), meter_(threads, command.calls) {
        if (auto read = read_tuning_file(file)) history_ = std::move(*read);
    }

    void run(std::vector<Task>& tasks) {
        runtime::Stopwatch since_file;
        load_.take();
        for (const Task& task : tasks) {
            const TuningEntry* known =
                history_.find(task.key, processor_name(), std::string(kernels::revision()));
            if (known && known->idle && !again_) {
                ++known_;
                continue;
            }
            // Times that cannot be kept are known to be so before they are measured.
            if (measured_ == 0) add_to_tuning_file(file_, {});
            measure(task);
            if (since_file.seconds() < kSecondsBetweenFiles) continue;
            write();
            since_file.restart();
        }
        write();
        for (Task& task : tasks)
            task.entry =
                history_.find(task.key, processor_name(), std::string(kernels::revision()));
    }

    int measured() const { return measured_; }
    int known() const { return known_; }
    double others() const { return others_; }

  private:
    void measure(const Task& task) {
        TuningEntry entry = entry_of(task, meter_.measure(task.problem, in_order(task, history_)));
        ++measured_;
        if (entry.times.empty()) return;
        fresh_.push_back(entry);
        history_.add(std::move(entry));
        judge();
    }

    /// Whether the machine was idle since it was last judged; the system counts time in ticks that
    /// may be longer than a measurement.
    void judge() {
        const double others = load_.take();
        if (others < 0) return;
        others_ = std::max(others_, others);
        for (; judged_ < fresh_.size(); ++judged_)
            fresh_[judged_].idle = others <= kMostOthers;
    }

    void write() {
        judge();
        if (fresh_.empty()) return;
        TuningHistory measured;
        for (const TuningEntry& entry : fresh_)
            measured.add(entry);
        add_to_tuning_file(file_, measured);
        history_.merge(measured);
    }

    TuningFile file_;
    bool again_;
    runtime::KernelMeter meter_;
    runtime::OtherLoad load_;
    TuningHistory history_;
    std::vector<TuningEntry> fresh_;
    std::size_t judged_ = 0;
    int measured_ = 0, known_ = 0;
    double others_ = 0;
};

std::string time_text(double seconds) {
    return seconds_text(seconds, TimeForm::fine);
}

struct Outcome {
    int changed = 0;
    double usual = 0, chosen = 0;  ///< seconds of a training step in what was measured
};

Outcome print(const std::vector<Task>& tasks) {
    Outcome outcome;
    Table table;
    table.columns = {{"step"},           {"alike", true}, {"chosen"},       {"time", true},
                     {"without tuning"}, {"time", true},  {"other kernels"}};
    for (const Task& task : tasks) {
        const KernelInfo* usual = compiler::usual_kernel(task.problem, "cpu");
        const KernelTime* before = task.entry && usual ? task.entry->find(usual->name) : nullptr;
        if (!before) continue;
        const KernelInfo* chosen = compiler::choose_measured(*task.entry, task.able, usual);
        const KernelTime* after = task.entry->find(chosen->name);
        std::string others;
        for (const KernelTime& time : task.entry->times)
            if (time.kernel != chosen->name && time.kernel != usual->name)
                others += fmt::format("{}{} {}", others.empty() ? "" : ", ", time.kernel,
                                      time_text(time.median));
        table.rows.push_back({task.name, fmt::format("{}", task.steps), std::string(chosen->name),
                              time_text(after->median), std::string(usual->name),
                              time_text(before->median), others});
        if (chosen != usual) ++outcome.changed;
        outcome.usual += task.train_steps * before->median;
        outcome.chosen += task.train_steps * after->median;
    }
    write_stdout(text_table(table, output_width()));
    return outcome;
}

int write_tuned_plan(const TuneKernelsCommand& command, const TuningFile& file) {
    CompileCommand compile = command.compile;
    compile.no_tuning = false;
    compile.tuning = file.path;
    compiler::Diagnostics diagnostics;
    const auto plan = compile_spec(command.source, compile, command.common, diagnostics);
    // The warnings were given when the plan was compiled without the times.
    if (!plan) return print_diagnostics(diagnostics, command.common);
    write_file(command.output, plan::to_json(*plan));
    tell_written(command.output);
    return 0;
}

}  // namespace

int tune_kernels(const TuneKernelsCommand& command) {
    if (is_plan(command.source) && !command.output.empty())
        throw UsageError("-o: " + command.source +
                         " is a plan for the cpu, whose memory is laid out for its kernels\n"
                         "help: tune its spec, or compile that again");
    compiler::Diagnostics diagnostics;
    CompileCommand compile = command.compile;
    compile.no_tuning = true;
    const std::optional<plan::Plan> plan =
        named_plan(command.source, compile, command.common, diagnostics);
    const int exit_code = print_diagnostics(diagnostics, command.common);
    if (!plan) return exit_code;
    kernels::Isa isa{};
    if (!kernels::parse_name(plan->target.isa, isa) || isa > kernels::host_isa())
        throw UsageError(
            fmt::format("{} is for {}, and this machine has {}\nhelp: tune it where it is to run, "
                        "or with --isa",
                        command.source, plan->target.isa, kernels::name_of(kernels::host_isa())));
    if (!runtime::has_kernels(isa))
        throw UsageError(fmt::format(
            "{} is for {}, and this program was built without its kernels\nhelp: build the program "
            "with cmake -DDTNN_INSTRUCTION_SETS=all, or name another set by --isa",
            command.source, plan->target.isa));
    const TuningFile file = tuning_file(command.compile.tuning);
    if (file.path.empty())
        throw UsageError(
            "there is no place for the history of tuning\nhelp: name a file by --tuning");
    std::vector<Task> tasks = tasks_of(*plan);
    const runtime::Stopwatch watch;
    KernelTuner tuner(file, command, plan->target.threads);
    tuner.run(tasks);
    const Outcome outcome = print(tasks);
    write_stderr(fmt::format(
        "{} problems with several kernels: {} measured in {}, {} known before; history {}\n"
        "{} get another kernel than without tuning; in these steps a training step takes {} "
        "instead of {}\n",
        tasks.size(), tuner.measured(), elapsed_time_text(watch.seconds()), tuner.known(),
        file.path, outcome.changed, time_text(outcome.chosen), time_text(outcome.usual)));
    if (tuner.others() > kMostOthers)
        write_stderr(
            fmt::format("warning: the machine was not idle: at times others took {:.0f} % of the "
                        "cores' time\nhelp: what was measured meanwhile is marked, and measured "
                        "again by the next `dtnnc tune`\n",
                        100 * tuner.others()));
    return command.output.empty() ? 0 : write_tuned_plan(command, file);
}

}  // namespace dtnn::tools
