#pragma once
/// What rules have to read a node of ONNX with. Rules are listed in rules.def.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/onnx/in/constant.hpp"
#include "compiler/onnx/in/import.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler::onnx {

/// A part of one of our axes: `extent` places that are `step` apart.
struct Piece {
    int axis;  ///< kRepeated: each number stands `extent` times
    std::int64_t step, extent;
    bool operator==(const Piece&) const = default;
};
inline constexpr int kRepeated = -1;
/// The axes of a file in pieces of ours, the slowest first; the batch is of extent 1 here.
using View = std::vector<std::vector<Piece>>;

struct Probe;
struct Scores;
struct Exchanged;

/// A value of the file: numbers that are known, or what a layer of ours gives.
struct ImportedValue {
    std::optional<Constant> constant;
    int source = 0;  ///< a layer, or -1, -2, ...: an input
    Type type;       ///< as ours, of one sample
    /// Axis i of the file's value is axis order[i] of ours. An axis of 1 of an image may be none.
    Order order;
    /// A row that the file orders otherwise: number i of ours is number rows[i] of it.
    std::vector<std::int64_t> rows = {};
    View view = {};  ///< of axes that are taken apart or joined, else empty
    /// What is worked out of a mean, until it is a normalisation. Shared by the value's copies.
    std::shared_ptr<const Probe> probe = nullptr;
    /// Of numbers that are known: an axis is as long as the batch, and of 1 here. All along it are
    /// the same.
    bool spans_batch = false;
    /// Products of queries and keys, until they weigh values. Shared likewise.
    std::shared_ptr<const Scores> scores = nullptr;
    /// Numbers that have changed places with their pairs, until they are a rotary embedding.
    std::shared_ptr<const Exchanged> exchanged = nullptr;

    bool is_constant() const { return constant.has_value(); }
    std::size_t rank() const { return view.empty() ? order.size() : view.size(); }
    std::int64_t extent(std::size_t axis) const { return type.dims[std::size_t(order[axis])]; }
    /// Which axis of the file's value the batch is, or lies in.
    std::size_t batch_axis() const;
    /// Whether it is the first axis, or the slowest part of that.
    bool is_batch_first() const;
    Dims dims() const;      ///< as the file has them
    bool is_plain() const;  ///< the file's axes are ours
    /// Whether the axes of both are in one order, but those of 1.
    bool lies_like(const ImportedValue& other) const;
};

/// A layer of the spec.
struct ImportedLayer {
    std::string type, name;
    Attributes fields;
    std::vector<int> sources;
    std::map<std::string, Constant> parameters;  ///< by role
    ImportedValue value;                         ///< of its result
};

/// A formula that is written as an operator of the model, with a parameter `value` by channel.
struct ImportedFormula {
    std::string forward, expression;  ///< as users write it, and as nodes have it
};

class Importer;

/// One node of the file.
class NodeReader {
  public:
    NodeReader(Importer& importer, const NodeProto& node) : importer_(importer), node_(node) {}

    Importer& importer() const { return importer_; }
    const NodeProto& node() const { return node_; }
    std::int64_t opset() const;

    std::size_t count() const { return node_.input.size(); }
    bool has(std::size_t i) const { return i < count() && !node_.input[i].empty(); }
    /// Throw Refused: there is none; it is not known before the network runs; it is a number.
    const ImportedValue& input(std::size_t i) const;
    const Constant& constant(std::size_t i, const char* what) const;
    const ImportedValue& activation(std::size_t i = 0) const;
    /// The same, or one whose axes are taken apart.
    const ImportedValue& viewed(std::size_t i = 0) const;
    /// What is computed with number by number: whole axes, the batch at any place.
    const ImportedValue& by_number(std::size_t i = 0) const;
    /// Axes that may be taken apart, the batch at any place.
    const ImportedValue& in_any_order(std::size_t i = 0) const;
    /// Numbers that may be as many as the batch is long, too.
    const ImportedValue& of_any_length(std::size_t i) const;
    /// What windows slide over: an image whose channels are axis 1 of the file's value and whose
    /// other axes may stand in any order; of [batch, channels, steps] it has the height 1. Or steps
    /// with their features behind them as rows and columns of one channel: then axis 1 is 3.
    ImportedValue windowed(std::size_t i = 0) const;
    /// The same, with axis 1 as the channels in any case.
    ImportedValue image(std::size_t i = 0) const;
    /// Of the second input, which is known.
    Constant weights(std::size_t rank) const;

