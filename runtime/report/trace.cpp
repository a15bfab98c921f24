#include "runtime/report/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/json_text.hpp"
#include "base/quantity_text.hpp"
#include "runtime/report/history_writer.hpp"

namespace dtnn::runtime {
namespace {

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// "conv2d of `stage_1/conv2d_2` (specs/models/net.yaml:14)"
std::string event_name(const plan::Plan& plan, const plan::Step& step) {
    std::string text = step.op;
    if (step.layer >= 0) text += " of " + plan.layers[std::size_t(step.layer)].name;
    if (!step.place.file.empty()) text += fmt::format(" ({}:{})", step.place.file, step.place.line);
    return text;
}

}  // namespace

Trace::Trace(Executor& executor, std::size_t most_events)
    : executor_(executor),
      most_per_lane_(most_events / std::size_t(executor.team().size())),
      lanes_(std::size_t(executor.team().size())),
      dropped_of_lane_(lanes_.size(), 0) {
    for (std::vector<Event>& lane : lanes_)
        lane.reserve(most_per_lane_);
    // Known before the first step, so that recording allocates nothing.
    for (const plan::Program& program : executor.plan().programs) {
        for (const auto* steps : {&program.prologue, &program.steps}) {
            for (const plan::Step& step : *steps)
                by_operator_.try_emplace(step.op);
        }
    }
    executor_.observe(this);
    executor_.team().observe(this);
}

Trace::~Trace() {
    executor_.observe(nullptr);
    executor_.team().observe(nullptr);
}

void Trace::keep(int lane, const plan::Step* step, std::int64_t begin, std::int64_t end) {
    std::vector<Event>& events = lanes_[std::size_t(lane)];
    if (events.size() < most_per_lane_)
        events.push_back({step, begin, end, lane});
    else
        ++dropped_of_lane_[std::size_t(lane)];
}

void Trace::begin(const plan::Program&, const plan::Step& step) {
    running_ = &step;
    began_ = now();
}

void Trace::end(const plan::Program&, const plan::Step& step) {
    const std::int64_t end = now();
    keep(0, &step, began_, end);
    dropped_ = dropped_of_lane_[0];
    Sum& sum = by_operator_.find(step.op)->second;
    ++sum.runs;
    sum.nanoseconds += end - began_;
    sum.flops += step.flops;
    sum.bytes += step.bytes;
    running_ = nullptr;
}

void Trace::share(int member, std::int64_t begin, std::int64_t end) {
    // The caller's own share is within the step, which lane 0 shows.
    if (member > 0) keep(member, running_, begin, end);
}

std::string Trace::json() const {
    std::int64_t origin = 0;
    bool any = false;
    for (const std::vector<Event>& lane : lanes_) {
        if (lane.empty()) continue;
        origin = any ? std::min(origin, lane.front().begin) : lane.front().begin;
        any = true;
    }
    const plan::Plan& plan = executor_.plan();
    std::string text = fmt::format(
        "{{\"displayTimeUnit\": \"ms\",\n\"otherData\": {{\"name\": {}, \"model\": {}, "
        "\"steps_not_kept\": {}}},\n\"traceEvents\": [\n"
        "{{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 0, \"tid\": 0, "
        "\"args\": {{\"name\": \"rank 0\"}}}}",
        json_text(plan.name), json_text(plan.model), dropped_);
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
        text += fmt::format(
            ",\n{{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 0, \"tid\": {}, "
            "\"args\": {{\"name\": \"thread {}\"}}}}",
            lane, lane);
    }
    for (const std::vector<Event>& lane : lanes_) {
        for (const Event& event : lane) {
            const plan::Step& step = *event.step;
            text += fmt::format(
                ",\n{{\"name\": {}, \"cat\": {}, \"ph\": \"X\", \"ts\": {:.3f}, \"dur\": "
                "{:.3f}, \"pid\": 0, \"tid\": {}, \"args\": {{\"step\": {}, \"kernel\": "
                "{}, \"flops\": {}, \"bytes\": {}}}}}",
                json_text(event_name(plan, step)), json_text(name_of(step.phase)),
                1e-3 * double(event.begin - origin), 1e-3 * double(event.end - event.begin),
                event.lane, json_text(step.name), json_text(step.kernel), step.flops, step.bytes);
        }
    }
    return text + "\n]}\n";
}

std::string Trace::table() const {
    std::vector<std::pair<std::string_view, Sum>> sorted;
    std::int64_t total = 0;
    for (const auto& [op, sum] : by_operator_) {
        if (sum.runs == 0) continue;
        sorted.emplace_back(op, sum);
        total += sum.nanoseconds;
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return a.second.nanoseconds > b.second.nanoseconds;
    });
    std::string text = fmt::format("{:<36}  {:>8}  {:>12}  {:>7}  {:>9}  {:>7}\n", "operator",
                                   "runs", "time", "%", "GFLOP/s", "GB/s");
    for (const auto& [op, sum] : sorted) {
        const auto nanoseconds = double(std::max<std::int64_t>(1, sum.nanoseconds));
        text += fmt::format("{:<36}  {:>8}  {:>12}  {:>7.2f}  {:>9.1f}  {:>7.1f}\n", op, sum.runs,
                            seconds_text(1e-9 * nanoseconds, TimeForm::fine),
                            100 * nanoseconds / double(std::max<std::int64_t>(1, total)),
                            double(sum.flops) / nanoseconds, double(sum.bytes) / nanoseconds);
    }
    return text + fmt::format("{:<36}  {:>8}  {:>12}\n", "all", "",
                              seconds_text(1e-9 * double(total), TimeForm::fine));
}

}  // namespace dtnn::runtime
