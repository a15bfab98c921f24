#include "compiler/keras/call.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "compiler/keras/reader.hpp"

namespace dtnn::compiler::keras {
namespace {

/// The most of an extent, and of the numbers of a value.
constexpr std::int64_t kMostExtent = std::int64_t{1} << 30, kMostNumbers = std::int64_t{1} << 40;

const char* const kNoSuchActivation =
    "take another activation, or put `elementwise` with its formula into the spec";

}  // namespace

// ---- Values

Dims Value::keras_dims() const {
    return turned ? Dims{dims[0], dims[2], dims[3], dims[1]} : dims;
}

std::string Value::shape_text() const {
    const Dims keras = keras_dims();
    std::string text = "[batch";
    for (std::size_t i = 1; i < keras.size(); ++i)
        text += fmt::format(", {}", keras[i]);
    return text + "]";
}

std::size_t Value::axis(std::int64_t keras_axis) const {
    const auto count = std::int64_t(rank());
    const std::int64_t place = keras_axis < 0 ? keras_axis + count : keras_axis;
    if (place < 1 || place >= count)
        throw Refused(fmt::format("its axis {} is none of {}", keras_axis, shape_text()),
                      "take an axis behind the batch");
    constexpr std::array<std::size_t, 4> kTurned{0, 2, 3, 1};
    return turned ? kTurned[std::size_t(place)] : std::size_t(place);
}

const Value& Call::input() const {
    if (inputs_.size() != 1 || inputs_[0].rank() < 2)
        throw Refused(fmt::format("it is called with {}, and one value is meant",
                                  count_text(std::int64_t(inputs_.size()), "argument")),
                      "save the model again with Keras 3");
    return inputs_[0];
}

Value Call::image() {
    const Value& value = input();
    if (!value.is_image())
        throw Refused(fmt::format("its input has {} axes behind the batch, and an image has 3",
                                  value.rank() - 1),
                      "networks of images have two axes of places here");
    return laid(value, has_last_channels());
}

Value Call::windowed(std::size_t axes) {
    if (axes == 2) return image();
    const Value& value = input();
    if (value.rank() != 3)
        throw Refused(fmt::format("its input has {} axes behind the batch, and a sequence has 2",
                                  value.rank() - 1),
                      "windows over one axis take [batch, steps, features]");
    return has_last_channels() ? transposed(value, {0, 2, 1}) : value;
}

Value Call::as_given(const Value& value) {
    return value.rank() == 3 && has_last_channels() ? transposed(value, {0, 2, 1}) : value;
}

Call Call::named(const std::string& ending) const {
    Call made = *this;
    made.label_ += ending;
    return made;
}

// ---- The configuration

const Json* Call::find(const char* field) const {
    const auto found = layer_.config->find(field);
    return found == layer_.config->end() || found->is_null() ? nullptr : &*found;
}

bool Call::flag(const char* field, bool absent) const {
    const Json* found = find(field);
    return found ? found->get<bool>() : absent;
}

std::int64_t Call::integer(const char* field, std::int64_t absent) const {
    const Json* found = find(field);
    return found ? whole_number_of(*found, -kMostExtent, kMostExtent) : absent;
}

double Call::real(const char* field, double absent) const {
    const Json* found = find(field);
    return found ? found->get<double>() : absent;
}

std::string Call::text(const char* field, const char* absent) const {
    const Json* found = find(field);
    return found ? found->get<std::string>() : absent;
}

Integers Call::integers(const char* field, const Integers& absent) const {
    const Json* found = find(field);
    if (!found) return absent;
    if (!found->is_array()) return {whole_number_of(*found, -kMostExtent, kMostExtent)};
    Integers made;
    for (const Json& item : *found)
        made.push_back(whole_number_of(item, -kMostExtent, kMostExtent));
    return made;
}

Integers Call::extents(const char* field, const Integers& absent, std::size_t axes) const {
    Integers made = integers(field, absent);
    if (made.size() == 1) made.resize(axes, made[0]);
    if (made.size() != axes || *std::min_element(made.begin(), made.end()) < 1)
        throw Refused(fmt::format("its {} are no extents of 1 and more for {} axes", field, axes),
                      "save the model again with Keras 3");
    return made;
}

Integers Call::cells(const char* field) const {
    Integers made;
    for (const Json& axis : layer_.config->at(field))
        for (const Json& end : axis)
            made.push_back(whole_number_of(end, 0, kMostExtent));
    if (made.size() != 4)
        throw Refused(fmt::format("its {} is not [[top, bottom], [left, right]]", field),
                      "save the model again with Keras 3");
    return made;
}

std::vector<double> Call::reals(const char* field, double absent) const {
    const Json* found = find(field);
    if (!found) return {absent};
    // An array of NumPy is an object with its values.
    if (found->is_object()) found = &found->at("config").at("value");
    if (!found->is_array()) return {found->get<double>()};
    std::vector<double> made;
    const auto add = [&](const Json& list, const auto& self) -> void {
        for (const Json& item : list) {
            if (item.is_array())
                self(item, self);
            else
                made.push_back(item.get<double>());
        }
    };
    add(*found, add);
    return made;
}

bool Call::has_last_channels() const {
    const std::string format = text("data_format", "channels_last");
    if (format != "channels_last" && format != "channels_first")
        throw Refused(fmt::format("its data_format is `{}`", printable(format)),
                      "channels_last and channels_first are known");
    return format == "channels_last";
}

// ---- Constants

const StoredTensor& Call::array(int index, const std::string& role, const Dims& dims) const {
    const std::string path = fmt::format("{}/vars/{}", layer_.weights, index);
    const KerasFile& file = reader_.file();
    if (const auto other = file.unread.find(path); other != file.unread.end())
        throw Refused(fmt::format("its {}, `{}` of model.weights.h5, are not read: {}", role,
                                  printable(path), other->second),
                      "save the model with weights of float32, by Keras' own model.save()");
    const auto found = file.weights.find(path);
    if (found == file.weights.end())
        throw Refused(
            fmt::format("its {}, `{}`, are not in model.weights.h5", role, printable(path)),
            "build the model before it is saved, and save it by model.save(), not its "
            "weights alone");
    if (found->second.dims != dims)
        throw Refused(fmt::format("its {}, `{}` of model.weights.h5, have the shape [{}], and [{}] "
                                  "follows from config.json",
                                  role, printable(path), fmt::join(found->second.dims, ", "),
                                  fmt::join(dims, ", ")),
                      "both are of one model.save(): save the model again");
    return found->second;
}

namespace {

onnx::TensorProto tensor_of(const StoredTensor& array) {
    onnx::TensorProto tensor;
    tensor.name = array.name;
    tensor.dims = array.dims;
    tensor.data_type = onnx::element_type(array.dtype);
    tensor.raw_data = {reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()};
    return tensor;
}

}  // namespace

std::string Call::weights(int index, const std::string& role, const Dims& dims,
                          const Integers& order, Dims shape) {
    const StoredTensor& array = this->array(index, role, dims);
    std::string& name = reader_.known_weights(
        fmt::format("{} [{}] [{}]", array.name, fmt::join(order, ","), fmt::join(shape, ",")));
    if (!name.empty()) return name;
    name = reader_.writer().unique(label_ + "/" + role);
    onnx::TensorProto tensor = tensor_of(array);
    DType dtype = array.dtype;
    if (!order.empty()) {
        const onnx::Constant turned =
            reader_.constants().transpose(reader_.constants().read(tensor), order);
        tensor.dims = turned.dims;
        tensor.raw_data = turned.bytes;
        dtype = DType::f32;
    }
    reader_.writer().tensor(name, dtype, shape.empty() ? tensor.dims : std::move(shape),
                            tensor.raw_data);
    return name;
}

std::vector<double> Call::weight_numbers(int index, const Dims& dims) {
    return onnx::numbers_of(reader_.constants().read(tensor_of(array(index, "numbers", dims))));
}

std::string Call::integers(const Integers& values) {
    return reader_.writer().integers(values);
}

std::string Call::numbers(const Dims& dims, const std::vector<double>& values) {
    return reader_.numbers(dims, values);
}

std::string Call::along_last(const Value& value, const std::vector<double>& given) {
    if (given.size() == 1) return number(given[0]);
    const std::int64_t extent = value.dims[value.axis(-1)];
    if (std::int64_t(given.size()) != extent)
        throw Refused(fmt::format("it has {} numbers for a last axis of {}", given.size(), extent),
                      "one number, or one for each channel, can be");
    return numbers(value.turned ? Dims{extent, 1, 1} : Dims{extent}, given);
}

// ---- Nodes

Value Call::node(const char* op, const std::vector<std::string>& inputs, NodeAttributes attributes,
                 Dims dims, bool turned) {
    const bool sound = std::all_of(dims.begin(), dims.end(), [](std::int64_t extent) {
        return extent >= 1 && extent <= kMostExtent;
    });
    if (!sound || element_count(dims) > kMostNumbers)
        throw Refused(fmt::format("its result would be {}", Value{"", dims, turned}.shape_text()),
                      "its window or its shape does not fit its input");
    const std::string name =
        reader_.writer().add(op, inputs, std::move(attributes), label_ + "/" + op);
    reader_.note(name, layer_);
    return {name, std::move(dims), turned};
}

Value Call::like(const char* op, const Value& value, NodeAttributes attributes,
                 const std::vector<std::string>& more) {
    std::vector<std::string> inputs{value.name};
    inputs.insert(inputs.end(), more.begin(), more.end());
    return node(op, inputs, std::move(attributes), value.dims, value.turned);
}

Value Call::transposed(const Value& value, const Integers& order) {
    Dims dims;
    for (const std::int64_t axis : order)
        dims.push_back(value.dims[std::size_t(axis)]);
    return node("Transpose", {value.name}, {attribute("perm", order)}, std::move(dims), false);
}

Value Call::laid(const Value& value, bool turned) {
    if (!value.is_image() || value.turned == turned) return value;
    Value made = transposed(value, turned ? Integers{0, 3, 1, 2} : Integers{0, 2, 3, 1});
    made.turned = turned;
    return made;
}

Value Call::activated(const Value& value) {
    const Json* given = find("activation");
    if (!given) return value;
    if (given->is_string()) {
        const auto name = given->get<std::string>();
        if (name == "linear") return value;
        Call own = layer_.class_name == "Activation" ? *this : named("_" + name);
        return activation(own, value, name);
    }
    // A layer in the place of a name.
    check_is_own(*given);
    const auto class_name = given->at("class_name").get<std::string>();
    static const std::set<std::string> classes{"ReLU", "LeakyReLU", "ELU", "Softmax"};
    if (!classes.contains(class_name))
        throw Refused(fmt::format("its activation is a `{}`", printable(class_name)),
                      kNoSuchActivation);
    const Layer layer{layer_.name, class_name, &given->at("config"), ""};
    Call own(reader_, layer, {value});
    own.label_ = label_ + "_" + lower(class_name);
    return find_rule(class_name)(own);
}

namespace {

/// Nodes by their names in Keras; those with bounds are of `Clip`.
struct ActivationRule {
    const char* op;
    NodeAttributes attributes = {};
    std::optional<std::pair<double, double>> bounds = {};
};

const std::map<std::string, ActivationRule, std::less<>>& activations() {
    static const std::map<std::string, ActivationRule, std::less<>> all{
        {"relu", {"Relu"}},
        {"relu6", {"Clip", {}, std::pair(0.0, 6.0)}},
        {"hard_tanh", {"Clip", {}, std::pair(-1.0, 1.0)}},
        {"leaky_relu", {"LeakyRelu", {attribute("alpha", 0.2)}}},
        {"elu", {"Elu"}},
        {"celu", {"Celu"}},
        {"selu", {"Selu"}},
        {"gelu", {"Gelu"}},
        {"silu", {"Swish"}},
        {"swish", {"Swish"}},
        {"hard_silu", {"HardSwish"}},
        {"hard_swish", {"HardSwish"}},
        {"hard_sigmoid", {"HardSigmoid", {attribute("alpha", 1.0 / 6), attribute("beta", 0.5)}}},
        {"sigmoid", {"Sigmoid"}},
        {"tanh", {"Tanh"}},
        {"softplus", {"Softplus"}},
        {"softsign", {"Softsign"}},
        {"mish", {"Mish"}},
        {"exponential", {"Exp"}},
        {"hard_shrink", {"Shrink", {attribute("lambd", 0.5), attribute("bias", 0.0)}}},
        {"soft_shrink", {"Shrink", {attribute("lambd", 0.5), attribute("bias", 0.5)}}}};
    return all;
}

}  // namespace

Value activation(Call& call, const Value& value, const std::string& name) {
    if (name == "linear") return value;
    if (name == "softmax" || name == "log_softmax")
        return call.like(name == "softmax" ? "Softmax" : "LogSoftmax", value,
                         {attribute("axis", std::int64_t(value.axis(-1)))});
    const auto found = activations().find(name);
    if (found == activations().end())
        throw Refused(fmt::format("its activation is `{}`", printable(name)), kNoSuchActivation);
    const auto& [op, attributes, bounds] = found->second;
    if (!bounds) return call.like(op, value, attributes);
    return call.like(op, value, {}, {call.number(bounds->first), call.number(bounds->second)});
}

void check_is_own(const Json& object) {
    const auto text = [&](const char* field) {
        const auto found = object.find(field);
        return found != object.end() && found->is_string() ? found->get<std::string>() : "";
    };
    const std::string module = text("module"), registered = text("registered_name");
    const std::string class_name = text("class_name");
    const char* const help =
        "build the model of Keras' own layers, or write what it computes as a layer of the spec "
        "(`elementwise` takes a formula)";
    if (class_name == "Lambda" || class_name == "__lambda__")
        throw Refused("it is a function in Python's byte code, which is never run here", help);
    const bool own = module == "keras" || module.starts_with("keras.");
    if (!own || class_name == "function" || registered.find('>') != std::string::npos)
        throw Refused(fmt::format("its code is `{}`, of the program that saved the model, and is "
                                  "never run here",
                                  printable(registered.empty() ? class_name : registered)),
                      help);
}

}  // namespace dtnn::compiler::keras