    const AttributeProto* find(std::string_view name) const;
    std::int64_t integer(std::string_view name, std::int64_t absent) const;
    double real(std::string_view name, double absent) const;
    std::string text(std::string_view name, const char* absent) const;
    std::vector<std::int64_t> integers(std::string_view name,
                                       const std::vector<std::int64_t>& absent = {}) const;
    /// Of an operator that has them as an input from operator set `since` on; nothing: absent.
    std::optional<std::vector<std::int64_t>> axes(std::size_t input, std::int64_t since) const;

    /// The layer's value is the node's result.
    void layer(const char* type, Attributes fields,
               const std::vector<const ImportedValue*>& sources,
               std::map<std::string, Constant> parameters = {}) const;
    /// The same, with its axes in the order of the sources'.
    void layer_like(const char* type, Attributes fields,
                    const std::vector<const ImportedValue*>& sources,
                    std::map<std::string, Constant> parameters = {}) const;
    /// The same of values that are computed with number by number: what has an axis of 1 is
    /// repeated along it.
    void by_element(const char* type, Attributes fields,
                    const std::vector<const ImportedValue*>& sources) const;
    void formula(const ImportedFormula& formula, const ImportedValue& source,
                 Constant by_channel) const;
    void result(ImportedValue value) const;

  private:
    Importer& importer_;
    const NodeProto& node_;
};

class Importer {
  public:
    /// `guesses_otherwise`: images that seem to have their channels first have them last, and the
    /// other way round.
    Importer(const ModelProto& model, std::string name, Constants& constants,
             bool guesses_otherwise);
    ImportedModel run();

    Constants& constants() { return constants_; }
    std::int64_t opset() const { return opset_; }
    std::int64_t file_batch() const { return file_batch_; }  ///< 0: any
    const ImportedValue* find(const std::string& name) const;
    /// Whether images [batch, height, width, channels] are turned before anything looks at their
    /// axes: number by number they may have been scaled until then. Those of one channel have the
    /// same numbers when they are reshaped. Looks at all nodes.
    bool is_turned(const std::string& name, const Dims& dims) const;
    /// No more often than a network may ask, as each look takes time in proportion to the nodes.
    bool may_look_ahead() { return looks_ahead_++ < kMostLooks; }
    bool is_refused(const std::string& name) const { return refused_.contains(name); }
    /// How many nodes and outputs read it.
    int readers(const std::string& name) const;
    /// Nodes that read it, some of them where they are many.
    std::vector<const NodeProto*> some_readers(const std::string& name) const;
    void set(const std::string& name, ImportedValue value);
    /// Whether one node alone reads the layer, under whatever axes.
    bool is_read_once(int source) const {
        const auto more = more_readers_.find(source);
        return more != more_readers_.end() && more->second == 0;
    }
    /// A value is the layer's that another layer had been made of.
    void read_again(int source) { ++more_readers_[source]; }
    ImportedLayer& layer(int index) { return layers_[std::size_t(index)]; }
    /// Of what the source gives, a layer or -1, -2, ...: an input.
    Type type_of(int source) const;
    /// The input has integers that are looked up among so many.
    void look_up(int input, std::int64_t entries);
    /// Whether a layer of this type multiplies by a parameter, by a formula.
    bool is_product(const std::string& type) const;
    /// The value under another name of its own: what reads it from now on reads this.
    void replace(const std::string& name, ImportedValue value);
    int add_layer(const NodeProto& node, const std::string& type, Attributes fields,
                  const std::vector<const ImportedValue*>& sources,
                  std::map<std::string, Constant> parameters,
                  const ImportedFormula* formula = nullptr);

