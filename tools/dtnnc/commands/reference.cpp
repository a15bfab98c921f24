// dtnnc reference: the frontend's pages, and those of what it does not know: passes and kernels.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/markdown.hpp"
#include "compiler/frontend/explain/field_text.hpp"
#include "compiler/frontend/explain/reference_pages.hpp"
#include "compiler/passes/pass.hpp"
#include "kernels/catalogue.hpp"
#include "plan/devices.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/explain/storage_pass.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"

namespace dtnn::tools {
namespace {

using namespace compiler;

/// The graph of a training step when its backward nodes have just been added, as gradient rules
/// made them.
Graph differentiated(const OperatorExample& example) {
    PassContext context;
    context.training = example.job.training.training;
    context.label_kind = example.job.dataset.dataset.target().kind;
    context.program = plan::ProgramKind::train;
    Graph graph = example.graph;
    for (const PassInfo& pass : all_passes()) {
        if (pass.programs.contains(context.program)) graph = pass.run(graph, context);
        // The page shows an operator's own gradient, before other passes work on it.
        if (pass.name == "differentiate") break;
    }
    return graph;
}

void add_once(std::vector<std::string>& list, std::string text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

/// How people call a forward value that a layer's backward reads.
std::string name_of(const Graph& graph, ValueId id, const std::vector<const Node*>& forward) {
    const Value& value = graph.value(id);
    if (value.kind == ValueKind::parameter)
        return fmt::format("`{}`", graph.parameter(value.parameter).role);
    if (value.kind == ValueKind::input) return fmt::format("`{}`", value.name);
    for (const Node* node : forward)
        for (std::size_t i = 0; i < node->outputs.size(); ++i)
            if (node->outputs[i] == id) {
                std::string name = i == 0 ? "the result" : op(node->op).outputs.at(i);
                if (name.ends_with('?')) name.pop_back();
                return i == 0 ? name : fmt::format("`{}`", name);
            }
    return "the input";
}

std::string in_training(const OpDef&, const OperatorExample& example) {
    const Graph graph = differentiated(example);
    std::vector<const Node*> forward, backward;
    for (const Node& node : graph.nodes) {
        if (node.layer != example.layer) continue;
        if (node.phase == Phase::forward) forward.push_back(&node);
        if (node.phase == Phase::backward) backward.push_back(&node);
    }
    std::vector<std::string> forward_ops, backward_ops, kept;
    for (const Node* node : forward)
        add_once(forward_ops, fmt::format("`{}`", node->op));
    for (const Node* node : backward) {
        add_once(backward_ops, fmt::format("`{}`", node->op));
        for (const ValueId input : node->inputs) {
            const Value& value = graph.value(input);
            const bool gradient = value.kind == ValueKind::result &&
                                  graph.node(value.producer).phase == Phase::backward;
            if (!gradient) add_once(kept, name_of(graph, input, forward));
        }
    }
    if (forward.empty())
        return "In the example nothing is left of it: it is removed before training starts.\n";
    std::string text =
        fmt::format("In the example forward becomes {}.", fmt::join(forward_ops, ", "));
    if (backward.empty())
        return text + " Backward computes nothing: each input's gradient is that of the result.\n";
    text += fmt::format(" Backward is {}, which {} the gradient of the result",
                        fmt::join(backward_ops, ", "), backward_ops.size() == 1 ? "reads" : "read");
    if (!kept.empty()) text += fmt::format(" and, kept until then: {}", fmt::join(kept, ", "));
    return text + ".\n";
}

std::string pass_row(const PassInfo& pass, const std::string& order) {
    std::string programs;
    for (const char c : pass.programs.text())
        programs += c == ' ' ? std::string(", ") : std::string(1, c);
    return fmt::format("| {} | `{}` | {} | {} | {} |\n", order, pass.name, programs,
                       pass.optional ? "yes" : "", markdown_cell(pass.doc));
}

ReferencePage passes_page() {
    ReferencePage page{"passes.md", "Shared lists", "passes",
                       "what the compiler does to a graph, in order", ""};
    page.text = fmt::format(
        "{}\n# Passes\n\nWhat the compiler does to the graph of a program, in this order. Optional "
        "ones can be left out, `--disable NAME`: the result then differs in speed and memory only. "
        "`--emit NAME` prints the graph after a pass.\n\n| order | pass | programs | optional | "
        "what it does |\n|---|---|---|---|---|\n",
        kGeneratedLine);
    int order = 0;
    for (const PassInfo& pass : all_passes())
        page.text += pass_row(pass, fmt::format("{}", ++order));
    page.text += pass_row(storage_pass(), "storage");
    return page;
}

/// The kernels of an operator in their order of preference, with the types that are not f32 and f64
/// and the instruction set that they need.
std::string kernels_of(std::string_view device, std::string_view op) {
    std::string text;
    for (const kernels::KernelInfo& kernel : kernels::catalogue(device)) {
        if (kernel.op != op) continue;
        std::string needs;
        if (kernel.needs != kernels::Isa::baseline) needs = kernels::name_of(kernel.needs);
        if (const std::string types = kernels::types_of(kernel); types != "f32, f64")
            needs += (needs.empty() ? "" : "; ") + types;
        text += fmt::format("{}`{}`{}", text.empty() ? "" : ", ", kernel.name,
                            needs.empty() ? "" : fmt::format(" ({})", needs));
    }
    return text;
}

ReferencePage kernels_page() {
    ReferencePage page{"kernels.md", "Shared lists", "kernels",
                       "what computes each operator, in order of preference", ""};
    page.text = fmt::format(
        "{}\n# Kernels\n\nFor every operator that runs, what computes it: the first that the "
        "machine has and that neither refuses the problem nor is expected to be slower at it than "
        "one behind it, or another that [was measured](../tuning.md) to be faster. The plan names "
        "the one chosen, and why others were not; `dtnnc explain PLAN` shows it. `reference` is "
        "the plain form that all others are tested against; `--reference-kernels` chooses it "
        "everywhere. In brackets: the instruction set that one needs, and its types where they are "
        "not f32 and f64.\n\n| operator | {} |\n|---",
        kGeneratedLine, fmt::join(plan::device_names(), " | "));
    for (std::size_t i = 0; i < plan::devices().size(); ++i)
        page.text += "|---";
    page.text += "|\n";
    std::string_view last;
    for (const kernels::KernelInfo& kernel : kernels::catalogue(plan::devices().front().name)) {
        if (kernel.op == last) continue;
        last = kernel.op;
        page.text += fmt::format("| `{}` |", kernel.op);
        for (const plan::DeviceTraits& device : plan::devices())
            page.text += fmt::format(" {} |", kernels_of(device.name, kernel.op));
        page.text += "\n";
    }
    return page;
}

int reference(const std::string& output) {
    namespace fs = std::filesystem;
    std::vector<ReferencePage> pages = reference_pages(in_training);
    pages.push_back(passes_page());
    pages.push_back(kernels_page());
    pages.push_back(reference_index(pages));
    for (const ReferencePage& page : pages) {
        const fs::path file = fs::path(output) / page.path;
        std::error_code error;
        fs::create_directories(file.parent_path(), error);
        if (error)
            throw OutputError(fmt::format("cannot make the folder {}: {}",
                                          file.parent_path().string(), error.message()));
        write_file(file.string(), wrap_markdown(page.text));
    }
    tell_written(output, fmt::format("{} pages", pages.size()));
    return 0;
}

struct ReferenceArguments {
    std::string output;
};

std::function<int()> declare_reference(OptionList& list) {
    auto given = std::make_shared<ReferenceArguments>();
    list.text("-o,--output", given->output, "Folder of the pages",
              {.required = true, .value = "FOLDER"});
    return [given] { return reference(given->output); };
}

const RegisteredCommand kReferenceCommand(
    {.name = "reference",
     .doc = "Writes the reference: a page of Markdown per kind and per operator",
     .place = 130,
     .declare = declare_reference,
     .purpose = Purpose::learn,
     .exits = {{ExitCode::failed}},
     .examples = {{"dtnnc reference -o reference", "what docs/reference has"}}});

}  // namespace

}  // namespace dtnn::tools
