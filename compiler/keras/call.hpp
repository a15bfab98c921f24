#pragma once
/// What rules have to read a layer of Keras with. Rules are listed in rules.def.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "compiler/keras/import.hpp"
#include "compiler/onnx/out/node_writer.hpp"

namespace dtnn::compiler::keras {

using onnx::attribute;
using onnx::Refused;
using Integers = std::vector<std::int64_t>;
using NodeAttributes = std::vector<onnx::AttributeProto>;

/// A value of the graph that is made. Of images it has the channels second, though they are the
/// last axis in Keras (`turned`), or Keras has them so as well.
struct Value {
    std::string name;
    Dims dims;  ///< the graph's; the batch is 1; none: a number
    bool turned = false;

    std::size_t rank() const { return dims.size(); }
    bool is_image() const { return rank() == 4; }
    Dims keras_dims() const;
    std::string shape_text() const;  ///< "[batch, 28, 28, 1]", as in Keras
    /// The graph's axis that Keras calls so, which may be counted from the end. Throws Refused.
    std::size_t axis(std::int64_t keras_axis) const;
};

struct Layer {
    std::string name;  ///< behind those of the models that it stands in: "encoder/conv"
    std::string class_name;
    const Json* config;
    std::string weights;  ///< where its arrays are: "layers/encoder/layers/conv2d"
};

class Reader;

/// One call of a layer.
class Call {
  public:
    Call(Reader& reader, const Layer& layer, std::vector<Value> inputs)
        : reader_(reader), layer_(layer), label_(layer.name), inputs_(std::move(inputs)) {}

    const Layer& layer() const { return layer_; }
    const std::vector<Value>& inputs() const { return inputs_; }
    /// The only input. Throws Refused.
    const Value& input() const;
    /// The only input, an image, in the order of `data_format`.
    Value image();
    /// The same of a sequence where `axes` is 1, [batch, features, steps]; and what was computed of
    /// it as the layer has it.
    Value windowed(std::size_t axes);
    Value as_given(const Value& value);
    /// The same call under a name of its own: "conv_relu", "separable/depthwise".
    Call named(const std::string& ending) const;

    // ---- The layer's configuration. Throw Json::exception or Refused for another type.
    const Json* find(const char* field) const;  ///< null: absent, or null in the file
    bool flag(const char* field, bool absent) const;
    std::int64_t integer(const char* field, std::int64_t absent) const;
    double real(const char* field, double absent) const;
    std::string text(const char* field, const char* absent) const;
    Integers integers(const char* field, const Integers& absent) const;  ///< a number, or a list
    /// Extents of 1 and more, one for each of so many axes.
    Integers extents(const char* field, const Integers& absent, std::size_t axes) const;
    Integers cells(const char* field) const;  ///< top, bottom, left, right
    std::vector<double> reals(const char* field, double absent) const;
    bool has_last_channels() const;  ///< by `data_format`

    // ---- Constants, by their names in the graph.
    /// The layer's array number `index`, of these extents in Keras; its axes in another order, and
    /// then under other extents, where these are given. Throws Refused.
    std::string weights(int index, const std::string& role, const Dims& dims,
                        const Integers& order = {}, Dims shape = {});
    std::vector<double> weight_numbers(int index, const Dims& dims);
    std::string integers(const Integers& values);
    std::string numbers(const Dims& dims, const std::vector<double>& values);
    std::string number(double value) { return numbers({}, {value}); }
    /// One number, or one for each place of Keras' last axis.
    std::string along_last(const Value& value, const std::vector<double>& numbers);

    // ---- Nodes.
    Value node(const char* op, const std::vector<std::string>& inputs, NodeAttributes attributes,
               Dims dims, bool turned);
    /// A node of one value, of the same shape.
    Value like(const char* op, const Value& value, NodeAttributes attributes = {},
               const std::vector<std::string>& more = {});
    Value transposed(const Value& value, const Integers& order);
    /// An image in the order that is asked for; other values as they are.
    Value laid(const Value& value, bool turned);
    /// `activation` behind the value.
    Value activated(const Value& value);

  private:
    const StoredTensor& array(int index, const std::string& role, const Dims& dims) const;

    Reader& reader_;
    const Layer& layer_;
    std::string label_;
    std::vector<Value> inputs_;
};

/// As Keras calls functions and groups of arrays after classes: BatchNormalization is
/// batch_normalization, Conv2D conv2d.
std::string snake_case(std::string_view name);

/// The activation that Keras calls so; throws Refused.
Value activation(Call& call, const Value& value, const std::string& name);

/// Throws Refused for what is not of Keras itself, but code of whoever saved the model.
void check_is_own(const Json& object);

/// The rule of the class; null: there is none.
using Rule = Value (*)(Call&);
Rule find_rule(const std::string& class_name);

#define DTNN_KERAS_READ(class_name, rule) Value rule(Call& call);
#include "compiler/keras/rules.def"
#undef DTNN_KERAS_READ

}  // namespace dtnn::compiler::keras
