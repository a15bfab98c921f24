#include "runtime/report/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/json.hpp"

namespace dtnn::runtime {
namespace {

struct Figures {
    Spread rate;
    Spread milliseconds;
};

Figures figures(const BenchResult& result) {
    std::vector<double> rates, times;
    for (const double seconds : result.seconds) {
        rates.push_back(double(result.batch) / seconds);
        times.push_back(1e3 * seconds);
    }
    return {spread_of(rates), spread_of(times)};
}

Json to_json(const Spread& spread) {
    return {{"median", spread.median}, {"min", spread.least}, {"max", spread.most}};
}

std::string layer_of(const plan::Plan& plan, const plan::Step& step) {
    return step.layer < 0 ? "" : plan.layers[std::size_t(step.layer)].name;
}

std::string tables(const BenchResult& result, const plan::Plan& plan) {
    const std::vector<plan::Step>& steps = result.program->steps;
    const std::vector<double>& seconds = result.program_step_seconds;
    const double total = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    std::map<std::string, std::pair<double, int>> by_operator;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        auto& entry = by_operator[steps[i].op];
        entry.first += seconds[i];
        ++entry.second;
    }
    std::vector<std::pair<std::string, std::pair<double, int>>> sorted(by_operator.begin(),
                                                                       by_operator.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
    std::string text = fmt::format("\n{:<36} {:>5} {:>10} {:>7}\n", "operator", "steps", "ms", "%");
    for (const auto& [op, entry] : sorted) {
        text += fmt::format("{:<36} {:>5} {:>10.4f} {:>7.2f}\n", op, entry.second,
                            1e3 * entry.first, 100 * entry.first / total);
    }
    text += fmt::format("\n{:>4} {:<44} {:<18} {:>10} {:>7} {:>9} {:>7}\n", "step", "name",
                        "kernel", "ms", "%", "GFLOP/s", "GB/s");
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const plan::Step& step = steps[i];
        const double rate = seconds[i] > 0 ? 1e-9 / seconds[i] : 0;
        text += fmt::format("{:>4} {:<44} {:<18} {:>10.4f} {:>7.2f} {:>9.1f} {:>7.1f}", i,
                            step.name, step.kernel, 1e3 * seconds[i], 100 * seconds[i] / total,
                            rate * double(step.flops), rate * double(step.bytes));
        if (!step.place.file.empty()) {
            text += fmt::format("  {}:{}", step.place.file, step.place.line);
        }
        text += "\n";
    }
    return text +
           fmt::format("sum of steps {:.3f} ms; {} layers\n", 1e3 * total, plan.layers.size());
}

}  // namespace

std::string bench_json(const BenchResult& result, const BenchFacts& facts) {
    const Figures numbers = figures(result);
    Json json = {
        {"version", 1},
        {"name", facts.plan->name},
        {"program", name_of(result.program->kind)},
        {"batch", result.batch},
        {"steps", result.seconds.size()},
        {"samples_per_second", to_json(numbers.rate)},
        {"step_milliseconds", to_json(numbers.milliseconds)},
        {"arena_bytes", {{"planned", facts.planned_bytes}, {"allocated", facts.allocated_bytes}}},
        {"peak_rss_bytes", facts.peak_rss_bytes},
        {"allocations_after_first_step", result.allocations_after_first_step},
        {"threads", facts.threads}};
    if (!result.program_step_seconds.empty()) {
        Json list = Json::array();
        for (std::size_t i = 0; i < result.program->steps.size(); ++i) {
            const plan::Step& step = result.program->steps[i];
            const double seconds = result.program_step_seconds[i];
            const double rate = seconds > 0 ? 1e-9 / seconds : 0;
            list.push_back({{"name", step.name},
                            {"op", step.op},
                            {"kernel", step.kernel},
                            {"layer", layer_of(*facts.plan, step)},
                            {"phase", name_of(step.phase)},
                            {"milliseconds", 1e3 * seconds},
                            {"gflops_per_second", rate * double(step.flops)},
                            {"gigabytes_per_second", rate * double(step.bytes)}});
        }
        json["program_steps"] = list;
    }
    return write_json(json, 2) + "\n";
}

std::string bench_text(const BenchResult& result, const BenchFacts& facts) {
    const Figures numbers = figures(result);
    const auto mebibytes = [](std::int64_t bytes) { return double(bytes) / 1048576.0; };
    std::string text = fmt::format(
        "{}: {} {} steps of {} samples, {} {}\n"
        "samples/s      {:.1f} median, {:.1f} least, {:.1f} most\n"
        "ms per step    {:.3f} median, {:.3f} least, {:.3f} most\n"
        "arena          {:.2f} MiB planned, {:.2f} MiB allocated\n"
        "peak memory    {:.2f} MiB\n"
        "allocations after the first step: {}\n",
        facts.plan->name, result.seconds.size(), name_of(result.program->kind), result.batch,
        facts.threads, facts.threads == 1 ? "thread" : "threads", numbers.rate.median,
        numbers.rate.least, numbers.rate.most, numbers.milliseconds.median,
        numbers.milliseconds.least, numbers.milliseconds.most, mebibytes(facts.planned_bytes),
        mebibytes(facts.allocated_bytes), mebibytes(facts.peak_rss_bytes),
        result.allocations_after_first_step);
    if (!result.program_step_seconds.empty()) text += tables(result, *facts.plan);
    return text;
}

}  // namespace dtnn::runtime
