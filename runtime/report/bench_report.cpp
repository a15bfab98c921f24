#include "runtime/report/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "runtime/report/roofline.hpp"

namespace dtnn::runtime {
namespace {

struct Figures {
    Spread rate;
    Spread seconds;
};

Figures figures(const BenchResult& result) {
    std::vector<double> rates;
    for (const double seconds : result.seconds)
        rates.push_back(double(result.batch) / seconds);
    return {spread_of(rates), spread_of(result.seconds)};
}

Json to_json(const Spread& spread, double unit = 1) {
    return {{"median", unit * spread.median},
            {"min", unit * spread.least},
            {"max", unit * spread.most}};
}

std::string time_text(double seconds) {
    return seconds_text(seconds, TimeForm::fine);
}

std::string layer_of(const plan::Plan& plan, const plan::Step& step) {
    return step.layer < 0 ? "" : plan.layers[std::size_t(step.layer)].name;
}

/// A line of a table: what it counts together.
struct Group {
    std::string name;
    int steps = 0;
    Work work;
};

/// Steps of one name together, in the order in which they first come.
template <class NameOf>
std::vector<Group> groups_of(const BenchResult& result, NameOf&& name_of_step) {
    const std::vector<Work> works = work_of_steps(result);
    std::vector<Group> groups;
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < works.size(); ++i) {
        const std::string name = name_of_step(result.program->steps[i]);
        if (name.empty()) continue;
        const auto [place, added] = places.emplace(name, groups.size());
        if (added) groups.push_back({name, 0, {}});
        Group& group = groups[place->second];
        ++group.steps;
        group.work += works[i];
    }
    return groups;
}

/// Time, speed and, where the roofs are known, the share of the roof and which one it is.
class WorkColumns {
  public:
    WorkColumns(double total, const Roofs& roofs)
        : total_(total), roofs_(roofs), has_roofs_(roofs.flops_per_second > 0) {}

    std::string header() const {
        return fmt::format("{:>10} {:>7} {:>9} {:>7}{}", "time", "%", "GFLOP/s", "GB/s",
                           has_roofs_ ? "  roof % of       " : "");
    }
    std::string line(const Work& work) const {
        std::string text = fmt::format("{:>10} {:>7.2f} {:>9.1f} {:>7.1f}", time_text(work.seconds),
                                       total_ > 0 ? 100 * work.seconds / total_ : 0, work.gflops(),
                                       work.gigabytes());
        if (has_roofs_)
            text += fmt::format(" {:>7.1f} {:<10}", 100 * roof_share(work, roofs_),
                                bound_of(work, roofs_));
        return text;
    }

  private:
    double total_;
    const Roofs& roofs_;
    bool has_roofs_;
};

std::string tables(const BenchResult& result, const BenchFacts& facts) {
    const plan::Plan& plan = *facts.plan;
    const std::vector<plan::Step>& steps = result.program->steps;
    const std::vector<Work> works = work_of_steps(result);
    Work all;
    for (const Work& work : works)
        all += work;
    const WorkColumns columns(all.seconds, facts.roofs);
    std::string text;
    if (facts.roofs.flops_per_second > 0)
        text +=
            fmt::format("roofs          {:.1f} GFLOP/s, {:.1f} GB/s, measured\n",
                        1e-9 * facts.roofs.flops_per_second, 1e-9 * facts.roofs.bytes_per_second);
    const auto table = [&](const char* title, const std::vector<Group>& groups) {
        text += fmt::format("\n{:<36} {:>5} {}\n", title, "steps", columns.header());
        for (const Group& group : groups)
            text +=
                fmt::format("{:<36} {:>5} {}\n", group.name, group.steps, columns.line(group.work));
    };
    std::vector<Group> operators =
        groups_of(result, [](const plan::Step& step) { return step.op; });
    std::stable_sort(operators.begin(), operators.end(), [](const Group& a, const Group& b) {
        return a.work.seconds > b.work.seconds;
    });
    table("operator", operators);
    table("layer", groups_of(result, [&](const plan::Step& step) { return layer_of(plan, step); }));
    text += fmt::format("\n{:>4} {:<44} {:<18} {}\n", "step", "name", "kernel", columns.header());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const plan::Step& step = steps[i];
        text += fmt::format("{:>4} {:<44} {:<18} {}", i, step.name, step.kernel,
                            columns.line(works[i]));
        if (!step.place.file.empty()) {
            text += fmt::format("  {}:{}", step.place.file, step.place.line);
        }
        text += "\n";
    }
    return text +
           fmt::format("sum of steps {}; {} layers\n", time_text(all.seconds), plan.layers.size());
}

