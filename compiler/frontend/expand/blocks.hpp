#pragma once
/// The blocks of a model and those that are built in: their declarations, and the values that their
/// parameters have in a use.

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/expression/expression.hpp"
#include "compiler/frontend/formula/environment.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {

/// Of operators' parameters that are learned: one number, or one for each channel.
enum class ParameterTraining { one, per_channel };

constexpr auto names_of(ParameterTraining) {
    return std::to_array<const char*>({"one", "per_channel"});
}

inline constexpr std::size_t kMaximumBlockDepth = 16;  ///< of blocks that use blocks

struct BlockParameter {
    using Training = ParameterTraining;

    std::string name;
    std::string doc;
    /// Its texts are views of those above; what it decides are layers' fields.
    Field field = text_field({}, kMustBeGiven, "", kOfLayer);
    const SourceNode* fallback = nullptr;  ///< the default, which may have expressions
    /// Of operators: it is learned, beginning with its value: one number, or one for each channel.
    std::optional<Training> trained = std::nullopt;
};

/// A list of layers with a name and parameters; or, declared under `operators`, one layer that is a
/// formula.
struct Block {
    std::string name;
    Span span;                              ///< of the declared name
    std::deque<BlockParameter> parameters;  ///< in the order declared
    FieldTable fields;  ///< what a use takes: the parameters, and those of every layer
    const SourceNode* layers = nullptr;  ///< null after a diagnostic, and of operators
    bool is_operator = false;
    bool is_loss = false;  ///< of operators: trainings take it up, layers do not
    std::string over;      ///< of losses
    /// Of operators: over x0, the input, and x1, x2, ..., the parameters; of losses over x0, the
    /// prediction, x1, its target, then the parameters. None after a diagnostic.
    std::optional<Expression> forward;
    std::string doc, forward_text;
    Span forward_span;
};

class Blocks {
  public:
    /// Reads the declarations of blocks and of operators (null: none) and reports what is wrong
    /// with them, blocks that use each other in a circle included. The trees must outlive the
    /// object.
    Blocks(const SourceNode* declared, const SourceNode* operators, Diagnostics& diagnostics);

    const Block* find(std::string_view name) const;
    std::vector<std::string> names() const;
    std::size_t size() const { return blocks_.size(); }

  private:
    void read_all(const SourceNode& declared, bool operators, Diagnostics& diagnostics);
    void read(const SourceEntry& entry, bool is_operator, Diagnostics& diagnostics);
    void break_cycles(Diagnostics& diagnostics);

    std::map<std::string, Block, std::less<>> blocks_;
};

/// What a block or an operator, `what` in messages, takes: its parameters and those of every layer.
void read_block_parameters(const SourceNode& map, const std::string& what, Block& block,
                           Diagnostics& diagnostics);
/// The fields of a declaration under `operators`. (operators.cpp)
void read_operator(const SourceEntry& entry, Block& block, Diagnostics& diagnostics);
/// What a use of an operator is.
struct OperatorUse {
    /// Over x0 (of a loss x0 and x1) and, by channel, the trained parameters c1, c2, ...
    Expression expression;
    std::vector<ParameterRule> trained;
    Attributes values;  ///< of all parameters
};
/// What every loss reads.
std::vector<FormulaSpec::Name> loss_inputs();
/// Of a model, by name. (operators.cpp)
std::vector<FormulaSpec> formulas_of(const Blocks& blocks);
/// Nothing where a parameter's value is unknown, after a diagnostic. (operators.cpp)
std::optional<OperatorUse> use_of_operator(const Block& block, const Environment& parameters);

/// A training's loss that a model declares, or a spec of its own that was put beside them, becomes
/// the loss `formula` in the tree of the job. What is wrong with the declaration itself is not
/// said again. (loss_formula.cpp)
void settle_loss(SourceNode& job, Diagnostics& diagnostics);

/// The fields of one use, evaluated: what blocks and operators are read from.
struct UseFields {
    SourceNode map = make_map();
    std::set<std::string, std::less<>> given;   ///< not in the map: unknown after a diagnostic, or
                                                ///< read elsewhere
    std::set<std::string, std::less<>> shaped;  ///< made from the input's shape
    bool plain = true;     ///< nothing was evaluated: the same wherever it is read
    bool unknown = false;  ///< a value is unknown

    void add(const SourceEntry& entry, const Environment& environment, const SampleShape& input,
             Diagnostics& diagnostics);
    /// Fields that were misspelt elsewhere, which was said: unknown where they are not given.
    void add_misspelt(const std::set<std::string, std::less<>>& fields);
};

/// The environment of the block's layers: its parameters as given, else their defaults, which may
/// read parameters declared before them and the shape of the block's input. `model` are the names
/// that every block sees.
Environment bind_parameters(const Block& block, const UseFields& use, const Span& place,
                            const Environment& model, const SampleShape& input,
                            Diagnostics& diagnostics);

}  // namespace dtnn::compiler
