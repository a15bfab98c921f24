#include "plan/summary/summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/escape.hpp"
#include "base/json_text.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "plan/rules/communication.hpp"
#include "plan/rules/memory_need.hpp"
#include "plan/rules/parallel.hpp"
#include "plan/rules/recomputed.hpp"
#include "plan/rules/resident.hpp"
#include "plan/summary/columns.hpp"
#include "plan/summary/rows.hpp"
#include "plan/summary/settings.hpp"
#include "plan/summary/table.hpp"

namespace dtnn::plan {

namespace {

struct ParameterTotals {
    std::int64_t total = 0, trainable = 0, frozen = 0, bytes = 0;
};

ParameterTotals count_parameters(const Plan& plan) {
    ParameterTotals totals;
    for (const Parameter& parameter : plan.parameters) {
        if (parameter.optimizer_state) continue;
        std::int64_t elements = element_count(parameter.dims);
        totals.total += elements;
        if (parameter.trainable) totals.trainable += elements;
        if (is_frozen(parameter)) totals.frozen += elements;
        totals.bytes += elements * size_of(parameter.dtype);
    }
    return totals;
}

int kernels_of(const Program& program) {
    return int(std::count_if(program.steps.begin(), program.steps.end(),
                             [](const Step& step) { return !is_collective(step.op); }));
}

std::string title(const Plan& plan) {
    return plan.model.empty() || plan.model == plan.name
               ? plan.name
               : fmt::format("{} (model {})", plan.name, plan.model);
}

/// The memory that is certain, and what is only a limit, with the parts that they are made of.
std::string memory_text(const Plan& plan) {
    const MemoryNeed need = memory_need(plan);
    const Memory& memory = plan.memory;
    std::string text;
    if (need.device > 0) {
        text = fmt::format("{} of the device's", bytes_text(need.device));
        if (plan.machine.gpus.library_bytes > 0)
            text += fmt::format(", beside {} for its libraries,",
                                bytes_text(plan.machine.gpus.library_bytes));
        text += fmt::format(" and {} of the host's per rank, certain", bytes_text(need.certain));
    } else {
        text = fmt::format("{} per rank, certain", bytes_text(need.certain));
    }
    if (need.certain < need.host) text += fmt::format("; {} at most", bytes_text(need.host));
    text += fmt::format(
        "; arena {}: parameters {}, optimizer {}, inputs {}, transient {}; prepared batches {}",
        bytes_text(memory.arena), bytes_text(memory.parameters), bytes_text(memory.optimizer),
        bytes_text(memory.inputs), bytes_text(memory.transient), bytes_text(memory.staging));
    const std::int64_t exact = std::min(certain_sample_bytes(plan), memory.samples);
    if (exact > 0) text += fmt::format("; samples kept in memory {}", bytes_text(exact));
    if (memory.samples > exact)
        text +=
            fmt::format("; samples and their files at most {}", bytes_text(memory.samples - exact));
    return text;
}

// "386 in all, trainable; ...", "18,786 in all: 18,674 trainable, 112 non-trainable: 112 moving
// statistics, behind the +; ...". The table has "32 + 32" for a layer with both.
std::string parameters_text(const ParameterTotals& totals) {
    std::string text = grouped(totals.total) + " in all";
    const std::int64_t rest = totals.total - totals.trainable;
    if (rest == 0) {
        text += ", trainable";
    } else {
        text += fmt::format(": {} trainable, {} non-trainable: ", grouped(totals.trainable),
                            grouped(rest));
        if (totals.frozen > 0) text += grouped(totals.frozen) + " frozen";
        if (rest > totals.frozen)
            text += fmt::format("{}{} moving statistics, behind the +",
                                totals.frozen > 0 ? ", " : "", grouped(rest - totals.frozen));
    }
    return text + fmt::format("; {} of weights", bytes_text(totals.bytes));
}

/// What texts that are generated take: of memory what is kept of them, and work.
std::string generation_text(const Plan& plan, const Program& program) {
    std::int64_t kept = 0, flops = 0, bytes = 0;
    for (const Buffer& buffer : plan.buffers)
        if (buffer.role == BufferRole::kept) kept += buffer.bytes;
    for (const Step& step : program.steps) {
        flops += step.flops;
        bytes += step.bytes;
    }
    return fmt::format("{} at once, of which {} are kept; {} and at least {} of traffic per step",
                       count_text(program.batch, "text"), bytes_text(double(kept)),
                       flops_text(flops), bytes_text(double(bytes)));
}

/// What batches leave to those behind them.
std::string carried_text(const Plan& plan) {
    std::int64_t bytes = 0;
    for (const Buffer& buffer : plan.buffers)
        if (buffer.role == BufferRole::carried) bytes += buffer.bytes;
    return fmt::format(
        "{} of states go from batch to batch, of training and of evaluation, along "
        "{} of samples",
        bytes_text(double(bytes)), count_text(global_batch(plan, plan.target.ranks), "lane"));
}

struct Total {
    std::string name, text;
};

std::vector<Total> totals(const Plan& plan) {
    const ParameterTotals parameters = count_parameters(plan);
    const Work work = work_of(plan);
    std::vector<Total> lines = {
        {"parameters", parameters_text(parameters)},
        {"memory", memory_text(plan)},
        {"work",
         fmt::format(
             "{} forward per sample; {} and at least {} of traffic per training step of {} samples",
             flops_text(work.forward_flops_per_sample), flops_text(work.train_step_flops),
             bytes_text(work.train_step_bytes), plan.training.batch_size)},
        {"steps", fmt::format("{} kernels per training step, {} per evaluation step",
                              work.train_steps, work.evaluate_steps)},
        {"training",
         fmt::format("{} of {}, {} samples; {} for validation, {} for the test",
                     count_text(plan.training.epochs, "epoch"),
                     count_text(steps_per_epoch(plan, plan.target.ranks), "step"),
                     grouped(plan.dataset.train_samples), grouped(plan.dataset.validation_samples),
                     grouped(plan.dataset.test_samples))},
    };
    if (const Recomputed again = recomputed(plan); again.steps > 0)
        lines.push_back(
            {"recomputed", recomputed_text(again) +
                               " of forward once more in backward, to fit the memory budget"});
    if (const Program* generate = find_program(plan, ProgramKind::generate))
        lines.push_back({"generation", generation_text(plan, *generate)});
    if (plan.training.carry_state) lines.push_back({"carried", carried_text(plan)});
    for (auto& [name, text] : summary_settings(plan))
        lines.push_back({name, std::move(text)});
    if (plan.parallel.data) {
        lines.push_back({"parallel", parallel_words(plan)});
        lines.push_back({"exchanges", exchange_words(plan)});
    }
    lines.push_back(
        {"target", fmt::format("{} {}, {}{}, {}{}", processor_of(plan.target),
                               numbers_of(plan.target), count_text(plan.target.threads, "thread"),
                               plan.target.pin_threads ? " on processors of their own" : "",
                               plan.target.data_workers > 1
                                   ? fmt::format("{} data workers, ", plan.target.data_workers)
                                   : std::string(),
                               count_text(plan.target.ranks, "rank"))});
    return lines;
}

std::string layer_json(const Plan& plan, const std::vector<LayerFacts>& facts,
                       const SummaryRow& row, const std::vector<std::string>& columns) {
    const bool block = row.kind == SummaryRow::Kind::block;
    const Layer& last = plan.layers[row.last];
    const RowTotals totals = totals_of(plan, facts, row);
    std::string inputs;
    for (const Dims& shape : inputs_of(plan, facts, row))
        inputs += (inputs.empty() ? "" : ", ") + json_text(shape);
    std::string text = fmt::format(
        "{{\"index\": {}, \"name\": {}, \"type\": {}, \"parameters\": {}, \"trainable\": {}, "
        "\"frozen\": {}, \"input_shapes\": [{}], \"output_shape\": {}, \"weights_shape\": {}, "
        "\"from\": {}, \"forward_flops\": {}, \"attributes\": {}",
        plan.layers[row.first].index, json_text(row.path), json_text(block ? "block" : last.type),
        totals.parameters, totals.trainable, totals.frozen, inputs, json_text(last.output_shape),
        json_text(block ? Dims{} : last.weights_shape), json_text(sources_of(plan, row)),
        totals.flops, json_text(block ? Attributes{} : last.attributes));
    if (block) text += fmt::format(", \"layers\": {}", row.last - row.first + 1);
    for (const std::string& column : columns)
        if (const std::string member = json_of(plan, facts, row, column); !member.empty())
            text += ", " + member;
    return text + "}";
}

std::string as_json(const Plan& plan, const std::vector<LayerFacts>& facts,
                    const std::vector<SummaryRow>& rows, const std::vector<std::string>& columns) {
    const ParameterTotals parameters = count_parameters(plan);
    const Work work = work_of(plan);
    const Memory& memory = plan.memory;
    const MemoryNeed need = memory_need(plan);
    const std::string device = need.device > 0
                                   ? fmt::format(" \"device\": {}, \"device_libraries\": {},",
                                                 need.device, plan.machine.gpus.library_bytes)
                                   : std::string();
    std::string text = fmt::format("{{\"version\": 1, \"name\": {}, \"model\": {},\n \"layers\": [",
                                   json_text(plan.name), json_text(plan.model));
    for (std::size_t i = 0; i < rows.size(); ++i)
        text += (i ? ",\n  " : "\n  ") + layer_json(plan, facts, rows[i], columns);
    text += fmt::format(
        "],\n \"parameters\": {{\"total\": {}, \"trainable\": {}, \"other\": {}, \"frozen\": {}, "
        "\"bytes\": {}}},\n",
        parameters.total, parameters.trainable, parameters.total - parameters.trainable,
        parameters.frozen, parameters.bytes);
    text += fmt::format(
        " \"memory\": {{\"peak\": {}, \"certain\": {},{} \"arena\": {}, \"parameters\": {}, "
        "\"optimizer\": {}, \"inputs\": {}, \"transient\": {}, \"staging\": {}, \"samples\": "
        "{}}},\n",
        need.host, need.certain, device, memory.arena, memory.parameters, memory.optimizer,
        memory.inputs, memory.transient, memory.staging, memory.samples);
    text += fmt::format(
        " \"work\": {{\"forward_flops_per_sample\": {}, \"train_step\": {{\"flops\": {}, "
        "\"bytes\": {}, \"kernels\": {}, \"recomputed_flops\": {}}}, \"evaluate_step\": "
        "{{\"flops\": {}, \"bytes\": {}, \"kernels\": {}}}, \"batch_size\": {}}}",
        work.forward_flops_per_sample, work.train_step_flops, work.train_step_bytes,
        work.train_steps, recomputed(plan).flops, work.evaluate_step_flops,
        work.evaluate_step_bytes, work.evaluate_steps, plan.training.batch_size);
    if (plan.parallel.data) text += ",\n \"parallel\": " + parallel_json(plan);
    return text + "}\n";
}

std::string as_markdown(const Plan& plan, const std::vector<LayerFacts>& facts,
                        const std::vector<SummaryRow>& rows,
                        const std::vector<std::string>& columns) {
    std::string text = fmt::format("## {}\n\n", markdown_escaped(title(plan)));
    std::string titles, rule;
    for (const std::string& column : columns) {
        titles += fmt::format("| {} ", markdown_escaped(std::string(title_of(column))));
        rule += layout_of(column).right ? "|---:" : "|---";
    }
    text += titles + "|\n" + rule + "|\n";
    for (const SummaryRow& row : rows) {
        for (const std::string& column : columns)
            text += fmt::format("| {} ", markdown_escaped(cell_of(plan, facts, row, column).text));
        text += "|\n";
    }
    text += "\n";
    for (const Total& total : totals(plan))
        text += fmt::format("- {}: {}\n", total.name, markdown_escaped(total.text));
    return text;
}

std::string as_csv(const Plan& plan, const std::vector<LayerFacts>& facts,
                   const std::vector<SummaryRow>& rows, const std::vector<std::string>& columns) {
    std::string text = fmt::format("{}\n", fmt::join(columns, ","));
    for (const SummaryRow& row : rows) {
        std::string line;
        for (const std::string& column : columns)
            line += (&column == &columns.front() ? "" : ",") +
                    csv_quoted(cell_of(plan, facts, row, column).raw);
        text += line + "\n";
    }
    return text;
}

}  // namespace

Work work_of(const Plan& plan) {
    Work work;
    for (const Layer& layer : plan.layers)
        work.forward_flops_per_sample += layer.forward_flops;
    if (const Program* train = find_program(plan, ProgramKind::train)) {
        for (const Step& step : train->steps) {
            work.train_step_flops += step.flops;
            work.train_step_bytes += step.bytes;
        }
        work.train_steps = kernels_of(*train);
    }
    if (const Program* evaluate = find_program(plan, ProgramKind::evaluate)) {
        for (const Step& step : evaluate->steps) {
            work.evaluate_step_flops += step.flops;
            work.evaluate_step_bytes += step.bytes;
        }
        work.evaluate_steps = kernels_of(*evaluate);
    }
    return work;
}

namespace {

// Whether every layer reads just the one before.
bool is_chain(const Plan& plan) {
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        const std::vector<std::string>& from = plan.layers[i].from;
        if (from.size() != 1 || (i > 0 && from[0] != plan.layers[i - 1].name)) return false;
    }
    return true;
}

bool any_frozen(const Plan& plan) {
    return std::any_of(plan.parameters.begin(), plan.parameters.end(), is_frozen);
}

bool is_shown(ColumnShown shown, const Plan& plan) {
    switch (shown) {
        case ColumnShown::usually:
            return true;
        case ColumnShown::where_layers_branch:
            return !is_chain(plan);
        case ColumnShown::where_something_is_frozen:
            return any_frozen(plan);
        case ColumnShown::on_request:
            break;
    }
    return false;
}

// In the table a column that says the same of every layer has no place; programs get it always.
std::vector<std::string> usual_columns(const Plan& plan, bool for_people) {
    std::vector<std::string> columns;
    for (const SummaryColumn& column : summary_columns())
        if (for_people ? is_shown(column.shown, plan) : column.shown != ColumnShown::on_request)
            columns.emplace_back(column.name);
    return columns;
}

}  // namespace

