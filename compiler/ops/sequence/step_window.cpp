#include "compiler/ops/sequence/step_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.hpp"
#include "compiler/ir/printer.hpp"
#include "compiler/ops/sequence/lengths.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

/// The axis of a window that lies along the steps: columns.
constexpr int kStepAxis = 1;

std::int64_t step_number(const Attributes& attributes, const char* name, std::int64_t absent) {
    const auto found = attributes.find(name);
    return found == attributes.end() ? absent : std::get<std::int64_t>(found->second);
}

}  // namespace

Field step_padding_field() {
    Field field{.name = "padding",
                .type = FieldType::step_padding,
                .doc =
                    "steps of zeros around the sequence: valid (none), same (output steps are "
                    "input steps over stride, rounded up), causal (before the first alone, so "
                    "that no window looks at steps to come), one number, or [before, behind]",
                .change = kOfLayer};
    field.fallback = std::string("valid");
    field.minimum = 0;
    field.maximum = kLargestWindow;
    return field;
}

Field step_count_field(std::string_view name, std::optional<std::int64_t> fallback,
                       std::string_view doc) {
    Field field = integer_field(name, fallback, doc, 1, kLargestWindow);
    field.optional = !fallback;
    return field;
}

std::int64_t step_kernel_of(const Attributes& attributes, std::int64_t absent) {
    return step_number(attributes, "kernel", absent);
}

Window step_window_of(const Attributes& attributes, std::int64_t kernel) {
    Window w;
    w.kernel[kStepAxis] = kernel;
    w.stride[kStepAxis] = step_number(attributes, "stride", 1);
    w.dilation[kStepAxis] = step_number(attributes, "dilation", 1);
    if (const auto found = attributes.find("padding"); found != attributes.end())
        if (const auto* sides = std::get_if<std::vector<std::int64_t>>(&found->second)) {
            DTNN_CHECK_COMPARE(sides->size(), ==, std::size_t{2});
            std::copy(sides->begin(), sides->end(), w.padding.begin() + 2 * kStepAxis);
        }
    return w;
}

std::optional<Window> resolve_step_window(ShapeContext& c, std::int64_t kernel,
                                          bool with_dilation) {
    Window w = step_window_of(c.attributes(), kernel);
    const std::int64_t steps = c.input(0).dims[1];
    std::int64_t &before = w.padding[2 * kStepAxis], &behind = w.padding[2 * kStepAxis + 1];
    if (says(c.attributes(), "padding", StepPadding::same))
        std::tie(before, behind) = same_padding(w, kStepAxis, steps);
    else if (says(c.attributes(), "padding", StepPadding::causal))
        before = w.reach(kStepAxis) - 1;
    const std::int64_t output = w.output(kStepAxis, steps), dilation = w.dilation[kStepAxis];
    if (output < 1) {
        c.fail(fmt::format("a kernel of {}{} does not fit {} with padding [{}, {}]: ({} + {} + {} "
                           "- {}*({}-1) - 1) / {} + 1 = {}",
                           count_text(kernel, "step"),
                           dilation == 1 ? "" : fmt::format(" with dilation {}", dilation),
                           count_text(steps, "step"), before, behind, steps, before, behind,
                           dilation, kernel, w.stride[kStepAxis], output),
               "use a smaller kernel, `padding: same`, or fewer layers that shorten the sequence "
               "before",
               "kernel");
        return std::nullopt;
    }
    c.attributes()["stride"] = w.stride[kStepAxis];
    c.attributes()["padding"] = std::vector<std::int64_t>{before, behind};
    if (with_dilation) c.attributes()["dilation"] = dilation;
    return w;
}

