#pragma once
/// What an operator is. One file per operator defines everything about it; ops.def lists them.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor/choices.hpp"
#include "compiler/ir/graph.hpp"
#include "compiler/support/field_table.hpp"
#include "plan/forecast/kernel_class.hpp"
#include "plan/rules/exchange_ends.hpp"

namespace dtnn {
struct Signature;
}

namespace dtnn::compiler {

/// A shape rule's refusal: what the user is told. `text` shows both shapes and the arithmetic with
/// numbers.
struct ShapeError {
    std::string text;
    std::string help;
    std::string field;  ///< the attribute to point at; empty: the layer
};

/// What kernels do to a result before they store it, in this order.
enum class Epilogue {
    residual,    ///< the attribute `residual`: an operand that is added
    relu,        ///< the attribute `epilogue`
    expression,  ///< likewise; the attribute `expression` has it
    mask,        ///< the attribute `mask`: nothing where a last operand is not above 0
};

struct OpDef;

/// What a shape rule sees: operand types and attributes; it sets one type per result. It may also
/// replace attributes by their resolved form (padding "same" becomes four numbers).
class ShapeContext {
  public:
    ShapeContext(const OpDef& op, const std::vector<Type>& inputs, Attributes& attributes)
        : op_(op), inputs_(inputs), attributes_(attributes) {}
    const OpDef& op() const { return op_; }
    const std::vector<Type>& inputs() const { return inputs_; }
    const Type& input(std::size_t i) const { return inputs_[i]; }
    Attributes& attributes() { return attributes_; }
    std::int64_t integer(const char* name) const;
    double real(const char* name) const;
    bool flag(const char* name) const;  ///< absent: false
    bool has(const char* name) const { return attributes_.contains(name); }
    /// The place of an operand of the signature; none where the node does not have it.
    std::optional<std::size_t> place_of(std::string_view operand) const;
    std::string text(const char* name) const;
    std::vector<std::int64_t> integers(const char* name) const;
    void result(Type type) { results_.push_back(std::move(type)); }
    void fail(std::string text, std::string help = "", std::string field = "") {
        if (!error_) error_ = ShapeError{std::move(text), std::move(help), std::move(field)};
    }
    const std::optional<ShapeError>& error() const { return error_; }
    const std::vector<Type>& results() const { return results_; }

