#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/text.hpp"
#include "compiler/support/diagnostics.hpp"
#include "plan/summary/rows.hpp"
#include "plan/summary/summary.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/draw/graph_dot.hpp"
#include "tools/dtnnc/draw/graph_page.hpp"
#include "tools/dtnnc/draw/graph_render.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {

namespace {

/// Beyond the common options, whose format may be html, svg, png, pdf or dot; text means what the
/// output's ending says.
struct GraphCommand {
    std::string output;   ///< a file, or "-" for standard output (dot, unless a format is given)
    int depth = 0;        ///< of blocks; 0: every layer
    bool fused = false;   ///< the steps of a program instead of the layers
    std::string program;  ///< of them; empty: train
};

// Beyond this nobody reads a picture, and `dot` takes minutes (its time grows faster than the
// square of the nodes).
constexpr std::size_t kMostNodes = 1000;
constexpr int kLimitSeconds = 60;

constexpr Format kForms[] = {Format::html, Format::svg, Format::png, Format::pdf, Format::dot};

Format form_of(const GraphCommand& command, const CommonOptions& options) {
    if (options.format != Format::text) return options.format;
    if (command.output == "-") return Format::dot;
    const std::size_t dot = command.output.rfind('.');
    std::string ending = dot == std::string::npos ? "" : command.output.substr(dot + 1);
    for (const Format known : kForms)
        if (ending == name_of(known)) return known;
    throw UsageError(
        fmt::format("`{}` does not say what to draw\nhelp: name a file that ends in .html, .svg, "
                    ".png, .pdf or .dot, or give --format",
                    command.output));
}

std::string checked_program(const plan::Plan& plan, const GraphCommand& command) {
    if (!command.fused && command.program.empty()) return "";
    std::string name = command.program.empty() ? "train" : command.program;
    if (plan::find_program(plan, name)) return name;
    std::vector<std::string> names;
    for (const plan::Program& program : plan.programs)
        names.push_back(program.name);
    std::string text = fmt::format("no program of the plan is named `{}`", name);
    if (auto near = compiler::did_you_mean(name, names))
        text += fmt::format("\nhelp: did you mean `{}`?", *near);
    else
        text += fmt::format("\nhelp: there are {}", fmt::join(names, ", "));
    throw UsageError(text);
}

std::size_t deepest(const plan::Plan& plan) {
    std::size_t depth = 1;
    for (const plan::Layer& layer : plan.layers)
        depth = std::max(depth, plan::name_parts(layer.name).size());
    return depth;
}

// The refusal of a drawing with too many nodes names the depths that would do.
[[noreturn]] void refuse(const plan::Plan& plan, DrawingOptions options, std::size_t nodes) {
    std::string text = fmt::format("a picture of {} boxes cannot be drawn in reasonable time",
                                   grouped(std::int64_t(nodes)));
    const std::size_t limit =
        options.depth > 0 ? std::size_t(options.depth) : std::min<std::size_t>(deepest(plan), 9);
    for (std::size_t depth = limit; depth-- > 1;) {
        options.depth = int(depth);
        const std::size_t fewer = draw(plan, options).nodes;
        if (fewer > kMostNodes) continue;
        throw UsageError(text + fmt::format("\nhelp: --depth {} draws {} boxes", depth, fewer));
    }
    throw UsageError(text + "\nhelp: group layers in blocks and use --depth, or write a .dot file");
}

int graph(const std::string& spec_or_plan, const GraphCommand& command,
          const CommonOptions& options) {
    const Format form = form_of(command, options);
    compiler::Diagnostics diagnostics;
    const std::optional<plan::Plan> plan = named_plan(spec_or_plan, {}, options, diagnostics);
    const int exit_code = print_diagnostics(diagnostics, options);
    if (!plan) return exit_code;
    DrawingOptions drawing_options;
    drawing_options.depth = command.depth;
    drawing_options.program = checked_program(*plan, command);
    drawing_options.titled = form != Format::html;
    const Drawing drawing = draw(*plan, drawing_options);
    std::string text = drawing.dot;
    if (form != Format::dot) {
        if (drawing.nodes > kMostNodes) refuse(*plan, drawing_options, drawing.nodes);
        text =
            render(drawing.dot, name_of(form == Format::html ? Format::svg : form), kLimitSeconds);
        if (form == Format::html) text = graph_page(drawing, text);
        if (form == Format::svg) text = graph_picture(text);
    }
    if (command.output == "-") {
        write_stdout_bytes(text);
        return 0;
    }
    write_file(command.output, text);
    tell_written(command.output, fmt::format("{} boxes, {} arrows", drawing.nodes, drawing.edges));
    return 0;
}

struct GraphArguments {
    std::string source;
    GraphCommand command;
    CommonOptions common;
};

std::function<int()> declare_graph(OptionList& list) {
    auto given = std::make_shared<GraphArguments>();
    GraphCommand& command = given->command;
    list.argument("SPEC|PLAN", given->source, "A job, a model or a plan");
    declare_common(list, given->common, {std::begin(kForms), std::end(kForms)});
    list.text("-o,--output", command.output,
              "File to draw, by its ending html, a page with search and zoom, svg, png, pdf or "
              "dot; - for dot on standard output",
              {.required = true, .value = "FILE"});
    list.number("--depth", command.depth,
                "Draws what is nested in more than that many blocks as one box", {.lowest = 1});
    list.flag("--fused", command.fused, "Draws the steps after fusion instead of layers");
    list.text("--program", command.program,
              "Whose steps: train or evaluate, or another program of the plan",
              {.value = "PROGRAM", .offers = {"train", "train_tail", "evaluate", "predict"}});
    return [given] { return graph(given->source, given->command, given->common); };
}

const RegisteredCommand kGraphCommand({.name = "graph",
                                       .doc = "Draws the network",
                                       .place = 40,
                                       .declare = declare_graph,
                                       .purpose = Purpose::look,
                                       .exits = {{ExitCode::failed},
                                                 {ExitCode::invalid_spec},
                                                 {ExitCode::over_budget},
                                                 {ExitCode::mismatch}},
                                       .examples = {
                                           {"dtnnc graph resnet18 --depth 2 -o resnet18.html",
                                            "a page: blocks as boxes, shapes on the arrows"},
                                           {"dtnnc graph plan.json --fused -o steps.dot",
                                            "what a training step does, for Graphviz"}}});

}  // namespace

}  // namespace dtnn::tools
