#pragma once
/// The names that expressions read: model parameters, the parameters of the block they stand in,
/// indices of repeats, and the shape of the layer's input.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/frontend/formula/formula.hpp"
#include "compiler/frontend/yaml/source_tree.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/support/field_table.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

struct Binding {
    FormulaValue value;
    bool shaped = false;  ///< made from `in`: not known before shapes are inferred
};

/// Names of one scope; those of the outer scope are in reach where they are not hidden. The outer
/// one must live longer.
class Environment {
  public:
    explicit Environment(const Environment* outer = nullptr) : outer_(outer) {}

    void bind(std::string name, Binding binding);
    const Binding* find(std::string_view name) const;
    void add_names(std::vector<std::string>& names) const;
    const std::vector<std::pair<std::string, Binding>>& own() const { return own_; }

  private:
    const Environment* outer_;
    std::vector<std::pair<std::string, Binding>> own_;
    std::unordered_map<std::string, std::size_t> index_;  ///< of own_, when they are many
};

/// The shape of a sample, without a batch, and what its axes are. Without axes it is unknown, after
/// a diagnostic or before it is inferred. What it names must live longer.
struct SampleShape {
    const Dims& dims;
    const Axes& axes;
};
const SampleShape& unknown_shape();

/// An environment with the input of the layer that the expression belongs to: in.channels,
/// in.height and in.width of an image, in.features of a row of numbers, in.steps of a sequence.
class InReach final : public Names {
  public:
    /// Without an input, as for the model's own fields.
    explicit InReach(const Environment& environment) : environment_(environment) {}
    InReach(const Environment& environment, const SampleShape& shape)
        : environment_(environment), shape_(shape) {}

    std::optional<FormulaValue> find(std::string_view name) const override;
    std::vector<std::string> all() const override;

  private:
    const Environment& environment_;
    std::optional<SampleShape> shape_;
};

/// Whether any scalar of the tree has an expression.
bool any_formula(const SourceNode& tree);
/// The names that the expressions of the tree read, each once, sorted.
std::vector<std::string> names_in(const SourceNode& tree);
/// Whether an expression of the tree reads `in`, or a name that was made from it.
bool reads_shape(const SourceNode& tree, const Environment& environment);

/// The tree with every expression replaced by its value, at its place; nothing when one of them is
/// unknown or wrong, which has been reported.
std::optional<SourceNode> evaluated(const SourceNode& tree, const Names& names,
                                    Diagnostics& diagnostics);

/// Whether expressions can read a name: a letter, then letters, digits and `_`, and no word of the
/// expressions themselves.
bool is_variable_name(std::string_view name);

FormulaValue formula_value(const AttributeValue& value);
/// The value of a field, where an initializer with numbers is more than a text.
FormulaValue formula_value(const AttributeValue& value, FieldType type);

/// "filters = 64, stride = 2"
std::string describe(const Environment& environment);

}  // namespace dtnn::compiler
