#pragma once
/// How operator files write their definition. Each file holds one function that ops.def names:
///
///     OpDef define_softmax() {
///         return OpBuilder("softmax").doc("Normalised exponentials along one axis.") ... ;
///     }

#include <initializer_list>
#include <string>
#include <utility>

#include "base/saturating.hpp"
#include "base/tensor/choices.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler {

using plan::KernelClass;

/// Channels that a core handles at once: results with fewer leave lanes empty.
inline constexpr std::int64_t kLanes = 16;

/// Largest channels, filters and units: keeps every product of extents within 64 bits.
inline constexpr double kLargestExtent = 1 << 20;
/// Largest kernel, stride, padding and dilation.
inline constexpr double kLargestWindow = 1 << 10;

Field boolean_field(std::string_view name, bool fallback, std::string_view doc);
/// Without a fallback the user must give it.
Field integer_field(std::string_view name, std::optional<std::int64_t> fallback,
                    std::string_view doc, double minimum, double maximum);
Field real_field(std::string_view name, double fallback, std::string_view doc);
/// Every number that fits a float, with room for what is computed from it.
inline constexpr double kLargestReal = 1e30;
/// A number of an elementwise operator: within kLargestReal of 0, or within the bounds given.
Field number_field(std::string_view name, double fallback, std::string_view doc,
                   double minimum = -kLargestReal, double maximum = kLargestReal);
Field choice_field(std::string_view name, std::string_view fallback,
                   std::vector<std::string_view> choices, std::string_view doc);
/// Without a fallback it is optional.
Field pair_field(std::string_view name, std::optional<std::int64_t> fallback, std::string_view doc,
                 double minimum = 1);
Field padding_field();
Field initializer_field(std::string_view name, std::string_view fallback, std::string_view doc);

class OpBuilder {
  public:
    /// With the operands and results of its signature (base/tensor/signatures.def), where it has
    /// one; without, it says them itself.
    explicit OpBuilder(std::string name);

