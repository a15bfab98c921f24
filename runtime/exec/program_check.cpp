#include "runtime/exec/program_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/saturating.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/dispatch.hpp"
#include "plan/metrics.hpp"
#include "plan/rules/ignored_labels.hpp"
#include "plan/rules/label_sequences.hpp"
#include "plan/rules/local_steps.hpp"
#include "runtime/exec/plan_text.hpp"
#include "runtime/exec/step_problem.hpp"

namespace dtnn::runtime {

RunError refused_plan(const std::string& name, const std::string& fact, const std::string& help) {
    return RunError(Exit::mismatch, fmt::format("the plan {} is refused: {}", name, fact), help);
}

namespace {

void check_step(const plan::Plan& plan, const plan::Program& program, int number,
                const plan::Step& step, const std::string& name) try {
    if (plan::is_collective(step.op)) return;  // the audit has seen it
    const auto where = [&] { return describe_step(plan, program, number, step); };
    const kernels::KernelInfo* kernel =
        kernels::find_kernel(step.op, step.kernel, plan.target.device);
    if (kernel == nullptr) {
        throw refused_plan(name, fmt::format("{}: there is no kernel `{}` for the operator `{}`",
                                             where(), step.kernel, step.op));
    }
    const kernels::Problem problem = problem_of(plan, program, step);
    if (const auto mistake = kernels::operand_mistake(problem)) {
        throw refused_plan(name, fmt::format("{}: {}", where(), *mistake));
    }
    if (const auto reason = kernels::refusal(*kernel, problem)) {
        throw refused_plan(name, fmt::format("{}: the kernel `{}` cannot do it: {}", where(),
                                             step.kernel, *reason));
    }
    const std::int64_t needed = kernels::workspace_bytes(*kernel, problem);
    const std::int64_t booked =
        step.workspace < 0 ? 0 : plan.buffers[std::size_t(step.workspace)].bytes;
    if (booked < needed) {
        throw refused_plan(
            name, fmt::format("{}: the kernel `{}` needs {} bytes of workspace for {} threads, "
                              "the plan books {}",
                              where(), step.kernel, needed, plan.target.threads, booked));
    }
} catch (const kernels::MissingAttribute& missing) {
    throw refused_plan(
        name, fmt::format("{}: {}", describe_step(plan, program, number, step), missing.what()));
}

const plan::Output* find_output(const plan::Program& program, const std::string& name) {
    const auto found = std::find_if(program.outputs.begin(), program.outputs.end(),
                                    [&](const plan::Output& item) { return item.name == name; });
    return found == program.outputs.end() ? nullptr : &*found;
}

/// The tensor `what` of a program must be of this type and shape; the runtime reads or writes it as
/// such.
template <class End>
void check_tensor(const plan::Program& program, const End* item, const std::string& what,
                  DType dtype, const Dims& dims, const std::string& name) {
    if (item == nullptr) {
        throw refused_plan(name, fmt::format("program `{}` has no `{}`", program.name, what));
    }
    const plan::Tensor& tensor = program.tensors[std::size_t(item->tensor)];
    if (tensor.dtype != dtype || tensor.dims != dims) {
        throw refused_plan(
            name, fmt::format("program `{}`: `{}` is {} [{}], not {} [{}]", program.name, what,
                              plan::name_of(tensor.dtype), fmt::join(tensor.dims, ","),
                              plan::name_of(dtype), fmt::join(dims, ",")));
    }
}

/// The loss, and what the plan's metrics are made of (plan/metrics.hpp).
void check_measures(const plan::Plan& plan, const plan::Program& program, bool training,
                    const std::string& name) {
    const auto check_one = [&](const std::string& output, DType dtype) {
        const plan::Output* item = find_output(program, output);
        const Dims dims =
            item == nullptr ? Dims{} : program.tensors[std::size_t(item->tensor)].dims;
        check_tensor(program, item, output, dtype, element_count(dims) == 1 ? dims : Dims{}, name);
    };
    const std::int64_t classes = plan.dataset.target().classes;
    const std::int64_t rows = program.batch * element_count(plan.dataset.target().dims);
    check_one(plan::kLossName, plan.target.dtype);
    if (find_output(program, "loss_weight") != nullptr) check_one("loss_weight", DType::f64);
    if (plan::ignores_labels(plan.dataset)) check_one(plan::kCountedLabels, DType::f64);
    for (const plan::Metric& metric : plan.training.metrics) {
        const plan::MetricInfo* info = plan::find_metric(metric.type);
        if (info == nullptr)
            throw refused_plan(name, fmt::format("its metric `{}` is unknown", metric.type));
        if (info->join == plan::MetricJoin::sum) {
            check_one(metric.output, DType::f64);
        } else if (info->join == plan::MetricJoin::mean) {
            check_one(metric.output, plan.target.dtype);
        } else if (info->join == plan::MetricJoin::scores) {
            // Not measured in training. Scores of pixels have the classes as an axis of their own.
            if (training) continue;
            const plan::Output* item = find_output(program, metric.output);
            const Dims dims =
                item == nullptr ? Dims{} : program.tensors[std::size_t(item->tensor)].dims;
            check_tensor(program, item, metric.output, plan.target.dtype,
                         element_count(dims) == rows * classes ? dims : Dims{rows, classes}, name);
        } else if (plan.dataset.target().kind == plan::LabelKind::multiple) {
            check_tensor(program, find_output(program, metric.output), metric.output, DType::i64,
                         {classes, 4}, name);
        } else {
            check_tensor(program, find_output(program, metric.output), metric.output, DType::i32,
                         {rows, 2}, name);
        }
    }
}

/// Checks that a sample's prediction can be read: numbers of the plan's type, samples first, a
/// number for each class or, where pixels have labels, for each class and pixel; where labels are a
/// sequence, for each class and step.
void check_predictions(const plan::Plan& plan, const plan::Program& program,
                       const std::string& name) {
    const plan::Output* item = find_output(program, "predictions");
    if (item == nullptr)
        throw refused_plan(name, fmt::format("program `{}` has no `predictions`", program.name));
    const Dims& dims = program.tensors[std::size_t(item->tensor)].dims;
    const plan::Feature& target = plan.dataset.target();
    const bool sequences = plan::has_sequences(plan.dataset);
    const std::int64_t numbers =
        saturating_product({program.batch, target.classes,
                            element_count(sequences ? target.stored_dims : target.dims)});
    const bool sound = !dims.empty() && dims[0] == program.batch && element_count(dims) == numbers;
    check_tensor(program, item, "predictions", plan.target.dtype,
                 sound ? dims : Dims{program.batch, plan.dataset.target().classes}, name);
}

/// That texts are of tokens, and there is a number for each that could be the next.
void check_next_tokens(const plan::Plan& plan, const plan::Program& program,
                       const std::string& name) {
    const plan::Output* item = find_output(program, "predictions");
    const std::int64_t classes = plan.dataset.target().classes;
    if (plan.dataset.inputs.size() != 1 || plan.dataset.input().kind != plan::LabelKind::classes ||
        plan.dataset.input().dims.size() != 1)
        throw refused_plan(name,
                           fmt::format("program `{}` generates, and the dataset's samples are "
                                       "no texts of tokens",
                                       program.name));
    const std::int64_t at_once = plan::steps_at_once(program);
    if (at_once < 1 || at_once > plan.dataset.input().dims[0])
        throw refused_plan(name, fmt::format("program `{}` takes {} of the {} steps of a text",
                                             program.name, at_once, plan.dataset.input().dims[0]));
    const Dims rows{program.batch, classes}, steps{program.batch, at_once, classes};
    const bool one =
        item != nullptr && program.tensors[std::size_t(item->tensor)].dims.size() == rows.size();
    check_tensor(program, item, "predictions", plan.target.dtype, one ? rows : steps, name);
}

void check_steps(const plan::Plan& plan, const plan::Program& program, const std::string& name) {
    int number = 0;
    for (const auto* list : {&program.prologue, &program.steps}) {
        for (const plan::Step& step : *list)
            check_step(plan, program, number++, step, name);
    }
}

/// Checks that what the runtime writes to an input fits its tensor.
void check_input(const plan::Plan& plan, const plan::Program& program, const plan::Input& input,
                 const std::string& name) {
    using plan::InputRole;
    const plan::Tensor& tensor = program.tensors[std::size_t(input.tensor)];
    const auto check = [&](DType dtype, const Dims& dims) {
        check_tensor(program, &input, tensor.name, dtype, dims, name);
    };
    const DType dtype = plan.target.dtype;
    const bool generates = program.kind == plan::ProgramKind::generate;
    const std::size_t most = input.role == InputRole::feature   ? plan.dataset.inputs.size()
                             : plan::stays_in_place(input.role) ? program.inputs.size()
                                                                : 1;
    if (input.index < 0 || std::size_t(input.index) >= most) {
        throw refused_plan(name, fmt::format("program `{}` wants {} {}, which is unknown",
                                             program.name, plan::name_of(input.role), input.index));
    }
    switch (input.role) {
        case InputRole::feature: {
            const plan::Feature& feature = plan.dataset.inputs[std::size_t(input.index)];
            Dims dims = {program.batch};
            dims.insert(dims.end(), feature.dims.begin(), feature.dims.end());
            if (generates) dims = {program.batch, plan::steps_at_once(program)};
            return check(generates ? DType::i32 : feature.dtype, dims);
        }
        case InputRole::target:
            if (tensor.dtype == DType::i32)
                return check(DType::i32,
                             {program.batch * element_count(plan.dataset.target().dims)});
            return check(dtype, {program.batch, plan.dataset.target().classes});
        case InputRole::position:
            return check(DType::i64, {2});
        case InputRole::kept_steps:
        case InputRole::carried_state:
            return;  // nobody writes it but the program's steps
        case InputRole::update:
        case InputRole::text_step:
        case InputRole::learning_rate:
        case InputRole::batch_weight:
        case InputRole::share:
            return check(input.role == InputRole::update || input.role == InputRole::text_step
                             ? DType::i64
                             : dtype,
                         element_count(tensor.dims) == 1 ? tensor.dims : Dims{});
    }
}

}  // namespace

void check_program(const plan::Plan& plan, const plan::Program& program, const std::string& name) {
    using plan::ProgramKind;
    const bool training =
        program.kind == ProgramKind::train || program.kind == ProgramKind::accumulate;
    if (program.batch < 1) {
        throw refused_plan(
            name, fmt::format("program `{}` is for a batch of {}", program.name, program.batch));
    }
    for (const plan::Input& input : program.inputs)
        check_input(plan, program, input, name);
    const auto need = [&](plan::InputRole role) {
        if (plan::find_input(program, role) != nullptr) return;
        throw refused_plan(
            name, fmt::format("program `{}` has no `{}`", program.name, plan::name_of(role)));
    };
    if (program.kind == ProgramKind::synchronise) {
        need(plan::InputRole::share);
        return check_steps(plan, program, name);
    }
    need(plan::InputRole::feature);
    if (training || program.kind == ProgramKind::evaluate)
        check_measures(plan, program, training, name);
    if (program.kind == ProgramKind::predict) check_predictions(plan, program, name);
    if (program.kind == ProgramKind::generate) check_next_tokens(plan, program, name);
    if (training && plan.parallel.data && !plan::moves_locally(plan.parallel) &&
        plan::find_input(program, plan::InputRole::batch_weight) == nullptr) {
        throw refused_plan(name,
                           fmt::format("program `{}` has no `batch_weight`, by which ranks weight "
                                       "their batches",
                                       program.name));
    }
    check_steps(plan, program, name);
}

}  // namespace dtnn::runtime
