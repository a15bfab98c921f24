// Losses by formula that trainings take up by their name.

#include <fmt/format.h>

#include "compiler/frontend/expand/blocks.hpp"

namespace dtnn::compiler {
namespace {

/// {formula: {expression: TEXT, over: WORD}}, at the place of the use; mistakes in the formula are
/// where it is written.
SourceNode formula_node(const Block& block, const Expression& expression, const Span& place) {
    std::vector<std::string> names;
    for (const FormulaSpec::Name& one : loss_inputs())
        names.push_back(one.name);
    // Without parameters it stays as it was written.
    const std::string text =
        block.parameters.empty() ? block.forward_text : to_infix(expression, names);
    SourceNode fields = make_map(place);
    fields.entries.push_back({"expression", place, make_scalar(text, block.forward_span)});
    fields.entries.push_back({"over", place, make_scalar(block.over, place)});
    SourceNode node = make_map(place);
    node.entries.push_back({"formula", place, std::move(fields)});
    return node;
}

}  // namespace

void settle_loss(SourceNode& job, Diagnostics& diagnostics) {
    SourceEntry* model = job.find("model");
    SourceEntry* training = job.find("training");
    if (!model || !training || !training->value.is_map()) return;
    const SourceEntry* declared = model->value.find("operators");
    SourceEntry* loss = training->value.find("loss");
    if (!declared || !declared->value.is_map() || !loss) return;
    const bool with_fields = loss->value.is_map() && loss->value.entries.size() == 1;
    if (!with_fields && !loss->value.is_scalar()) return;
    const std::string name = with_fields ? loss->value.entries[0].key : loss->value.text;
    const Span place = with_fields ? loss->value.entries[0].key_span : loss->value.span;
    const SourceEntry* own = declared->value.find(name);
    if (!own) return;

    SourceNode alone = make_map(declared->value.span);
    alone.entries.push_back(*own);
    Diagnostics heard;
    const Blocks blocks(nullptr, &alone, heard);
    const Block* block = blocks.find(name);
    const auto refuse = [&](const std::string& fact, const std::string& help) {
        Diagnostic& error = diagnostics.error(Code::wrong_type, place, fact);
        error.notes.push_back({own->key_span, "it is declared here"});
        error.help = help;
    };
    if (block && block->forward && !block->is_loss) {
        refuse(fmt::format("`loss` of training is `{}`, which is an operator for layers", name),
               "a loss says `kind: loss`, and its formula reads p and t");
    } else if (block && block->forward) {
        UseFields use;
        const SourceNode* fields = with_fields ? &loss->value.entries[0].value : nullptr;
        if (fields && !fields->is_null() && !fields->is_map())
            refuse(fmt::format("the loss `{}` is given {}; it takes a map of its parameters", name,
                               describe(*fields)),
                   fmt::format("such as `loss: {{{}: {{...}}}}`", name));
        else if (fields && fields->is_map())
            use.map = *fields;
        const Environment nothing;
        const Environment values =
            bind_parameters(*block, use, place, nothing, unknown_shape(), diagnostics);
        if (const auto bound = use_of_operator(*block, values)) {
            loss->value = formula_node(*block, bound->expression, place);
            return;
        }
    }
    // The mistake has been told; another loss would be blamed for what it has nothing to do with.
    training->value.erase("loss");
}

}  // namespace dtnn::compiler
