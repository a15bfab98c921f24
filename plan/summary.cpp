#include "plan/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan/json_text.hpp"

namespace dtnn::plan {

namespace {

std::string shape_text(const Dims& dims) {
    std::string text;
    for (std::int64_t extent : dims)
        text += (text.empty() ? "" : "x") + std::to_string(extent);
    return text;
}

std::string compact(const AttributeValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
        // [3, 3] is 3x3, as users say it.
        return shape_text(*list);
    }
    return json_text(value);
}

std::string attributes_text(const Layer& layer) {
    std::string text;
    if (layer.from.size() > 1) {
        text = "from=";
        for (std::size_t i = 0; i < layer.from.size(); ++i)
            text += (i ? "," : "") + layer.from[i];
    }
    for (const auto& [name, value] : layer.attributes)
        text += (text.empty() ? "" : " ") + name + "=" + compact(value);
    return text;
}

// Columns that a terminal shows, for text that is UTF-8: its characters.
std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

std::string cut(const std::string& text, std::size_t width) {
    if (columns(text) <= width) return text;
    std::size_t end = 0, shown = 0, keep = width < 3 ? 0 : width - 3;
    while (end < text.size()) {
        bool starts = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
        if (starts && shown++ == keep) break;
        ++end;
    }
    return text.substr(0, end) + "...";
}

constexpr std::size_t kColumns = 7;
using Row = std::array<std::string, kColumns>;
constexpr std::array<bool, kColumns> kRight = {true, false, false, true, false, false, false};
constexpr std::size_t kAttributes = 6;
constexpr std::size_t kLeastAttributes = 10;

std::string table(const std::vector<Row>& rows, int width) {
    std::array<std::size_t, kColumns> widths{};
    for (const Row& row : rows)
        for (std::size_t c = 0; c < kColumns; ++c)
            widths[c] = std::max(widths[c], columns(row[c]));
    std::size_t fixed = 0;
    for (std::size_t c = 0; c < kAttributes; ++c)
        fixed += widths[c] + 2;
    auto available = static_cast<std::size_t>(std::max(width, 0));
    bool attributes = fixed + kLeastAttributes <= available;
    if (attributes) widths[kAttributes] = std::min(widths[kAttributes], available - fixed);
    std::size_t shown = attributes ? kColumns : kColumns - 1;

    std::string text;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        std::string line;
        for (std::size_t c = 0; c < shown; ++c) {
            std::string cell = cut(rows[r][c], widths[c]);
            std::string padding(widths[c] - std::min(widths[c], columns(cell)), ' ');
            line += (c ? "  " : "") + (kRight[c] ? padding + cell : cell + padding);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
        if (r == 0) {
            std::size_t total = 0;
            for (std::size_t c = 0; c < shown; ++c)
                total += widths[c] + (c ? 2 : 0);
            text += std::string(total, '-') + "\n";
        }
    }
    return text;
}

struct ParameterTotals {
    std::int64_t total = 0, trainable = 0, bytes = 0;
};

ParameterTotals count_parameters(const Plan& plan) {
    ParameterTotals totals;
    for (const Parameter& parameter : plan.parameters) {
        if (parameter.optimizer_state) continue;
        std::int64_t elements = element_count(parameter.dims);
        totals.total += elements;
        if (parameter.trainable) totals.trainable += elements;
        totals.bytes += elements * size_of(parameter.dtype);
    }
    return totals;
}

std::string scaled(double value, double step, std::initializer_list<const char*> units) {
    const char* const* unit = units.begin();
    while (value >= step && unit + 1 != units.end())
        value /= step, ++unit;
    return fmt::format("{:.{}f} {}", value, unit == units.begin() ? 0 : 1, *unit);
}

}  // namespace

std::string grouped(std::int64_t number) {
    std::string digits = std::to_string(number);
    std::size_t first = digits[0] == '-' ? 1 : 0;
    for (std::size_t i = digits.size(); i > first + 3;)
        digits.insert(i -= 3, ",");
    return digits;
}

std::string bytes_text(std::int64_t bytes) {
    return scaled(static_cast<double>(bytes), 1024, {"bytes", "KiB", "MiB", "GiB", "TiB"});
}