  private:
    const OpDef& op_;
    const std::vector<Type>& inputs_;
    Attributes& attributes_;
    std::vector<Type> results_;
    std::optional<ShapeError> error_;
};

/// What a gradient rule sees. It emits backward nodes and says which value is the gradient of which
/// input. Inputs whose gradient nobody needs are reported by `wants`; emitting nothing for them
/// saves the work.
class GradientContext {
  public:
    virtual ~GradientContext() = default;
    virtual const Graph& graph() const = 0;
    virtual const Node& node() const = 0;  ///< the forward node
    virtual ValueId input(
        std::size_t i) const = 0;  ///< forward operand, kept for backward by being read
    virtual ValueId output(std::size_t i) const = 0;  ///< forward result, likewise
    virtual ValueId diff(
        std::size_t i) const = 0;  ///< gradient of output i; invalid when nothing depends on it
    virtual bool wants(std::size_t i) const = 0;
    /// Emits a backward node and returns its results; `name` is made unique. Shapes are inferred.
    virtual ValueList emit(std::string_view op, ValueList inputs, Attributes attributes,
                           const std::string& name) = 0;
    virtual void set(std::size_t input, ValueId gradient) = 0;
};

/// What a rule for the next steps of a sequence sees, where those before have come and left what
/// they kept. It emits the nodes that give the operator's results for these steps.
class StepContext {
  public:
    virtual ~StepContext() = default;
    virtual const Graph& graph() const = 0;              ///< of the next steps
    virtual std::int64_t steps() const = 0;              ///< how many these are, mostly one
    virtual const Node& node() const = 0;                ///< over all steps
    virtual ValueId input(std::size_t i) const = 0;      ///< operand i, of the next steps
    virtual const Type& whole(std::size_t i) const = 0;  ///< its type over all steps
    virtual ValueId step() = 0;  ///< an i64: the step's place in its text, from 0
    /// What is kept from step to step, zeros before the first, and what it becomes at this one.
    virtual ValueId kept(const std::string& name, const Type& type) = 0;
    virtual void keep(ValueId kept, ValueId next) = 0;
    virtual ValueList emit(std::string_view op, ValueList inputs, Attributes attributes,
                           const std::string& name) = 0;
    virtual void set(ValueId result) = 0;  ///< of the operator, which has one
    /// Its results need steps that have not come yet.
    virtual void refuse(std::string fact, std::string help) = 0;
};

/// What a rule for samples of fewer steps than there is room for sees: the steps behind those of a
/// sample hold anything, and nothing that counts may be made of them. It emits the nodes that give
/// the operator's result.
class LengthsContext {
  public:
    virtual ~LengthsContext() = default;
    virtual const Graph& graph() const = 0;          ///< that knows no lengths
    virtual const Node& node() const = 0;            ///< of that graph
    virtual ValueId input(std::size_t i) const = 0;  ///< operand i, of the new graph
    virtual bool padded(std::size_t i) const = 0;    ///< it has such steps
    virtual ValueId lengths() = 0;                   ///< an i32 for each sample
    virtual ValueList emit(std::string_view op, ValueList inputs, Attributes attributes,
                           const std::string& name) = 0;
    /// Of the operator, which has one; `padded`: it has such steps.
    virtual void set(ValueId result, bool padded) = 0;
    /// It cannot do without them.
    virtual void refuse(std::string fact, std::string help) = 0;
};

struct Cost {
    std::int64_t flops = 0;  ///< a fused multiply-add counts two
    std::int64_t bytes = 0;  ///< every operand read or written once
};

/// Where the numbers of a result lie, whatever the operand's.
struct Range {
    std::optional<double> least, most;
};
/// "at least 0", "between -1 and 1".
std::string range_text(const Range& range);

/// A parameter that a layer owns, as its operator declares it: shape from the layer's input.
struct ParameterRule {
    std::string role;       ///< weights, bias, gamma, ...
    bool trainable = true;  ///< false: a moving statistic
    /// Returns no dims when the layer does not have it (bias: false). `input` is the layer's first
    /// operand.
    std::function<Dims(const Type& input, const Attributes&)> dims;
    std::function<plan::Initializer(const Dims&, const Attributes&)> initializer;
    /// How the layer sees it, where that is more than a list of the dims: what is like a sample is
    /// a batch of one, and lies as samples do.
    std::function<Type(const Type& input, const Attributes&)> view = {};
    /// The field that says with what it begins, where the layer has one.
    std::string initializer_field() const { return role + "_initializer"; }