  private:
    void read_inputs();
    void read_node(const NodeProto& node);
    /// Reads by its rule a node that does not ask how the axes of its inputs are taken apart; its
    /// result is in their pieces.
    bool read_in_pieces(const NodeReader& node, const std::function<void()>& rule);
    void refuse(std::string place, std::string text, std::string help, std::string node = {});
    std::string name_of(const NodeProto& node, const std::string& type);
    /// Arithmetic by element that comes to one operator becomes one; layers that it was are no more
    /// used.
    void name_formulas(std::vector<bool>& used);
    /// The spec and the tensors of these layers.
    void write_spec(const std::vector<bool>& used);
    std::string head_text(const std::vector<bool>& used) const;
    bool has_named_inputs() const;

    const ModelProto& model_;
    std::string name_;
    Constants& constants_;
    bool guesses_otherwise_;
    static constexpr int kMostLooks = 64;
    int looks_ahead_ = 0;
    std::int64_t opset_ = 0, file_batch_ = 0;
    std::map<std::string, ImportedValue> values_;
    std::set<std::string> refused_;  ///< values of nodes that could not be read
    std::map<std::string, int> readers_;
    std::map<std::string, std::vector<const NodeProto*>> some_readers_;
    /// By layer: readers of its values, less one for each value, that is for what makes the next.
    std::map<int, int> more_readers_;
    struct Input {
        std::string name;
        Dims shape;
        bool integers = false;
        std::int64_t values = 0;  ///< how many values its integers may have; 0: nobody has said
    };
    std::vector<Input> inputs_;
    std::vector<ImportedLayer> layers_;
    std::set<std::string> names_;
    std::map<std::string, int> same_names_;        ///< how many have got a number for this name
    std::map<std::string, std::string> formulas_;  ///< by what they compute: their names
    ImportedModel made_;
};

/// An axis of a value of this rank, which may be counted from the end; throws Refused.
std::size_t place_of_axis(std::int64_t axis, std::size_t rank);
std::vector<std::int64_t> integers_of(const Constant& constant);

/// The extents of what is computed of both, as NumPy broadcasts.
Dims broadcast_dims(const Dims& a, const Dims& b);
/// Which number of a tensor of `dims` stands beside each of one of `wanted` then; throws Refused
/// where they do not fit.
std::vector<std::size_t> broadcast_places(const Dims& wanted, const Dims& dims);

/// How long the results of a Split are.
std::vector<std::int64_t> split_parts(const NodeReader& node, std::int64_t extent);

/// Whether the node's inputs are all known; then its results are worked out.
bool fold(const NodeReader& node);

/// Reads an operator of one input that is a formula, or one of ours under another name.
bool read_formula(const NodeReader& node);
bool is_formula(const std::string& op_type);

/// What the last of the pieces gives to an axis that lacks `need` places, which is taken from both;
/// nothing where it does not divide that.
std::optional<Piece> last_of(std::vector<Piece>& pieces, std::int64_t& need);
/// The axes of the value; throws Refused where it is a row in another order.
View view_of(const ImportedValue& value);
/// The same numbers under the extents of a sample behind the batch, by a layer where they move; a
/// value whose axes stay taken apart where no layer says it, in the hope of a Reshape that joins
/// them again.
void reshaped(const NodeReader& node, const ImportedValue& src, const Dims& sample);
/// The value with these axes, and the layer that moves its numbers so, if there is one.
ImportedValue settled(const NodeReader& node, const ImportedValue& src, View view);
/// The value's numbers in the order of these pieces of its axes, which have all of them, by slices
/// that are joined elsewhere; the shape is any. Nothing where that takes too many.
std::optional<ImportedValue> moved(const NodeReader& node, const ImportedValue& src,
                                   std::vector<Piece> wanted);
/// Of a batch of one sample no place can be told from another: it is the first axis, whatever else
/// is.
void put_sample_in_front(View& view);
/// The value's axes under the extents of a Reshape, wherever the batch is and comes to be.
std::optional<View> regrouped_with_batch(const ImportedValue& value,
                                         const std::vector<std::int64_t>& wanted, bool zero_copies,
                                         std::int64_t file_batch);
