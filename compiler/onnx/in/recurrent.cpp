/// LSTM, GRU and RNN: a layer for each way over the steps. The inverse of out/sequence.cpp.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/saturating.hpp"
#include "base/utf8.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;

struct CellKind {
    const char* layer;
    Integers rows;  ///< for each part of ours, which of the file's it is
    std::vector<std::string> activations;
    bool hidden_bias;  ///< the last part has a bias of the state, apart from that of the input

    std::int64_t parts() const { return std::int64_t(rows.size()); }
};

// The file has LSTMs' parts as input, output, forget, cell, and GRUs' as update, reset, hidden.
const CellKind& lstm_kind() {
    static const CellKind kind{"lstm", {0, 2, 3, 1}, {"sigmoid", "tanh", "tanh"}, false};
    return kind;
}
const CellKind& gru_kind() {
    static const CellKind kind{"gru", {1, 0, 2}, {"sigmoid", "tanh"}, true};
    return kind;
}
const CellKind& rnn_kind() {
    static const CellKind kind{"rnn", {0}, {"tanh"}, false};
    return kind;
}

/// Of what a node of this kind says, what is the same whatever it reads.
struct CellForm {
    bool backward;      ///< the first way, or the only one
    std::int64_t ways;  ///< 2: forwards and backwards
    bool batch_first;
    std::int64_t units;
};

void expect_activations(const NodeReader& node, const CellKind& kind, std::int64_t ways) {
    const AttributeProto* given = node.find("activations");
    if (!given) return;
    std::vector<std::string> words;
    for (std::string word : given->strings) {
        for (char& c : word)
            c = char(std::tolower(static_cast<unsigned char>(c)));
        words.push_back(std::move(word));
    }
    std::vector<std::string> ours = kind.activations;
    if (ways == 2) ours.insert(ours.end(), kind.activations.begin(), kind.activations.end());
    if (words == ours || words.empty()) return;
    constexpr std::size_t kShown = 6;
    std::vector<std::string> shown(words.begin(),
                                   words.begin() + std::ptrdiff_t(std::min(words.size(), kShown)));
    for (std::string& word : shown)
        word = printable(word);
    throw Refused(
        fmt::format("its activations are {}, and a {} here has {}", fmt::join(shown, ", "),
                    kind.layer, fmt::join(kind.activations, ", ")),
        "build the model with these, the usual ones");
}

/// A state, peepholes: none, or zeros. The batch may be one of the axes.
void expect_zeros(const NodeReader& node, std::size_t i, const char* what, const char* help) {
    if (!node.has(i)) return;
    const ImportedValue& value = node.of_any_length(i);
    if (!value.is_constant())
        throw Refused(
            fmt::format("its {} is an input of the network, or is worked out of one", what), help);
    const std::int64_t count = value.constant->elements();
    node.importer().constants().take(saturating_product({count, std::int64_t(sizeof(double))}));
    for (std::int64_t k = 0; k < count; ++k)
        if (value.constant->at(k) != 0) throw Refused(fmt::format("its {} is not 0", what), help);
}

/// Lengths of samples, where all are as long as the steps.
void expect_whole_samples(const NodeReader& node, std::int64_t steps) {
    constexpr std::size_t kLengths = 4;
    if (!node.has(kLengths)) return;
    const ImportedValue& value = node.of_any_length(kLengths);
    bool whole = value.is_constant();
    const std::int64_t count = whole ? value.constant->elements() : 0;
    node.importer().constants().take(saturating_product({count, std::int64_t(sizeof(double))}));
    for (std::int64_t k = 0; k < count; ++k)
        whole &= value.constant->at(k) == double(steps);
    if (!whole)
        throw Refused("its samples have several lengths (sequence_lens)",
                      "export the model for whole sequences; here an array of the dataset has the "
                      "lengths (`lengths` of npz)");
}

/// The weights of the node, of this shape.
const Constant& cell_weights(const NodeReader& node, std::size_t i, const char* what,
                             const Dims& dims) {
    const Constant& weights = node.constant(i, what);
    if (weights.dims == dims && weights.real) return weights;
    throw Refused(fmt::format("its {} are [{}], and real numbers of [{}] are meant", what,
                              fmt::join(weights.dims, ", "), fmt::join(dims, ", ")));
}

