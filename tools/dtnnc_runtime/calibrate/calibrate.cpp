#include "tools/dtnnc_runtime/calibrate/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/json_text.hpp"
#include "base/processor.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "compiler/frontend/read/quantity.hpp"
#include "kernels/catalogue.hpp"
#include "plan/devices.hpp"
#include "plan/forecast/rates.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/environment.hpp"
#include "runtime/base/machine.hpp"
#include "runtime/device/device.hpp"
#include "runtime/exec/roofs.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc_runtime/calibrate/calibrate_devices.hpp"

namespace dtnn::tools {
namespace {

double total(const std::vector<MeasuredStep>& steps) {
    double seconds = 0;
    for (const MeasuredStep& one : steps)
        seconds += one.seconds;
    return seconds;
}

/// The characters that spec names allow: letters, digits, `_`, `-` and `.`, a letter first.
std::string spec_name(std::string text) {
    for (char& c : text)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-') c = '_';
    if (text.empty() || std::isalpha(static_cast<unsigned char>(text[0])) == 0)
        text = "machine_" + text;
    return text;
}

plan::Machine measured_machine(const CalibrateCommand& command, std::vector<std::string>& facts) {
    const runtime::Machine host = runtime::this_machine();
    plan::Machine machine;
    machine.name = spec_name(command.name.empty() ? host.host : command.name);
    machine.cores = runtime::processor_count();
    machine.memory_bytes = host.memory_bytes;
    machine.isa = std::string(kernels::name_of(kernels::host_isa()));
    facts.push_back(fmt::format("Measured {} on {} by dtnnc calibrate {}",
                                runtime::utc_time_stamp(), host.host, DTNN_VERSION));
    facts.push_back(fmt::format("{}{}{}, {}, {}", host.processor,
                                host.processor.empty() ? "" : ", ", host.system,
                                count_text(machine.cores, "core"), machine.isa));

    const runtime::Stopwatch watch;
    double load = 0, spread = 1, speed_up = 0;
    if (::getloadavg(&load, 1) != 1) load = 0;
    machine.memory_bandwidth = rounded(runtime::measure_memory_roof(1));
    machine.node_memory_bandwidth =
        std::max(machine.memory_bandwidth, rounded(runtime::measure_memory_roof(machine.cores)));
    machine.decode_rate = rounded(measure_decoding());

    const std::vector<plan::Plan> plans = probe_plans(1);
    const double share = command.seconds / double(plans.size() + 2);
    std::vector<MeasuredStep> all;
    double widest_alone = 0;
    for (const plan::Plan& plan : plans) {
        const std::vector<MeasuredStep> steps = measure_steps(plan, 1, share, &spread);
        if (&plan == &plans.front()) widest_alone = total(steps);
        all.insert(all.end(), steps.begin(), steps.end());
    }
    fit_rates(all, machine);
    machine.compute_error = rounded(compute_error_of(all, machine));
    if (machine.cores > 1) {
        const plan::Plan together = probe_plans(machine.cores).front();
        speed_up = widest_alone / total(measure_steps(together, machine.cores, share));
        // Threads that have to share their cores with others show nothing about the machine.
        if (speed_up > 1)
            machine.thread_efficiency = std::min((speed_up - 1) / (machine.cores - 1), 1.0);
        facts.push_back(
            fmt::format("{} threads train {:.2f} times as fast as one", machine.cores, speed_up));
    }
    const std::vector<std::string> signs = busy_signs(spread, speed_up, machine.cores, load);
    if (!signs.empty()) {
        const std::string busy = fmt::format("the machine was busy: {}", fmt::join(signs, "; "));
        facts.push_back("WARNING: " + busy + "; measure again when it is idle");
        write_stderr(
            fmt::format("dtnnc: warning: {}\nhelp: measure again when it is idle\n", busy));
    }
    facts.push_back(fmt::format(
        "Rates are of the least times of {} kernels in {} small networks, batch 64, in {}",
        all.size(), plans.size(), elapsed_time_text(watch.seconds())));
    return machine;
}

/// The links of the machine, and a line about each size that was measured.
void add_reductions(const MeasuredRanks& measured, plan::Machine& machine,
                    std::vector<std::string>& facts) {
    if (measured.ranks < 2) {
        facts.emplace_back("Not measured: the network; start it with mpiexec and --ranks for that");
        return;
    }
    const ReductionFit fit = fit_reduction(measured.ranks, measured.times);
    const bool one_node = measured.nodes == 1;
    (one_node ? machine.local_latency : machine.network_latency) = rounded(fit.latency);
    (one_node ? machine.local_bandwidth : machine.network_bandwidth) = rounded(fit.bandwidth);
    machine.exchange_error = rounded(fit.error);
    machine.nodes = std::max(machine.nodes, measured.nodes);
    std::string times;
    for (const auto& [bytes, seconds] : measured.times)
        times += fmt::format("{}{} in {}", times.empty() ? "" : ", ", bytes_text(double(bytes)),
                             seconds_text(seconds));
    facts.push_back(fmt::format("Reductions over {} ranks on {} node{}: {}", measured.ranks,
                                measured.nodes, one_node ? "" : "s", times));
}

}  // namespace

namespace {

std::string gpus_text(const plan::Gpus& gpus) {
    if (gpus.count == 0) return {};
    std::string text = fmt::format("gpus:\n  count: {}\n", gpus.count);
    const auto quantity = [&](const char* field, double value, const char* unit) {
        if (value > 0)
            text += fmt::format("  {}: {}\n", field, compiler::quantity_text(value, unit));
    };
    quantity("memory", double(gpus.memory_bytes), "bytes");
    quantity("f32_rate", gpus.f32_rate, "flop/s");
    quantity("f64_rate", gpus.f64_rate, "flop/s");
    quantity("tf32_rate", gpus.tf32_rate, "flop/s");
    quantity("bf16_rate", gpus.bf16_rate, "flop/s");
    quantity("memory_bandwidth", gpus.memory_bandwidth, "bytes/s");
    quantity("host_bandwidth", gpus.host_bandwidth, "bytes/s");
    quantity("step_overhead", gpus.step_overhead, "seconds");
    return text;
}

}  // namespace

std::string machine_spec(const plan::Machine& machine, const std::vector<std::string>& facts) {
    std::string text = "kind: machine\n";
    for (const std::string& fact : facts)
        text += fmt::format("# {}\n", fact);
    text += fmt::format("name: {}\n", machine.name);
    const auto quantity = [&](const char* field, double value, const char* unit) {
        if (value > 0) text += fmt::format("{}: {}\n", field, compiler::quantity_text(value, unit));
    };
    text += fmt::format("nodes: {}\ncores: {}\n", machine.nodes, machine.cores);
    quantity("memory", double(machine.memory_bytes), "bytes");
    if (!machine.isa.empty()) text += fmt::format("isa: {}\n", machine.isa);
    if (const std::string processor = processor_name(); !processor.empty())
        text += fmt::format("processor: {}\n", json_text(processor));
    quantity("product_rate", machine.product_rate, "flop/s");
    quantity("convolution_rate", machine.convolution_rate, "flop/s");
    quantity("memory_bandwidth", machine.memory_bandwidth, "bytes/s");
    quantity("node_memory_bandwidth", machine.node_memory_bandwidth, "bytes/s");
    if (machine.thread_efficiency > 0)
        text += fmt::format("thread_efficiency: {:.3f}\n", machine.thread_efficiency);
    const auto share = [&](const char* field, double value) {
        if (value > 0) text += fmt::format("{}: {:.3f}\n", field, value);
    };
    share("compute_error", machine.compute_error);
    share("exchange_error", machine.exchange_error);
    quantity("step_overhead", machine.step_overhead, "seconds");
    quantity("decode_rate", machine.decode_rate, "samples/s");
    const auto link = [&](const char* name, double latency, double bandwidth) {
        if (latency <= 0 && bandwidth <= 0) return;
        text += fmt::format("{}:\n", name);
        if (latency > 0)
            text += fmt::format("  latency: {}\n", compiler::quantity_text(latency, "seconds"));
        if (bandwidth > 0)
            text += fmt::format("  bandwidth: {}\n", compiler::quantity_text(bandwidth, "bytes/s"));
    };
    link("network", machine.network_latency, machine.network_bandwidth);
    link("local", machine.local_latency, machine.local_bandwidth);
    text += gpus_text(machine.gpus);
    if (machine.kernels.empty()) return text;
    text += "kernels:\n";
    for (const plan::KernelRate& one : plan::kernel_rates()) {
        const auto found = machine.kernels.find(std::string(one.name));
        if (found == machine.kernels.end()) continue;
        text += fmt::format(
            "  {}: {}\n", one.name,
            compiler::quantity_text(std::get<double>(found->second),
                                    one.unit == plan::RateUnit::flops ? "flop/s" : "bytes/s"));
    }
    return text;
}

int calibrate(const CalibrateCommand& command) {
    // Before the kernels: ranks that wait would take their cores.
    MeasuredRanks ranks;
    if (command.ranks) ranks = measure_ranks();
    if (ranks.rank != 0) return 0;
    std::vector<std::string> facts;
    plan::Gpus gpus;
    if (plan::traits_of(command.target).own_memory) {
        // First, so that a machine without one says so at once.
        const auto open = [&] { return runtime::open_device(command.target, 1); };
        static_cast<void>(open());
        gpus = fit_device(measure_device(device_probes(command.target), open, command.seconds));
        facts.emplace_back(
            "gpus: one was measured; how many there are, their memory and what the driver "
            "takes of it are to be filled in");
    }
    plan::Machine machine = measured_machine(command, facts);
    machine.gpus = gpus;
    add_reductions(ranks, machine, facts);
    const std::string text = machine_spec(machine, facts);
    if (command.output == "-") {
        write_stdout(text);
    } else {
        write_file(command.output, text);
        tell_written(
            command.output,
            fmt::format("{} cores, {} of products, {} of convolutions a core", machine.cores,
                        compiler::quantity_text(machine.product_rate, "flop/s"),
                        compiler::quantity_text(machine.convolution_rate, "flop/s")));
    }
    return 0;
}

}  // namespace dtnn::tools