Json speed_json(const Work& work, const Roofs& roofs) {
    Json json = {{"milliseconds", 1e3 * work.seconds},
                 {"gflops_per_second", work.gflops()},
                 {"gigabytes_per_second", work.gigabytes()}};
    if (roofs.flops_per_second > 0) {
        json["roof_share"] = roof_share(work, roofs);
        json["bound"] = bound_of(work, roofs);
    }
    return json;
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
        {"step_milliseconds", to_json(numbers.seconds, 1e3)},
        {"arena_bytes", {{"planned", facts.planned_bytes}, {"allocated", facts.allocated_bytes}}},
        {"peak_rss_bytes", facts.peak_rss_bytes},
        {"allocations_after_first_step", result.allocations_after_first_step},
        {"threads", facts.threads}};
    if (!result.program_step_seconds.empty()) {
        if (facts.roofs.flops_per_second > 0)
            json["roofs"] = {{"gflops_per_second", 1e-9 * facts.roofs.flops_per_second},
                             {"gigabytes_per_second", 1e-9 * facts.roofs.bytes_per_second}};
        const std::vector<Work> works = work_of_steps(result);
        Json list = Json::array();
        for (std::size_t i = 0; i < works.size(); ++i) {
            const plan::Step& step = result.program->steps[i];
            Json one = {{"name", step.name},
                        {"op", step.op},
                        {"kernel", step.kernel},
                        {"layer", layer_of(*facts.plan, step)},
                        {"phase", name_of(step.phase)}};
            one.update(speed_json(works[i], facts.roofs));
            list.push_back(std::move(one));
        }
        json["program_steps"] = std::move(list);
        Json layers = Json::array();
        for (const Group& group : groups_of(
                 result, [&](const plan::Step& step) { return layer_of(*facts.plan, step); })) {
            Json one = {{"layer", group.name}, {"steps", group.steps}};
            one.update(speed_json(group.work, facts.roofs));
            layers.push_back(std::move(one));
        }
        json["program_layers"] = std::move(layers);
    }
    return write_json(json, 2) + "\n";
}

std::string bench_text(const BenchResult& result, const BenchFacts& facts) {
    const Figures numbers = figures(result);
    const auto size = [](std::int64_t bytes) { return bytes_text(double(bytes), BytesForm::fine); };
    std::string text = fmt::format(
        "{}: {} {} steps of {} samples, {}\n"
        "samples/s      {:.1f} median, {:.1f} least, {:.1f} most\n"
        "time per step  {} median, {} least, {} most\n"
        "arena          {} planned, {} allocated\n"
        "peak memory    {}\n"
        "allocations after the first step: {}\n",
        facts.plan->name, result.seconds.size(), name_of(result.program->kind), result.batch,
        count_text(facts.threads, "thread"), numbers.rate.median, numbers.rate.least,
        numbers.rate.most, time_text(numbers.seconds.median), time_text(numbers.seconds.least),
        time_text(numbers.seconds.most), size(facts.planned_bytes), size(facts.allocated_bytes),
        size(facts.peak_rss_bytes), result.allocations_after_first_step);
    if (!result.program_step_seconds.empty()) text += tables(result, facts);
    return text;
}

}  // namespace dtnn::runtime