    OpBuilder& doc(std::string text) { return set(def_.doc, std::move(text)); }
    OpBuilder& family(Family family) {
        if (family == Family::update) lie_alike();
        return set(def_.family, family);
    }
    /// For forecasts: always the same class, or by what the step is.
    OpBuilder& kernel_class(KernelClass one) {
        return kernel_class([one](const KernelClassContext&) { return one; });
    }
    OpBuilder& kernel_class(std::function<KernelClass(const KernelClassContext&)> rule) {
        return set(def_.kernel_class, std::move(rule));
    }
    /// Users may write it as a layer; `example` is a line of YAML in a list of layers.
    OpBuilder& layer(std::string example) {
        def_.layer = true;
        return set(def_.example, std::move(example));
    }
    OpBuilder& variadic(int min_inputs) {
        def_.variadic = true;
        return set(def_.min_inputs, min_inputs);
    }
    OpBuilder& field(Field field) {
        def_.fields.push_back(std::move(field));
        return *this;
    }
    OpBuilder& inputs(std::vector<std::string> names) { return set(def_.inputs, std::move(names)); }
    OpBuilder& outputs(std::vector<std::string> names) {
        return set(def_.outputs, std::move(names));
    }
    /// The default of this attribute says which operands there are where a node does not.
    OpBuilder& operands_by(const char* attribute) { return set(def_.operands_by, attribute); }
    OpBuilder& settle_operands(std::function<void(ShapeContext&)> rule) {
        return set(def_.settle_operands, std::move(rule));
    }
    OpBuilder& parameter(ParameterRule rule) {
        def_.parameters.push_back(std::move(rule));
        return *this;
    }
    /// The parameters `weights` and, unless the field `bias` is false, `bias` of `units` numbers,
    /// and the fields of both: bias, weights_initializer, bias_initializer.
    /// `view`: of the weights (ParameterRule).
    OpBuilder& weights_and_bias(
        std::string_view bias_doc, decltype(ParameterRule::dims) dims,
        decltype(ParameterRule::initializer) initializer,
        std::function<std::int64_t(const Type& input, const Attributes&)> units,
        decltype(ParameterRule::view) view = {});
    OpBuilder& shape(std::function<void(ShapeContext&)> rule) {
        return set(def_.shape, std::move(rule));
    }
    OpBuilder& gradient(std::function<void(GradientContext&)> rule) {
        return set(def_.gradient, std::move(rule));
    }
    OpBuilder& same_step(std::function<bool(const Node&)> condition = [](const Node&) {
        return true;
    }) {
        return set(def_.same_step, std::move(condition));
    }
    OpBuilder& next_step(std::function<void(StepContext&)> rule) {
        return set(def_.next_step, std::move(rule));
    }
    OpBuilder& carries(std::vector<OpDef::State> states) {
        return set(def_.carries, std::move(states));
    }
    OpBuilder& has_state() { return set(def_.has_state, true); }
    OpBuilder& with_lengths(std::function<void(LengthsContext&)> rule) {
        return set(def_.with_lengths, std::move(rule));
    }
    OpBuilder& no_gradient(std::string reason) {
        return set(def_.no_gradient_reason, std::move(reason));
    }
    /// FLOPs; the bytes are those of `traffic`.
    OpBuilder& flops(
        std::function<std::int64_t(const std::vector<Type>& inputs,
                                   const std::vector<Type>& outputs, const Attributes&)>
            formula);
    OpBuilder& in_place(int output, int input) {
        def_.in_place.emplace_back(output, input);
        return *this;
    }
    OpBuilder& joins() { return set(def_.joins, true); }
    /// OpDef::Move has what it says.
    OpBuilder& moves(int output, int input) {
        def_.moves.push_back({output, input});
        return in_place(output, input);
    }
    /// What its result is where it ends a model; not said: scores.
    OpBuilder& gives(plan::Prediction prediction) { return set(def_.gives, prediction); }
    OpBuilder& keeps_numbers() { return set(def_.keeps_numbers, true); }
    OpBuilder& range(std::optional<double> least, std::optional<double> most) {
        return set(def_.range, Range{least, most});
    }
    OpBuilder& centres_channels() { return set(def_.centres_channels, true); }
    OpBuilder& keeps_shifts() {
        return keeps_shifts([](const Attributes&) { return true; });
    }
    OpBuilder& keeps_shifts(std::function<bool(const Attributes& fields)> condition) {
        return set(def_.keeps_shifts, std::move(condition));
    }
    OpBuilder& of_sequences() { return set(def_.of_sequences, true); }
    OpBuilder& keeps_channels_apart() { return set(def_.keeps_channels_apart, true); }
    OpBuilder& weights_operand(std::size_t i, Order order) {
        return set(def_.weights, StoredWeights{false, i, std::move(order)});
    }
    OpBuilder& weights_result(std::size_t i, Order order) {
        return set(def_.weights, StoredWeights{true, i, std::move(order)});
    }
    OpBuilder& reads_transposed(std::vector<std::string> owners) {
        return set(def_.reads_transposed, std::move(owners));
    }
    OpBuilder& pads() { return set(def_.pads, true); }
    OpBuilder& operands_lie(Wish wish) { return set(def_.operands_wish, wish); }
    OpBuilder& results_lie(Wish wish) { return set(def_.results_wish, wish); }
    /// All operands and results lie in one order.
    OpBuilder& lie_alike() { return operands_lie(Wish::follows).results_lie(Wish::follows); }
    /// Of every step of it, beside its fields; where a node does not say it, it is `fallback`.
    OpBuilder& attribute(const char* name, AttributeValue fallback) {
        def_.attributes[name] = std::move(fallback);
        return *this;
    }
    OpBuilder& does_nothing(std::function<bool(const Graph&, const Node&)> rule) {
        return set(def_.does_nothing, std::move(rule));
    }
    OpBuilder& general_form(std::function<std::vector<Node>(const Graph&, const Node&)> rule) {
        return set(def_.general_form, std::move(rule));
    }
    /// OpDef::over_images has what it says.
    OpBuilder& over_images(std::function<Node(const Graph&, Node)> rule) {
        return of_sequences().set(def_.over_images, std::move(rule));
    }
    OpBuilder& follows_images() { return set(def_.follows_images, true); }
    OpBuilder& in_training(PhaseForm form) { return set(def_.in_training, std::move(form)); }
    OpBuilder& in_inference(PhaseForm form) { return set(def_.in_inference, std::move(form)); }
    OpBuilder& kept_for_backward(std::string_view attribute) {
        return set(def_.kept_for_backward, attribute);
    }
    OpBuilder& drops_by(std::string_view attribute) { return set(def_.drops_by, attribute); }
    OpBuilder& multiplies() { return set(def_.multiplies, true); }
    OpBuilder& reads_order_only() { return set(def_.reads_order_only, true); }
    OpBuilder& takes(std::vector<Epilogue> what) { return set(def_.takes, std::move(what)); }
    OpBuilder& takes_integers(const char* field) { return set(def_.integers_of, field); }
    OpBuilder& sums_expression() { return set(def_.sums_expression, true); }
    OpBuilder& exchange(plan::ExchangeEnd end) { return set(def_.exchange, end); }
    OpBuilder& view(View when) { return set(def_.view, when); }
    /// Loops over flat memory, as do the updates of optimizers.
    OpBuilder& expression(std::string postfix) {
        return lie_alike().same_step().follows_images().set(def_.expression, std::move(postfix));
    }
    OpBuilder& expression_rule(std::function<std::string(const Node&)> rule) {
        return lie_alike().same_step().follows_images().set(def_.expression_rule, std::move(rule));
    }