    /// Of a layer that computes in `dtype`: its input may be of integers.
    Type type(const Type& input, const Attributes& attributes, DType dtype) const {
        Dims own = dims(input, attributes);
        Type result =
            view && !own.empty() ? view(input, attributes) : Type{dtype, std::move(own), {}};
        result.dtype = dtype;
        return result;
    }
};

/// What an operator is of, for drawings and tables. Gradients belong to the family of what they are
/// gradients of.
enum class Family {
    convolution,
    dense,
    normalisation,
    activation,
    pooling,
    join,  ///< several values become one: sums, products, concatenation
    shape,
    dropout,
    sequence,  ///< between the steps of a sequence, and integers as rows
    loss,      ///< and metrics
    update,
    exchange,  ///< between ranks
};

/// What the class of a step depends on, beside its operator.
struct KernelClassContext {
    const std::vector<Type>& inputs;
    const std::vector<Type>& outputs;
    std::string_view kernel;  ///< the chosen one's name
};

/// When a node is no more than a view of its operand.
enum class View {
    none,
    row_major,             ///< where the axes longer than one lie in their own order on both sides
    same_order,            ///< where both lie in one order
    channels_last_source,  ///< where the operand does
    channels_last_result,
    always,
};

/// How an operand or a result is to lie in memory.
enum class Wish {
    usual,      ///< with its channels last, row-major where it has none
    row_major,  ///< the numbers of a sample in the order of its axes
    follows,    ///< as result 0 does, where that has the same extents
};

/// An operator's weights: which operand or result they are, and the physical order in which its
/// kernels read and write them where they have as many axes as that.
struct StoredWeights {
    bool result = false;
    std::size_t index = 0;
    Order order;
};

/// Of what drops at random (OpDef::drops_by): that it does.
inline constexpr const char* kDrops = "drops";

/// Of what begins with a state (OpDef::carries): that it is given, and not zeros.
inline constexpr const char* kCarried = "carried";

/// What a layer becomes in training or in inference.
struct PhaseForm {
    std::string_view op;                       ///< empty: operand 0 stands for its result
    std::vector<const char*> attributes = {};  ///< those that stay
    /// Pairs (operand, result): the next value of a moving statistic.
    std::vector<std::pair<std::size_t, std::size_t>> updates = {};
    /// It draws numbers: attributes `seed` and `stream`, one for each such node, and the input
    /// "position" as its last operand.
    bool random = false;
};

struct OpDef {
    std::string name;
    std::optional<Family> family;  ///< every operator states one: a test asks
    /// Which rate of a machine a step of it runs at, in forecasts; every operator states it.
    std::function<plan::KernelClass(const KernelClassContext&)> kernel_class;
    std::string doc;        ///< one sentence
    std::string example;    ///< YAML, for layers; empty for internal operators
    bool layer = false;     ///< users may write it as a layer
    bool variadic = false;  ///< takes one or more inputs of the same kind (add, concat)
    int min_inputs = 1;     ///< activations a layer takes (parameters not counted)
    FieldTable fields;      ///< attributes as users write them
    /// Attributes beside the fields, with their defaults. Steps have all of them: kernels have no
    /// defaults of their own. Flags that are not there are false.
    Attributes attributes;
    const Signature* signature = nullptr;  ///< by name, where it has one
    std::vector<std::string> inputs;       ///< operand names in order, "name?" when optional
    std::vector<std::string> outputs;      ///< result names in order, "name?" when optional
    const char* operands_by = nullptr;     ///< the attribute whose default says which
    /// Sets the attributes by which operands are there, where that follows from how many they are.
    std::function<void(ShapeContext&)> settle_operands;
    std::vector<ParameterRule>
        parameters;  ///< layers only: operands after the activations, in order
    std::function<void(ShapeContext&)> shape;
    std::function<void(GradientContext&)> gradient;
    std::string no_gradient_reason;  ///< stated where there is none
    /// Whether a step of its result is made of the same step of its operands alone, [N, steps,
    /// ...]; empty: never.
    std::function<bool(const Node&)> same_step;
    /// One step of a sequence behind those before. Where neither is said, or true, all steps are
    /// needed at once.
    std::function<void(StepContext&)> next_step;
    /// What it can begin with in place of zeros: the operand, there where kCarried says so, behind
    /// all others and in this order, and the result whose last step is where it ends.
    struct State {
        const char* operand;
        std::size_t result;
    };
    std::vector<State> carries;
    /// What it is where samples have fewer steps than there is room for. Where it is not said,
    /// `same_step` is, or it cannot be (apply_lengths).
    std::function<void(LengthsContext&)> with_lengths;
    std::function<Cost(const std::vector<Type>& inputs, const std::vector<Type>& outputs,
                       const Attributes&)>
        cost;
    /// Pairs (output, input): the kernel may write that output over that input. Of a node with
    /// members `in_place_of` says all of them.
    std::vector<std::pair<int, int>> in_place;
    /// One launch of a device may do several nodes of it (base/tensor/members.hpp).
    bool joins = false;
    /// Output `output` is the next value of the moving statistic `input`. No other output depends
    /// on that one.
    struct Move {
        int output = 0, input = 0;
    };
    std::vector<Move> moves;
    /// An end of an exchange between ranks: no kernel runs it, and its results take the place of
    /// its operands, always, which lie one after the other in one buffer (lower/in_place.hpp).
    std::optional<plan::ExchangeEnd> exchange;
    /// The result is the rank's own part of what the operands make one stretch of: passes and
    /// lowering find it by this.
    bool own_part = false;
    /// Where its results are its operands' bytes under another shape or order, so that no step
    /// runs.
    View view = View::none;
    /// What its result is where it ends a model.
    plan::Prediction gives = plan::Prediction::scores;
    /// The result is the input's numbers under another name or shape, so it gives what they are.
    bool keeps_numbers = false;
    /// It takes the mean of each channel away, over the batch, so that a number added to a channel
    /// before it changes nothing.
    bool centres_channels = false;
    /// Of a layer: its simpler form carries a state from step to step, and so from batch to batch.
    bool has_state = false;
    /// It means the same of images of one row, feature by feature, so it may stay between two that
    /// have to be over images (over_images).
    bool follows_images = false;
    bool of_sequences = false;          ///< operand 0 is one, [steps, features], which is checked
    bool keeps_channels_apart = false;  ///< a channel of the result is made of one of the input
    bool pads = false;                  ///< with zeros, which a convolution behind it can do itself
    Wish operands_wish = Wish::usual;   ///< but for weights
    Wish results_wish = Wish::usual;
    std::optional<Range> range;  ///< none: results may be any numbers
    /// Whether, with such fields, a number that is added to a channel of an input is added to all
    /// of the channels that the result makes of it; empty: no.
    std::function<bool(const Attributes& fields)> keeps_shifts;
    std::optional<StoredWeights> weights;
    /// Operators whose weights [a, b] a layer of it can read as its own [b, a].
    std::vector<std::string> reads_transposed;
    /// The result is operand 0, number by number; empty: never.
    std::function<bool(const Graph&, const Node&)> does_nothing;
    /// Simpler operators of the same meaning, each reading the one before as operand 0; none where
    /// the node is as simple as can be.
    std::function<std::vector<Node>(const Graph&, const Node&)> general_form;
    /// Of operators over sequences, which no kernel runs: what it is over images of one row,
    /// [features, 1, steps], which are the same bytes. Its operands and results that are sequences
    /// are those images there; results stay in their order (passes/steps_as_images.cpp).
    std::function<Node(const Graph&, Node)> over_images;
    std::optional<PhaseForm> in_training, in_inference;
    /// The attribute that asks for the results that backward reads; empty: none.
    std::string_view kept_for_backward;
    /// The attribute with the probability of what it drops at random in training, where it is not
    /// 0; empty: none. Then it has kDrops, `seed` and `stream`, and the batch's place as its last
    /// operand (kernels/arguments/dropout.hpp).
    std::string_view drops_by;
    /// A product or a convolution: where values are stored in 16 bits, its factors are.
    bool multiplies = false;
    bool reads_order_only = false;  ///< metrics: which predictions are larger, not by how much
    /// It takes an input of integers: the field that says how many values of them it knows, from 0.
    /// Its attribute `dtype` is the result's. Empty: it takes none.
    std::string integers_of = {};
    bool takes_integers() const { return !integers_of.empty(); }
    /// Its attribute `expression` is worked out for every element of operand 0 and then summed up:
    /// the end of a chain of elementwise operators, which may become part of it.
    bool sums_expression = false;
    std::vector<Epilogue> takes;  ///< what may stand behind it and become part of it
    /// Elementwise operators: the expression over x0, x1, ... in the form of expression.hpp; empty
    /// for others. `expression_of` of emit.hpp is what to ask.
    std::string expression;
    /// Of those whose expression depends on attributes or on the number of operands; `expression`
    /// is then that of the defaults.
    std::function<std::string(const Node&)> expression_rule;
};

/// Pairs (output, input) of the node: the kernel may write that output over that input.
std::vector<std::pair<int, int>> in_place_of(const Node& node);

const OpDef* find_op(std::string_view name);
const OpDef& op(std::string_view name);  ///< an unknown name is our bug
const std::vector<const OpDef*>& all_ops();
std::vector<std::string> layer_names();

/// Every operand read and every result written once.
Cost traffic(const std::vector<Type>& inputs, const std::vector<Type>& outputs, std::int64_t flops);

}  // namespace dtnn::compiler