CellForm form_of(const NodeReader& node, const CellKind& kind) {
    const std::string direction = node.text("direction", "forward");
    const bool both = direction == "bidirectional";
    if (!both && direction != "forward" && direction != "reverse")
        throw Refused(fmt::format("its direction is `{}`", printable(direction)),
                      "forward, reverse and bidirectional can be");
    const std::int64_t layout = node.integer("layout", 0);
    if (layout != 0 && layout != 1) throw Refused(fmt::format("its layout is {}", layout));
    const Constant& state = node.constant(2, "weights of the state (R)");
    const std::int64_t units = state.dims.size() == 3 ? state.dims[2] : 0;
    if (units < 1 || node.integer("hidden_size", units) != units)
        throw Refused(
            fmt::format("its hidden_size is {}, and its weights of the state (R) are "
                        "[{}]",
                        node.integer("hidden_size", 0), fmt::join(state.dims, ", ")));
    const std::int64_t ways = both ? 2 : 1;
    expect_activations(node, kind, ways);
    if (node.real("clip", 0) != 0)
        throw Refused("it cuts what its cells add up (clip)", "build the model without");
    if (node.integer("input_forget", 0) != 0)
        throw Refused("its input and forget gates are one (input_forget)",
                      "a lstm here has both: build the model with the usual cell");
    return {direction == "reverse", ways, layout == 1, units};
}

/// [batch, steps, features], the file's and ours.
ImportedValue steps_of_cells(const NodeReader& node, bool batch_first) {
    ImportedValue value = node.by_number();
    const std::size_t batch = value.batch_axis(), place = batch_first ? 0 : 1;
    if (value.rank() != 3)
        throw Refused(
            fmt::format("its input has {} axes, and steps of samples have 3", value.rank()));
    if (batch != place)
        throw Refused(fmt::format("it takes axis {} of its input for {}, and that is the batch",
                                  batch, batch == 2 ? "features" : "steps"),
                      "export the model with the batch as its first axis (batch_first=True)");
    const auto first = value.order.begin();
    std::rotate(first, first + std::ptrdiff_t(batch), first + std::ptrdiff_t(batch) + 1);
    value = as_sequence(node, value);
    if (value.order == Order{0, 2, 1}) {
        const int made = node.importer().add_layer({}, "transpose", {}, {&value}, {});
        value = node.importer().layer(made).value;
    }
    if (value.type.axes != usual_axes(2) || !value.is_plain())
        throw Refused("its input is no sequence of rows", "");
    return value;
}

/// The weights of one way, rows as the file has them, as columns in our order.
Constant weights_of_way(const NodeReader& node, const CellKind& kind, const CellForm& form,
                        const Constant& given, std::int64_t way) {
    Constants& constants = node.importer().constants();
    const std::size_t each = given.bytes.size() / std::size_t(form.ways);
    const Constant one{
        {given.dims[1], given.dims[2]}, true, given.bytes.substr(std::size_t(way) * each, each)};
    Integers rows;
    for (const std::int64_t part : kind.rows)
        for (std::int64_t unit = 0; unit < form.units; ++unit)
            rows.push_back(part * form.units + unit);
    return constants.transpose(kind.parts() == 1 ? one : constants.reorder(one, rows), {1, 0});
}

/// The biases of one way: the sums of the input's and the state's, but for a last part that has
/// both.
void biases_of_way(const NodeReader& node, const CellKind& kind, const CellForm& form,
                   std::int64_t way, bool apart, std::map<std::string, Constant>& parameters) {
    Constants& constants = node.importer().constants();
    constexpr std::size_t kBiases = 3;
    const std::int64_t rows = kind.parts() * form.units;
    const Constant* given =
        node.has(kBiases)
            ? &cell_weights(node, kBiases, "biases (B)", {form.ways, saturating_product({2, rows})})
            : nullptr;
    const auto at = [&](std::int64_t i) { return given ? given->at(way * 2 * rows + i) : 0.0; };
    Numbers bias, hidden;
    for (const std::int64_t part : kind.rows)
        for (std::int64_t unit = 0; unit < form.units; ++unit) {
            const std::int64_t row = part * form.units + unit;
            const bool own = apart && part == kind.rows.back();
            bias.push_back(at(row) + (own ? 0 : at(rows + row)));
            if (part == kind.rows.back()) hidden.push_back(own ? at(rows + row) : 0);
        }
    parameters["bias"] = constants.make({rows}, true, bias);
    if (kind.hidden_bias) parameters["hidden_bias"] = constants.make({form.units}, true, hidden);
}

/// The node under a name that says that it goes back.
NodeProto going_back(const NodeProto& node) {
    NodeProto back;
    back.name = node.name;
    back.op_type = node.op_type;
    if (back.name.empty()) return back;
    const std::size_t cut = back.name.rfind('/');
    const bool module = cut != std::string::npos && cut > 0 &&
                        back.name.compare(cut + 1, back.op_type.size(), back.op_type) == 0;
    back.name.insert(module ? cut : back.name.size(), "_reverse");
    return back;
}

/// What a way gives: of all steps, and of the step at which it ends.
struct WayOfCells {
    ImportedValue all, end;
};