/// The node's result: the value under axes that are pieces of its own.
void regrouped_as(const NodeReader& node, const ImportedValue& src, View view);
/// With axes of 1 that are added at these places of the result, or taken away from these.
void read_with_axes(const NodeReader& node, const ImportedValue& src,
                    const std::set<std::size_t>& axes, bool added);

/// Values of three axes, with the batch, as an image and as a sequence; others as they are.
ImportedValue as_image(const NodeReader& node, const ImportedValue& src);
ImportedValue as_sequence(const NodeReader& node, const ImportedValue& src);
/// A sequence whose steps are the file's last axis, as an image that has them as its channels.
ImportedValue with_features_first(const NodeReader& node, const ImportedValue& src);
/// A sequence whose features the file has behind its steps: one that lies the other way round is
/// turned, the pixels of an image that were joined become steps. Others as they are.
ImportedValue with_features_last(const NodeReader& node, const ImportedValue& src);
/// Axes of 1 of ours as long as `dims` says.
ImportedValue broadcast(const NodeReader& node, const ImportedValue& src, const Dims& dims);
/// Values that are computed with number by number: sequences as images where there are images, and
/// axes of 1 repeated, as NumPy broadcasts.
std::vector<ImportedValue> alike(const NodeReader& node,
                                 const std::vector<const ImportedValue*>& sources);

/// Numbers of the file for each number of a row, or the rows of weights that read it, in our order;
/// anything else as it is.
Constant in_row_order(const NodeReader& node, const Constant& given, const ImportedValue& src);

/// Which number of the file's sample each of ours is, row by row.
std::vector<std::int64_t> rows_of(const ImportedValue& src);
/// A row of all numbers of a sample, in the file's order of the axes.
ImportedValue flattened(const NodeReader& node, const ImportedValue& src);

/// A mean over these axes of the file's value, which stay with an extent of 1: where sums and
/// products make a normalisation of it, that is a layer.
/// `of_squares`: what the node reads is the square of the value that is normalised.
void begin_normalisation(const NodeReader& node, const std::set<std::size_t>& axes,
                         bool of_squares = false);
/// Whether the node goes on with such a mean.
bool normalise(const NodeReader& node);

/// Reads what makes attention: products of queries and keys, and what goes on with them. Whatever
/// else reads such products gets them as a layer where they are of one head.
bool attend(const NodeReader& node);
/// The value as a layer gives it, if it is such a product; throws Refused.
void settle_scores(const NodeReader& node, const std::string& name);
/// Whether it is a sequence whose features a reshape has taken apart, as heads are.
bool is_of_heads(Importer& importer, const ImportedValue& value);
/// Each place of an axis several times over, as heads are that share keys and values.
bool repeat_places(const NodeReader& node, const ImportedValue& src, std::size_t axis,
                   const std::vector<std::int64_t>& places);
bool repeat_by_expand(const NodeReader& node, const ImportedValue& src);

/// Constants joined in front of a sequence: tokens that are learned.
bool put_tokens_in_front(const NodeReader& node);
/// A zero step in front of a sequence to which its token will be added.
bool make_room_for_token(const NodeReader& node);
/// A number of the node's other input, which is known, for each of a sequence, added to (or,
/// `negative`, taken from) the node's input `i`.
bool add_positions(const NodeReader& node, std::size_t i, bool negative);
/// Rows of a table that the network's integers name.
bool look_up_rows(const NodeReader& node);
/// The first step of a sequence, or its last.
bool take_one_step(const NodeReader& node, const ImportedValue& src, std::size_t axis,
                   std::int64_t at);
/// Numbers that exchange places with their pairs, and what goes on with them.
bool begin_rotation(const NodeReader& node, const ImportedValue& src, std::size_t axis,
                    const std::vector<std::int64_t>& places);
bool rotate(const NodeReader& node);

#define DTNN_ONNX_READ(op_type, rule) void rule(const NodeReader& node);
#include "compiler/onnx/in/rules.def"
#undef DTNN_ONNX_READ

}  // namespace dtnn::compiler::onnx
