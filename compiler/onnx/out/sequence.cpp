/// What works on sequences; attention has a file of its own.

#include "base/turn.hpp"
#include "compiler/onnx/out/node_writer.hpp"
#include "compiler/ops/define.hpp"

namespace dtnn::compiler::onnx {
namespace {

std::string part(NodeWriter& out, const std::string& value, std::int64_t begin, std::int64_t end,
                 std::int64_t axis) {
    ModelWriter& model = out.model();
    return out.add("Slice",
                   {value, model.integers({begin}), model.integers({end}), model.integers({axis})});
}

/// ONNX has steps first, the parts of a cell in another order (`order` of ours), each as rows, and
/// a bias of the state for every part.
void write_recurrent(NodeWriter& out, const char* op, const std::vector<std::int64_t>& order,
                     std::vector<AttributeProto> attributes) {
    const std::int64_t units = out.result().dims[2];
    const auto parts = std::int64_t(order.size());
    ModelWriter& model = out.model();
    const auto ordered = [&](const std::string& value, std::int64_t axis) {
        if (parts == 1) return value;
        Names pieces;
        for (const std::int64_t p : order)
            pieces.push_back(part(out, value, p * units, (p + 1) * units, axis));
        return out.add("Concat", pieces, {attribute("axis", axis)});
    };
    const auto of_one_way = [&](const std::string& value) {
        return out.add("Unsqueeze", {value, model.integers({0})});
    };
    const auto weights = [&](std::size_t i) {
        return of_one_way(out.add("Transpose", {ordered(out.input(i), 1)}));
    };
    const auto zeros = [&](std::int64_t count) {
        return model.numbers(out.dtype(), {count}, std::vector<double>(std::size_t(count)));
    };
    Names biases{ordered(out.input(3), 0)};
    if (out.has(4)) {
        biases.push_back(zeros((parts - 1) * units));
        biases.push_back(out.input(4));
    } else {
        biases.push_back(zeros(parts * units));
    }
    const std::string bias =
        of_one_way(out.add("Concat", biases, {attribute("axis", std::int64_t{0})}));
    attributes.push_back(attribute("hidden_size", units));
    attributes.push_back(
        attribute("direction", flag(out.attributes(), "reversed") ? "reverse" : "forward"));
    const std::string steps_first =
        out.add("Transpose", {out.input()}, {attribute("perm", {1, 0, 2})});
    const std::string all =
        out.add(op, {steps_first, weights(1), weights(2), bias}, std::move(attributes));
    // [steps, directions, N, units]
    const std::string one = out.add("Squeeze", {all, model.integers({1})});
    out.done("Transpose", {one}, {attribute("perm", {1, 0, 2})});
}

}  // namespace

/// A sum of the two, each with zeros where the other is: so the batch may be of any size.
void write_class_token(NodeWriter& out) {
    const Dims& dims = out.result().dims;
    const auto padded = [&](const std::string& what, std::int64_t before, std::int64_t behind) {
        return out.add("Pad", {what, out.model().integers({0, before, 0, 0, behind, 0})});
    };
    out.done("Add", {padded(out.input(), 1, 0),
                     padded(out.parameter(1, {1, 1, dims[2]}), 0, dims[1] - 1)});
}

void write_pixels_to_steps(NodeWriter& out) {
    const Dims& dims = out.result().dims;
    out.done("Transpose", {out.reshape(out.input(), {0, dims[2], dims[1]})},
             {attribute("perm", {0, 2, 1})});
}

void write_transpose(NodeWriter& out) {
    out.done("Transpose", {out.input()}, {attribute("perm", {0, 2, 1})});
}

void write_rnn(NodeWriter& out) {
    write_recurrent(out, "RNN", {0}, {});
}
void write_lstm(NodeWriter& out) {
    write_recurrent(out, "LSTM", {0, 3, 1, 2}, {});
}
void write_gru(NodeWriter& out) {
    write_recurrent(out, "GRU", {1, 0, 2}, {attribute("linear_before_reset", std::int64_t{1})});
}

void write_position_embedding(NodeWriter& out) {
    const Dims& dims = out.result().dims;
    const std::int64_t steps = dims[1], features = dims[2];
    if (out.has(1)) {
        const std::string rows =
            out.type(1).dims[0] == steps ? out.input(1) : part(out, out.input(1), 0, steps, 0);
        return out.done("Add", {out.input(), rows});
    }
    std::vector<double> waves;
    for (std::int64_t t = 0; t < steps; ++t)
        for (std::int64_t f = 0; f < features; ++f) {
            const Turn turn = turn_of(t, f / 2, features, out.real("base"));
            waves.push_back(f % 2 == 0 ? turn.sine : turn.cosine);
        }
    out.done("Add", {out.input(), out.model().numbers(out.dtype(), {steps, features}, waves)});
}

/// dst = src * cosines + (what src's pairs exchange) * sines.
void write_rotary_embedding(NodeWriter& out) {
    const Dims& dims = out.result().dims;
    const std::int64_t steps = dims[1], features = dims[2];
    const std::int64_t width = features / out.integer("heads"), half = width / 2;
    const bool neighbours = flag(out.attributes(), "neighbours");
    std::vector<double> sines, cosines;
    std::vector<std::int64_t> others;
    for (std::int64_t t = 0; t < steps; ++t) {
        for (std::int64_t f = 0; f < features; ++f) {
            const std::int64_t u = f % width;
            const bool first = neighbours ? u % 2 == 0 : u < half;
            const std::int64_t pair = neighbours ? u / 2 : u % half;
            const Turn turn = turn_of(t, pair, width, out.real("base"));
            sines.push_back(first ? -turn.sine : turn.sine);
            cosines.push_back(turn.cosine);
            const std::int64_t apart = neighbours ? 1 : half;
            if (t == 0) others.push_back(first ? f + apart : f - apart);
        }
    }
    ModelWriter& model = out.model();
    const std::string exchanged = out.add("Gather", {out.input(), model.integers(others)},
                                          {attribute("axis", std::int64_t{2})});
    const auto times = [&](const std::string& value, const std::vector<double>& numbers) {
        return out.add("Mul", {value, model.numbers(out.dtype(), {steps, features}, numbers)});
    };
    out.done("Add", {times(out.input(), cosines), times(exchanged, sines)});
}

void write_first_step(NodeWriter& out) {
    out.done(out.reshape(part(out, out.input(), 0, 1, 1), out.result().dims));
}

void write_last_step(NodeWriter& out) {
    const std::int64_t steps = out.type().dims[1];
    out.done(out.reshape(part(out, out.input(), steps - 1, steps, 1), out.result().dims));
}

void write_swiglu(NodeWriter& out) {
    const std::string gate = out.add("Mul", {out.input(), out.add("Sigmoid", {out.input()})});
    out.done("Mul", {gate, out.input(1)});
}

}  // namespace dtnn::compiler::onnx