std::string flops_text(std::int64_t flops) {
    return scaled(static_cast<double>(flops), 1000, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"});
}

Work work_of(const Plan& plan) {
    Work work;
    for (const Layer& layer : plan.layers)
        work.forward_flops_per_sample += layer.forward_flops;
    if (const Program* train = find_program(plan, "train")) {
        for (const Step& step : train->steps) {
            work.train_step_flops += step.flops;
            work.train_step_bytes += step.bytes;
        }
        work.train_steps = static_cast<int>(train->steps.size());
    }
    if (const Program* evaluate = find_program(plan, "evaluate")) {
        for (const Step& step : evaluate->steps) {
            work.evaluate_step_flops += step.flops;
            work.evaluate_step_bytes += step.bytes;
        }
        work.evaluate_steps = static_cast<int>(evaluate->steps.size());
    }
    return work;
}

std::string summary_text(const Plan& plan, int width) {
    std::vector<Row> rows = {
        {"#", "name", "type", "parameters", "output shape", "weights shape", "attributes"}};
    for (const Layer& layer : plan.layers)
        rows.push_back({std::to_string(layer.index), layer.name, layer.type,
                        grouped(layer.parameters), shape_text(layer.output_shape),
                        shape_text(layer.weights_shape), attributes_text(layer)});
    std::string text = plan.model.empty() || plan.model == plan.name
                           ? plan.name + "\n\n"
                           : fmt::format("{} (model {})\n\n", plan.name, plan.model);
    text += table(rows, width);

    ParameterTotals parameters = count_parameters(plan);
    Work work = work_of(plan);
    const Memory& memory = plan.memory;
    text += fmt::format("\nparameters  {} in all, {} trainable, {}\n", grouped(parameters.total),
                        grouped(parameters.trainable), bytes_text(parameters.bytes));
    text += fmt::format(
        "memory      {} arena: parameters {}, optimizer {}, inputs {}, transient {}; prepared "
        "batches {}\n",
        bytes_text(memory.arena), bytes_text(memory.parameters), bytes_text(memory.optimizer),
        bytes_text(memory.inputs), bytes_text(memory.transient), bytes_text(memory.staging));
    text += fmt::format(
        "work        {} forward per sample; {} and at least {} of traffic per training step of {} "
        "samples\n",
        flops_text(work.forward_flops_per_sample), flops_text(work.train_step_flops),
        bytes_text(work.train_step_bytes), plan.training.batch_size);
    text += fmt::format("steps       {} kernels per training step, {} per evaluation step\n",
                        work.train_steps, work.evaluate_steps);
    text += fmt::format(
        "training    {} epochs of {} steps, {} samples; {} for validation, {} for "
        "the test\n",
        plan.training.epochs, plan.training.steps_per_epoch, grouped(plan.dataset.train_samples),
        grouped(plan.dataset.validation_samples), grouped(plan.dataset.test_samples));
    text += fmt::format(
        "target      {} {} {}, {} thread{}, {}\n", plan.target.device, plan.target.isa,
        name_of(plan.target.dtype), plan.target.threads, plan.target.threads == 1 ? "" : "s",
        plan.target.ranks == 1 ? "1 rank" : fmt::format("{} ranks", plan.target.ranks));
    return text;
}

std::string summary_json(const Plan& plan) {
    ParameterTotals parameters = count_parameters(plan);
    Work work = work_of(plan);
    const Memory& memory = plan.memory;
    std::string text = fmt::format("{{\"version\": 1, \"name\": {}, \"model\": {},\n \"layers\": [",
                                   json_text(plan.name), json_text(plan.model));
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        const Layer& layer = plan.layers[i];
        text += fmt::format(
            "{}\n  {{\"index\": {}, \"name\": {}, \"type\": {}, \"parameters\": {}, "
            "\"trainable\": {}, \"output_shape\": {}, \"weights_shape\": {}, \"from\": {}, "
            "\"forward_flops\": {}, \"attributes\": {}}}",
            i ? "," : "", layer.index, json_text(layer.name), json_text(layer.type),
            layer.parameters, layer.trainable, json_text(layer.output_shape),
            json_text(layer.weights_shape), json_text(layer.from), layer.forward_flops,
            json_text(layer.attributes));
    }
    text +=
        fmt::format("],\n \"parameters\": {{\"total\": {}, \"trainable\": {}, \"bytes\": {}}},\n",
                    parameters.total, parameters.trainable, parameters.bytes);
    text += fmt::format(
        " \"memory\": {{\"arena\": {}, \"parameters\": {}, \"optimizer\": {}, \"inputs\": {}, "
        "\"transient\": {}, \"staging\": {}}},\n",
        memory.arena, memory.parameters, memory.optimizer, memory.inputs, memory.transient,
        memory.staging);
    text += fmt::format(
        " \"work\": {{\"forward_flops_per_sample\": {}, \"train_step\": {{\"flops\": {}, "
        "\"bytes\": {}, \"kernels\": {}}}, \"evaluate_step\": {{\"flops\": {}, \"bytes\": {}, "
        "\"kernels\": {}}}, \"batch_size\": {}}}}}\n",
        work.forward_flops_per_sample, work.train_step_flops, work.train_step_bytes,
        work.train_steps, work.evaluate_step_flops, work.evaluate_step_bytes, work.evaluate_steps,
        plan.training.batch_size);
    return text;
}

}  // namespace dtnn::plan
