#include "compiler/passes/shared/fusions.hpp"

#include <algorithm>

#include "base/tensor/epilogue.hpp"
#include "compiler/ops/define.hpp"
#include "compiler/ops/emit.hpp"

namespace dtnn::compiler {

Fusions::Fusions(const Graph& graph) : graph_(graph), uses_(graph), of_(graph.nodes.size()) {}

const Node* Fusions::alone_before(const Node& reader, std::size_t operand) const {
    const ValueId value = reader.inputs[operand];
    const Node* node = producer(graph_, value);
    const bool alone = node && node->outputs[0] == value && uses_.only_reader(value) == &reader &&
                       std::count(reader.inputs.begin(), reader.inputs.end(), value) == 1;
    return alone ? node : nullptr;
}

Fusion Fusions::with(const Node& producer, const Node& behind) {
    Fusion fusion{producer, &behind, {&producer, &behind}, producer.outputs};
    fusion.results[0] = behind.outputs[0];
    return fusion;
}

const Fusion* Fusions::add(Fusion fusion) {
    for (const Node* part : fusion.parts)
        if (of(*part)) return nullptr;
    fusions_.push_back(std::move(fusion));
    for (const Node* part : fusions_.back().parts)
        of(*part) = &fusions_.back();
    return &fusions_.back();
}

std::optional<Graph> Fusions::write() {
    if (fusions_.empty()) return std::nullopt;
    Rewriter rewriter(graph_);
    for (const Node& node : graph_.nodes) {
        Fusion* fusion = of(node);
        if (!fusion)
            rewriter.copy(node);
        else if (fusion->place == &node)
            write(*fusion, rewriter);
    }
    return rewriter.take();
}

void Fusions::write(Fusion& fusion, Rewriter& rewriter) {
    Node node = rewriter.mapped(fusion.node);
    if (fusion.source) node.inputs.push_back(fusion.source->last_result);
    const ValueList results = emit(rewriter, std::move(node), graph_.value(fusion.results[0]).name);
    for (std::size_t i = 0; i < fusion.results.size(); ++i)
        rewriter.replace(fusion.results[i], results[i], true);
    fusion.last_result = results.back();
}

bool takes(const Node& node, Epilogue what) {
    const OpDef& def = op(node.op);
    return std::find(def.takes.begin(), def.takes.end(), what) != def.takes.end() &&
           !has_epilogue(node) && !(def.multiplies && flag(node.attributes, "statistics"));
}

void write_expression(Node& node, std::string postfix) {
    set_epilogue(node.attributes, EpilogueForm::expression);
    node.attributes["expression"] = std::move(postfix);
}

}  // namespace dtnn::compiler