bool expect_steps(ShapeContext& c, const Window& w) {
    const std::int64_t steps = c.input(0).dims[1];
    const auto empty = window_of_padding(w, kStepAxis, steps);
    if (!empty) return true;
    const std::int64_t first = *empty * w.stride[kStepAxis] - w.padding[2 * kStepAxis];
    c.fail(fmt::format("{}: window {} of {} holds padding only: steps {} to {} of 0 to {}",
                       c.op().name, *empty, count_text(w.kernel[kStepAxis], "step"), first,
                       first + w.reach(kStepAxis) - 1, steps - 1),
           "use less padding than the kernel is long", "padding");
    return false;
}

bool copies_steps(const Graph&, const Node& node) {
    const Window w = step_window_of(node.attributes, step_kernel_of(node.attributes, 1));
    return w.kernel == Window().kernel && w.stride == Window().stride &&
           w.padding == Window().padding && node.outputs.size() == 1;
}

Type step_windowed_type(const ShapeContext& c, std::int64_t features, const Window& window) {
    const Type& src = c.input(0);
    return {src.dtype,
            {src.dims[0], window.output(kStepAxis, src.dims[1]), features},
            {},
            usual_axes(2)};
}

Attributes image_window(const Attributes& attributes) {
    Attributes result = attributes;
    for (const char* name : {"kernel", "stride", "dilation"})
        if (attributes.contains(name))
            result[name] = std::vector<std::int64_t>{1, step_number(attributes, name, 1)};
    const Window w = step_window_of(attributes, 1);
    result["padding"] = std::vector<std::int64_t>(w.padding.begin(), w.padding.end());
    return result;
}

Type filters_over_a_row(const Dims& dims) {
    return {DType::f32, {dims[0], dims[1], 1, dims[2]}, {}, {}};
}

bool expect_step_filters(ShapeContext& c) {
    const Dims& weights = c.input(1).dims;
    if (weights.size() == 4 && weights[2] == 1) return true;
    c.fail(fmt::format("{}: weights must be [filters, features, 1, kernel], got {}", c.op().name,
                       shape_text(weights)));
    return false;
}

void lengths_of_step_filters(LengthsContext& c) {
    const Graph& graph = c.graph();
    if (graph.type(c.node().outputs[0]).dims[1] != graph.type(c.node().inputs[0]).dims[1])
        return c.refuse(
            "it gives another number of steps than it reads, and how many of them a "
            "sample has is not followed",
            "`padding: same` or `causal` with a stride of 1 gives a step for each");
    ValueList inputs{masked(c, c.input(0), StepMask::zeros)};
    for (std::size_t i = 1; i < c.node().inputs.size(); ++i)
        inputs.push_back(c.input(i));
    c.set(c.emit(c.node().op, std::move(inputs), c.node().attributes, "dst")[0], true);
}

void next_of_step_filters(StepContext& c) {
    const Node& node = c.node();
    const Window w = step_window_of(node.attributes, c.graph().type(c.input(1)).dims[3]);
    const std::int64_t past = w.reach(kStepAxis) - 1;
    if (w.stride[kStepAxis] != 1 || w.padding[2 * kStepAxis] != past ||
        w.padding[2 * kStepAxis + 1] != 0)
        return c.refuse("its windows do not end at the step that each is of",
                        "`padding: causal` with a stride of 1 lets a step see itself and those "
                        "before alone");
    ValueList inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
        inputs.push_back(c.input(i));
    if (past > 0) {
        const Type& whole = c.whole(0);
        const ValueId kept =
            c.kept("steps", {whole.dtype, {whole.dims[0], past, whole.dims[2]}, {}, whole.axes});
        inputs[0] = c.emit("concat", {kept, inputs[0]}, {}, "reached")[0];
        c.keep(kept, c.emit("slice", {inputs[0]}, {{"begin", c.steps()}, {"end", c.steps() + past}},
                            "last")[0]);
    }
    Attributes attributes = node.attributes;
    attributes["padding"] = std::vector<std::int64_t>{0, 0};
    c.set(c.emit(node.op, std::move(inputs), std::move(attributes), "dst")[0]);
}

}  // namespace dtnn::compiler