/// What both ways give, side by side.
ImportedValue both_ways(const NodeReader& node, const ImportedValue& forward,
                        const ImportedValue& backward) {
    const int made = node.importer().add_layer({}, "concat", {}, {&forward, &backward}, {});
    return node.importer().layer(made).value;
}

void read_cells(const NodeReader& node, const CellKind& kind, bool reset_before_product) {
    Importer& importer = node.importer();
    const std::vector<std::string>& names = node.node().output;
    const auto is_read = [&](std::size_t i) {
        return i < names.size() && !names[i].empty() && importer.readers(names[i]) > 0;
    };
    constexpr const char* kZeros =
        "every sample begins with zeros here: call the layer without a state before the model is "
        "exported";
    const CellForm form = form_of(node, kind);
    ImportedValue src = steps_of_cells(node, form.batch_first);
    const std::int64_t steps = src.type.dims[1], features = src.type.dims[2];
    expect_whole_samples(node, steps);
    expect_zeros(node, 5, "first state (initial_h)", kZeros);
    expect_zeros(node, 6, "first memory (initial_c)", kZeros);
    expect_zeros(node, 7, "peephole (P)", "build the model without peepholes");
    if (is_read(2))
        throw Refused("what its cells remember at the end (Y_c) is read",
                      "read its state instead, the last step of what it gives (Y_h)");
    if (reset_before_product && steps > 1)
        throw Refused(
            "it resets the state before the product with its weights "
            "(linear_before_reset 0)",
            "gru here has the form of cuDNN and PyTorch: in Keras, reset_after=True");
    const std::int64_t rows = saturating_product({kind.parts(), form.units});
    const Constant& weights = cell_weights(node, 1, "weights (W)", {form.ways, rows, features});
    const Constant& hidden =
        cell_weights(node, 2, "weights of the state (R)", {form.ways, rows, form.units});
    // One step is all that a layer over two of them gives at its first.
    const bool one_step = steps == 1;
    if (one_step) src = broadcast(node, src, {1, 2, features});
    std::vector<WayOfCells> made;
    for (std::int64_t way = 0; way < form.ways; ++way) {
        const bool back = form.backward || way == 1;
        std::map<std::string, Constant> parameters{
            {"weights", weights_of_way(node, kind, form, weights, way)},
            {"hidden_weights", weights_of_way(node, kind, form, hidden, way)}};
        biases_of_way(node, kind, form, way, kind.hidden_bias && !reset_before_product, parameters);
        const NodeProto named = way == 1 ? going_back(node.node()) : node.node();
        const int layer =
            importer.add_layer(named, kind.layer, {{"units", form.units}, {"reversed", back}},
                               {&src}, std::move(parameters));
        WayOfCells& cells = made.emplace_back();
        cells.all = importer.layer(layer).value;
        if (is_read(1)) {
            const char* type = back == one_step ? "last_step" : "first_step";
            cells.end = importer.layer(importer.add_layer({}, type, {}, {&cells.all}, {})).value;
        }
        if (!one_step || !is_read(0)) continue;
        const std::int64_t begin = back ? 1 : 0;
        const int step = importer.add_layer(
            {}, "slice", {{"axis", std::string("steps")}, {"begin", begin}, {"end", begin + 1}},
            {&cells.all}, {});
        cells.all = importer.layer(step).value;
    }
    const std::vector<Piece> batch{{0, 1, 1}};
    const auto ways_of = [&](int axis) {
        return std::vector<Piece>{{axis, form.units, form.ways}};
    };
    const auto units_of = [&](int axis) { return std::vector<Piece>{{axis, 1, form.units}}; };
    if (is_read(0)) {
        const ImportedValue all =
            form.ways == 1 ? made[0].all : both_ways(node, made[0].all, made[1].all);
        const std::vector<Piece> each_step{{1, 1, steps}};
        importer.set(names[0],
                     settled(node, all,
                             form.batch_first ? View{batch, each_step, ways_of(2), units_of(2)}
                                              : View{each_step, ways_of(2), batch, units_of(2)}));
    }
    if (is_read(1)) {
        const ImportedValue end =
            form.ways == 1 ? made[0].end : both_ways(node, made[0].end, made[1].end);
        importer.set(names[1], settled(node, end,
                                       form.batch_first ? View{batch, ways_of(1), units_of(1)}
                                                        : View{ways_of(1), batch, units_of(1)}));
    }
}

}  // namespace

void read_lstm(const NodeReader& node) {
    read_cells(node, lstm_kind(), false);
}

void read_gru(const NodeReader& node) {
    read_cells(node, gru_kind(), node.integer("linear_before_reset", 0) == 0);
}

void read_rnn(const NodeReader& node) {
    read_cells(node, rnn_kind(), false);
}

}  // namespace dtnn::compiler::onnx
