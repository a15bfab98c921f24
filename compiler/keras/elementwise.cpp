/// Activations, sums, products and joins.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/keras/call.hpp"

namespace dtnn::compiler::keras {

Value read_activation(Call& call) {
    return call.activated(call.input());
}

Value read_function(Call& call) {
    return activation(call, call.input(), snake_case(call.layer().class_name));
}

Value read_relu(Call& call) {
    const double slope = call.real("negative_slope", 0), threshold = call.real("threshold", 0);
    const Json* most = call.find("max_value");
    if (threshold != 0 || (slope != 0 && most))
        throw Refused("it has a threshold, or a slope and a greatest value",
                      "write it as an `elementwise` formula in the spec");
    if (slope != 0) return call.like("LeakyRelu", call.input(), {attribute("alpha", slope)});
    if (!most) return call.like("Relu", call.input());
    return call.like("Clip", call.input(), {}, {call.number(0), call.number(most->get<double>())});
}

Value read_leaky_relu(Call& call) {
    // Keras 2 called it so.
    const double slope = call.real("negative_slope", call.real("alpha", 0.3));
    return call.like("LeakyRelu", call.input(), {attribute("alpha", slope)});
}

Value read_p_relu(Call& call) {
    const Value& src = call.input();
    const Dims keras = src.keras_dims();
    Dims dims(keras.begin() + 1, keras.end());
    for (const std::int64_t axis : call.integers("shared_axes", {})) {
        if (axis < 1 || axis > std::int64_t(dims.size()))
            throw Refused(fmt::format("its shared axis {} is none of its input's", axis),
                          "save the model again with Keras 3");
        dims[std::size_t(axis - 1)] = 1;
    }
    return call.like("PRelu", src, {},
                     {call.weights(0, "alpha", dims, src.turned ? Integers{2, 0, 1} : Integers{})});
}

Value read_layer_scale(Call& call) {
    const Value& src = call.input();
    const std::int64_t channels = src.keras_dims().back();
    return call.like(
        "Mul", src, {},
        {call.weights(0, "gamma", {channels}, {}, src.turned ? Dims{channels, 1, 1} : Dims{})});
}

Value read_elu(Call& call) {
    return call.like("Elu", call.input(), {attribute("alpha", call.real("alpha", 1))});
}

Value read_softmax(Call& call) {
    const Integers axes = call.integers("axis", {-1});
    if (axes.size() != 1) throw Refused("it goes along several axes", "one axis can be");
    return call.like("Softmax", call.input(),
                     {attribute("axis", std::int64_t(call.input().axis(axes[0])))});
}

Value read_identity(Call& call) {
    return call.input();
}

Value read_dropout(Call& call) {
    return call.like("Dropout", call.input(), {}, {call.number(call.real("rate", 0.5))});
}

Value read_rescaling(Call& call) {
    Value made = call.input();
    const std::vector<double> scale = call.reals("scale", 1), offset = call.reals("offset", 0);
    if (scale != std::vector<double>{1})
        made = call.like("Mul", made, {}, {call.along_last(made, scale)});
    if (offset != std::vector<double>{0})
        made = call.like("Add", made, {}, {call.along_last(made, offset)});
    return made;
}

Value read_normalization(Call& call) {
    const Value& src = call.input();
    const Dims keras = src.keras_dims();
    const Integers axes = call.integers("axis", {});
    const bool last = axes == Integers{-1} || axes == Integers{std::int64_t(src.rank()) - 1};
    if ((!axes.empty() && !last) || call.flag("invert", false))
        throw Refused("it normalises other axes than the last, or it undoes a normalisation",
                      "one number, or one for each channel, can be");
    const Dims dims = last ? Dims{keras.back()} : Dims{};
    const bool given = call.find("mean") != nullptr;
    std::vector<double> mean = given ? call.reals("mean", 0) : call.weight_numbers(0, dims);
    std::vector<double> variance = given ? call.reals("variance", 1) : call.weight_numbers(1, dims);
    constexpr double kLeastDeviation = 1e-7;  // Keras' epsilon
    for (double& number : variance)
        number = std::max(std::sqrt(number), kLeastDeviation);
    if (mean.size() != variance.size())
        throw Refused(fmt::format("it has {} means and {} variances", mean.size(), variance.size()),
                      "save the model again with Keras 3");
    // (x - mean) / deviation, as one factor and one offset for each channel.
    for (std::size_t i = 0; i < mean.size(); ++i) {
        mean[i] = -mean[i] / variance[i];
        variance[i] = 1 / variance[i];
    }
    const Value scaled = call.like("Mul", src, {}, {call.along_last(src, variance)});
    return call.like("Add", scaled, {}, {call.along_last(scaled, mean)});
}

// ---- Several values

namespace {

/// All inputs with their axes in one order; each of one number stays.
std::vector<Value> alike(Call& call, std::size_t least) {
    std::vector<Value> values = call.inputs();
    if (values.size() < least)
        throw Refused(fmt::format("it is called with {} values, and {} or more are meant",
                                  values.size(), least),
                      "save the model again with Keras 3");
    const auto image =
        std::find_if(values.begin(), values.end(), [](const Value& value) { return value.turned; });
    for (Value& value : values)
        if (image != values.end()) value = call.laid(value, true);
    return values;
}

/// What both are repeated to.
Dims broadcast(const Dims& a, const Dims& b) {
    if (a.empty() || b.empty()) return a.empty() ? b : a;
    if (a.size() != b.size())
        throw Refused("its inputs have not as many axes",
                      "give both the same axes by a Reshape layer");
    Dims dims;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] != b[i] && a[i] != 1 && b[i] != 1)
            throw Refused(
                fmt::format("its inputs are [{}] and [{}]", fmt::join(a, ", "), fmt::join(b, ", ")),
                "save the model again with Keras 3");
        dims.push_back(std::max(a[i], b[i]));
    }
    return dims;
}