std::string plan_words(const Plan& plan, bool training) {
    const ParameterTotals parameters = count_parameters(plan);
    std::string text = count_text(std::int64_t(plan.layers.size()), "layer") + ", " +
                       count_text(parameters.total, "parameter");
    if (!training)
        return text + fmt::format(", {} to {}", shape_text(plan.dataset.input().dims),
                                  plan.layers.empty()
                                      ? std::string()
                                      : shape_text(plan.layers.back().output_shape));
    return text + fmt::format(", {} of {}, {}", count_text(plan.training.epochs, "epoch"),
                              count_text(steps_per_epoch(plan, plan.target.ranks), "step"),
                              need_words(memory_need(plan)));
}

std::string summary(const Plan& plan, const SummaryOptions& options) {
    const std::vector<LayerFacts> facts = layer_facts(plan);
    const bool for_people =
        options.form == SummaryForm::table || options.form == SummaryForm::markdown;
    std::vector<std::string> columns = options.columns;
    if (columns.empty()) columns = usual_columns(plan, for_people);
    for (const std::string& name : options.more)
        if (std::find(columns.begin(), columns.end(), name) == columns.end())
            columns.push_back(name);
    const bool table = options.form == SummaryForm::table;
    const std::vector<SummaryRow> rows = summary_rows(plan, options.depth, table);
    switch (options.form) {
        case SummaryForm::json:
            return as_json(plan, facts, rows, columns);
        case SummaryForm::csv:
            return as_csv(plan, facts, rows, columns);
        case SummaryForm::markdown:
            return as_markdown(plan, facts, rows, columns);
        case SummaryForm::table:
            break;
    }
    std::string text = title(plan) + "\n\n" +
                       summary_table(plan, facts, rows, columns, options.chosen, options.width) +
                       "\n";
    for (const Total& total : totals(plan))
        text += wrapped(fmt::format("{:<12}", total.name), total.text, options.width);
    return text;
}

std::string summary_text(const Plan& plan, int width) {
    SummaryOptions options;
    options.width = width;
    return summary(plan, options);
}

std::string summary_json(const Plan& plan) {
    SummaryOptions options;
    options.form = SummaryForm::json;
    return summary(plan, options);
}

}  // namespace dtnn::plan