    operator OpDef() { return std::move(def_); }  // NOLINT: the end of a chain

  private:
    template <class T, class U>
    OpBuilder& set(T& member, U value) {
        member = std::move(value);
        return *this;
    }
    OpDef def_;
};

/// The reason of backward and update operators.
inline constexpr const char* kNoSecondDerivative =
    "a backward operator; second derivatives are not taken";
inline constexpr const char* kUpdatesAreFinal =
    "an optimizer's update ends a step; nothing is differentiated through it";

/// Sets the attribute unless it is there: to what the operator declares, or to a value that depends
/// on the node.
void fallback(ShapeContext& c, const char* name);
void fallback(ShapeContext& c, const char* name, const AttributeValue& value);
bool flag(const Attributes& attributes, const char* name);  ///< absent: false
/// The attribute as text, or `absent`.
std::string text_or(const Attributes& attributes, const char* name, const char* absent);
/// The attributes of those names that are there.
Attributes pick(const Attributes& attributes, std::initializer_list<const char*> names);

/// Rules of `does_nothing`: one operand, a result of its extents, a `rate` of 0.
bool has_one_operand(const Graph& graph, const Node& node);
bool keeps_extents(const Graph& graph, const Node& node);
bool drops_nothing(const Graph& graph, const Node& node);

/// The node as one of another operator, for `general_form`.
std::vector<Node> becomes(Node node, std::string_view op, Attributes attributes);

/// Fail unless the operand is an image batch [N,C,H,W]; the texts are for users.
bool expect_image(ShapeContext& c, const char* op, std::size_t i = 0);
/// The attribute `packed`, [filters, block]: the weights lie in blocks, as pack_weights makes them.
inline constexpr const char* kPacked = "packed";
inline bool is_packed(const ShapeContext& c) {
    return c.has(kPacked);
}
/// The filters or units of packed weights, operand i; fails unless its first and last axis are the
/// blocks and the filters of a block.
std::int64_t packed_filters(ShapeContext& c, std::size_t i);
/// Fails unless operand i has the extents.
bool expect_dims(ShapeContext& c, const char* op, std::size_t i, const char* operand,
                 const Dims& dims);
/// The same of an operand by its name; holds where the node does not have it.
bool expect_dims(ShapeContext& c, const char* operand, const Dims& dims);
/// One result, of operand i's type.
void result_like(ShapeContext& c, std::size_t i = 0);

/// "64x16x16", "[16 steps, 32 features]": an activation's shape as users know it, without the
/// batch.
std::string sample_text(const Type& type);
std::string sample_text(const Dims& dims, const Axes& axes);

/// Units of `weights_and_bias`: the attribute.
std::function<std::int64_t(const Type&, const Attributes&)> units_in(const char* attribute);

/// fan_in and fan_out as given; the kind is the attribute's, or `absent`.
plan::Initializer initializer(const Attributes& attributes, const char* name, const char* absent,
                              std::int64_t fan_in, std::int64_t fan_out);

}  // namespace dtnn::compiler