/// One node of all inputs, or one for each after the first.
Value merged(Call& call, const char* op, bool at_once) {
    const std::vector<Value> values = alike(call, 2);
    Value made = values[0];
    std::vector<std::string> names{made.name};
    for (std::size_t i = 1; i < values.size(); ++i) {
        Dims dims = broadcast(made.dims, values[i].dims);
        if (dims.empty()) throw Refused("its arguments are numbers", "one is to be a value");
        const bool turned = made.turned || values[i].turned;
        names.push_back(values[i].name);
        if (at_once)
            made = {"", std::move(dims), turned};
        else
            made = call.node(op, {made.name, values[i].name}, {}, std::move(dims), turned);
    }
    return at_once ? call.node(op, names, {}, made.dims, made.turned) : made;
}

}  // namespace

Value read_add(Call& call) {
    return merged(call, call.inputs().size() == 2 ? "Add" : "Sum", true);
}

Value read_subtract(Call& call) {
    return merged(call, "Sub", false);
}

Value read_multiply(Call& call) {
    return merged(call, "Mul", false);
}

Value read_divide(Call& call) {
    return merged(call, "Div", false);
}

Value read_average(Call& call) {
    const Value sum = read_add(call);
    return call.like("Mul", sum, {}, {call.number(1.0 / double(call.inputs().size()))});
}

Value read_maximum(Call& call) {
    return merged(call, "Max", true);
}

Value read_minimum(Call& call) {
    return merged(call, "Min", true);
}

Value read_concatenate(Call& call) {
    const std::vector<Value> values = alike(call, 1);
    const std::size_t axis = values[0].axis(call.integer("axis", -1));
    Dims dims = values[0].dims;
    dims[axis] = 0;
    std::vector<std::string> names;
    for (const Value& value : values) {
        Dims other = value.dims;
        if (other.size() == dims.size()) {
            dims[axis] += other[axis];
            other[axis] = dims[axis];
        }
        if (other != dims)
            throw Refused("its inputs do not fit together along other axes than the joined one",
                          "save the model again with Keras 3");
        names.push_back(value.name);
    }
    return call.node("Concat", names, {attribute("axis", std::int64_t(axis))}, std::move(dims),
                     values[0].turned);
}

}  // namespace dtnn::compiler::keras
