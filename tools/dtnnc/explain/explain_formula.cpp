#include "tools/dtnnc/explain/explain_formula.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/expression/expression.hpp"
#include "base/text.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/ops/expression/parse_infix.hpp"

namespace dtnn::tools {
namespace {

using compiler::FormulaSpec;

std::string operations(const Expression& expression) {
    return count_text(flops(expression), "operation") + " an element";
}

/// Numbers that layers may give other values keep their names.
std::string text_of(const FormulaSpec& formula) {
    const Expression forward = simplify(formula.forward);
    std::string text;
    if (!formula.doc.empty()) text += formula.doc + "\n\n";
    text += fmt::format("forward  {}\n         {}\n\n", formula.text, operations(forward));
    std::vector<std::string> names;
    for (const FormulaSpec::Name& one : formula.names) {
        names.push_back(one.name);
        text += fmt::format("  {:<12} {}\n", one.name, one.kind);
    }
    text += "\nbackward\n";
    bool keeps_input = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!formula.names[i].has_slope) continue;
        const Expression slope = differentiate(forward, int(i));
        keeps_input = keeps_input || reads(slope, 0);
        text += fmt::format("  by {:<9} {}\n               {}{}\n", names[i],
                            to_infix(slope, names), operations(slope),
                            i == 0 ? "" : ", added up over all elements that a number stands for");
    }
    text += fmt::format("  keeps        {}\n",
                        formula.is_loss ? "the predictions and the targets"
                        : keeps_input   ? "x, what the layer reads"
                                        : "nothing: no slope depends on what the layer reads");
    return text;
}

std::optional<FormulaSpec> loss_of(const compiler::JobSpec& job) {
    const plan::Training& training = job.training.training;
    const auto written = training.loss_attributes.find("expression");
    if (written == training.loss_attributes.end()) return std::nullopt;
    FormulaSpec formula;
    formula.name = "loss";
    formula.text = std::get<std::string>(written->second);
    formula.is_loss = true;
    formula.names = {{"p", "a prediction", true}, {"t", "its target", false}};
    formula.forward = compiler::parse_infix(formula.text, {"p", "t"});
    return formula;
}

}  // namespace

std::optional<Topic> explain_formula(const std::string& file, const std::string& name,
                                     const CommonOptions& options,
                                     compiler::Diagnostics& diagnostics, std::string& mistake) {
    const compiler::JobSpec job = compiler::load_job(file, load_options(options), diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    std::vector<FormulaSpec> formulas = job.model.operators;
    const std::optional<FormulaSpec> loss = loss_of(job);
    if (loss) formulas.push_back(*loss);
    const auto found = std::find_if(formulas.begin(), formulas.end(),
                                    [&](const FormulaSpec& one) { return one.name == name; });
    if (found == formulas.end()) {
        std::vector<std::string> names;
        for (const FormulaSpec& formula : formulas)
            names.push_back(formula.name);
        mistake = fmt::format(
            "{} declares no operator `{}`; {}", file, name,
            names.empty() ? "it has none" : fmt::format("it has {}", fmt::join(names, ", ")));
        return std::nullopt;
    }
    const char* const what = found->is_loss ? "loss" : "operator";
    const std::string group =
        loss && found->name == loss->name
            ? fmt::format("the loss of {}", file)
            : fmt::format("{} {} of {}", found->is_loss ? "a" : "an", what, file);
    return Topic{found->name, group,
                 fmt::format("{}: {}\n\n{}", found->name, group, text_of(*found))};
}

}  // namespace dtnn::tools
