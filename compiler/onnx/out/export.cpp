#include "compiler/onnx/out/export.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "compiler/onnx/out/node_writer.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Rule = void (*)(NodeWriter&);

const std::map<std::string, Rule, std::less<>>& rules() {
    static const std::map<std::string, Rule, std::less<>> all{
#define DTNN_ONNX_RULE(op) {#op, write_##op},
#include "compiler/onnx/out/rules.def"
#undef DTNN_ONNX_RULE
    };
    return all;
}

struct Same {
    const char* onnx;
    const char* field;
    const char* attribute;
};

const Same* same_of(std::string_view op) {
    static const std::map<std::string, Same, std::less<>> all{
#define DTNN_ONNX_SAME(op, onnx, field, attribute, value) {#op, {onnx, field, attribute}},
#include "compiler/onnx/same.def"
#undef DTNN_ONNX_SAME
    };
    const auto found = all.find(op);
    return found == all.end() ? nullptr : &found->second;
}

/// The version of the file that an operator set came with.
std::int64_t ir_version(int opset) {
    return opset < 19 ? 8 : opset < 21 ? 9 : opset < 23 ? 10 : 11;
}

ValueInfoProto info(const std::string& name, DType dtype, const Dims& dims, std::int64_t batch) {
    ValueInfoProto value;
    value.name = name;
    TensorType& type = value.type.emplace().tensor_type.emplace();
    type.elem_type = element_type(dtype);
    Shape& shape = type.shape.emplace();
    for (const std::int64_t extent : dims)
        shape.dim.push_back({extent, {}});
    shape.dim.front() = batch > 0 ? Extent{batch, {}} : Extent{std::nullopt, "batch"};
    return value;
}

class Export {
  public:
    Export(const Graph& graph, const std::map<std::string, const StoredTensor*>& weights,
           const ExportRequest& request)
        : graph_(graph), weights_(weights), request_(request), out_(made_, request.opset) {}

    ExportedModel run() {
        ModelProto& model = made_.model;
        model.ir_version = ir_version(request_.opset);
        model.opset_import.push_back({"", request_.opset});
        model.producer_name = "dtnnc";
        model.producer_version = request_.producer_version;
        for (const auto& [key, value] : request_.metadata)
            model.metadata_props.push_back({key, value});
        model.graph.emplace().name = graph_.name.empty() ? "model" : graph_.name;
        names_.resize(graph_.values.size());
        output_ = out_.unique("predictions");
        for (std::size_t i = 0; i < graph_.inputs.size(); ++i)
            add_input(graph_.inputs[i], i == 0);
        for (const Parameter& parameter : graph_.parameters)
            add_parameter(parameter);
        for (const Node& node : graph_.nodes)
            write(node);
        finish(graph_.outputs.front().value);
        return std::move(made_);
    }

  private:
    std::string& name(ValueId value) { return names_[value.index()]; }

    void add_input(ValueId id, bool first) {
        const Type& type = graph_.type(id);
        const bool bytes = first && request_.pixels;
        const std::string own = out_.unique(graph_.value(id).name.str());
        out_.graph().input.push_back(
            info(own, bytes ? DType::u8 : type.dtype, type.dims, request_.batch));
        name(id) = own;
        if (!bytes) return;
        std::string value = out_.add(
            "Cast", {own}, {attribute("to", std::int64_t(element_type(type.dtype)))}, "pixels");
        value = out_.add("Div", {value, out_.number(type.dtype, 255)}, {}, "pixels");
        for (const PixelScale& scale : *request_.pixels) {
            const Dims dims{std::int64_t(scale.mean.size()), 1, 1};
            value =
                out_.add("Sub", {value, out_.numbers(type.dtype, dims, scale.mean)}, {}, "pixels");
            value = out_.add("Div", {value, out_.numbers(type.dtype, dims, scale.deviation)}, {},
                             "pixels");
        }
        name(id) = value;
    }

    void add_parameter(const Parameter& parameter) {
        const auto found = weights_.find(parameter.name);
        DTNN_CHECK(found != weights_.end(), "`{}` has no weights", parameter.name);
        const StoredTensor& tensor = *found->second;
        name(parameter.value) = out_.unique(parameter.name);
        out_.tensor(name(parameter.value), tensor.dtype, parameter.dims,
                    {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
    }

    void write(const Node& node) {
        Names inputs;
        for (const ValueId input : node.inputs)
            inputs.push_back(name(input));
        const ValueId result = node.outputs[0];
        const std::string own = out_.unique(graph_.value(result).name.str());
        NodeWriter writer(graph_, node, std::move(inputs), own, out_);
        const std::string& op = node.op.str();
        const std::size_t before = out_.graph().node.size();
        if (const auto rule = rules().find(op); rule != rules().end())
            rule->second(writer);
        else if (const Same* same = same_of(op))
            write_same(writer, *same);
        else
            write_formula(writer, parse_postfix(expression_of(node)));
        std::vector<NodeProto>& nodes = out_.graph().node;
        name(result) = writer.value();
        // A value that another layer made, as behind dropout, is read as it is.
        if (nodes.size() == before) return;
        name(result) = nodes.back().output[0] = nodes.back().name = own;
    }

    /// What reads no number of the source is a number for each of its places all the same.
    static void write_formula(NodeWriter& writer, Expression expression) {
        bool by_element = false;
        for (int i = 0; i < input_count(expression); ++i)
            by_element = by_element || reads_as(expression, i, false);
        if (!by_element)
            expression =
                Expression::of(Term::select, {Expression::input_at(0), expression, expression});
        writer.done(write_expression(writer, expression));
    }

    static void write_same(NodeWriter& writer, const Same& same) {
        std::vector<AttributeProto> attributes;
        if (*same.field) attributes.push_back(attribute(same.attribute, writer.real(same.field)));
        writer.done(same.onnx, {writer.input()}, std::move(attributes));
    }

    void finish(ValueId result) {
        const Type& type = graph_.type(result);
        std::string value = name(result);
        if (request_.numbers) {
            const Dims dims{std::int64_t(request_.numbers->mean.size())};
            value = out_.add("Mul",
                             {value, out_.numbers(type.dtype, dims, request_.numbers->deviation)},
                             {}, "numbers");
            value = out_.add("Add", {value, out_.numbers(type.dtype, dims, request_.numbers->mean)},
                             {}, "numbers");
        }
        out_.graph().node.push_back({{value}, {output_}, output_, "Identity", {}, {}});
        out_.graph().output.push_back(info(output_, type.dtype, type.dims, request_.batch));
    }

    const Graph& graph_;
    const std::map<std::string, const StoredTensor*>& weights_;
    const ExportRequest& request_;
    ExportedModel made_;
    ModelWriter out_;
    std::vector<std::string> names_;  ///< of the graph's values, in the model
    std::string output_;
};

}  // namespace

// ---- Writing nodes

AttributeProto attribute(std::string_view name, std::int64_t value) {
    AttributeProto made;
    made.name = name;
    made.i = value;
    made.type = kIntAttribute;
    return made;
}

AttributeProto attribute(std::string_view name, double value) {
    AttributeProto made;
    made.name = name;
    made.f = float(value);
    made.type = kFloatAttribute;
    return made;
}

AttributeProto attribute(std::string_view name, const char* value) {
    AttributeProto made;
    made.name = name;
    made.s = value;
    made.type = kTextAttribute;
    return made;
}

AttributeProto attribute(std::string_view name, std::vector<std::int64_t> values) {
    AttributeProto made;
    made.name = name;
    made.ints = std::move(values);
    made.type = kIntsAttribute;
    return made;
}

std::string ModelWriter::unique(std::string wanted) {
    if (taken_.insert(wanted).second) return wanted;
    for (int i = 1;; ++i)
        if (std::string next = fmt::format("{}_{}", wanted, i); taken_.insert(next).second)
            return next;
}

std::string ModelWriter::add(const char* op, Names inputs, std::vector<AttributeProto> attributes,
                             const std::string& wanted) {
    std::string name = unique(wanted);
    graph().node.push_back({std::move(inputs), {name}, name, op, std::move(attributes), {}});
    return name;
}

void ModelWriter::tensor(const std::string& name, DType dtype, Dims dims, std::string_view bytes) {
    TensorProto made;
    made.name = name;
    made.data_type = element_type(dtype);
    made.dims = std::move(dims);
    made.raw_data = bytes;
    graph().initializer.push_back(std::move(made));
}

std::string ModelWriter::constant(const char* wanted, DType dtype, const Dims& dims,
                                  std::string bytes) {
    std::string& name =
        constants_[fmt::format("{} {} ", name_of(dtype), fmt::join(dims, ",")) + bytes];
    if (!name.empty()) return name;
    name = unique(wanted);
    tensor(name, dtype, dims, made_.storage.emplace_back(std::move(bytes)));
    return name;
}

std::string ModelWriter::integers(const std::vector<std::int64_t>& values) {
    std::string bytes;
    for (const std::int64_t value : values)
        append_little_endian(bytes, std::uint64_t(value), 8);
    return constant("integers", DType::i64, {std::int64_t(values.size())}, std::move(bytes));
}

std::string ModelWriter::numbers(DType dtype, const Dims& dims, const std::vector<double>& values) {
    std::string bytes;
    for (const double value : values)
        if (dtype == DType::f64)
            append_little_endian(bytes, std::bit_cast<std::uint64_t>(value), 8);
        else
            append_little_endian(bytes, std::bit_cast<std::uint32_t>(float(value)), 4);
    return constant("numbers", dtype, dims, std::move(bytes));
}

std::string NodeWriter::reshape(const std::string& value, Dims dims) {
    dims.front() = 0;
    return add("Reshape", {value, model_.integers(dims)});
}

std::string NodeWriter::parameter(std::size_t i, const Dims& dims) {
    return add("Reshape", {inputs_[i], model_.integers(dims)});
}

std::vector<std::int64_t> axis_last(std::size_t rank, std::size_t axis) {
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i < rank; ++i)
        if (i != axis) order.push_back(std::int64_t(i));
    order.push_back(std::int64_t(axis));
    return order;
}

std::vector<std::int64_t> axis_second(std::size_t rank, std::size_t axis) {
    std::vector<std::int64_t> order{0, std::int64_t(axis)};
    for (std::size_t i = 1; i < rank; ++i)
        if (i != axis) order.push_back(std::int64_t(i));
    return order;
}

std::vector<std::int64_t> inverse_of(const std::vector<std::int64_t>& permutation) {
    std::vector<std::int64_t> inverse(permutation.size());
    for (std::size_t i = 0; i < permutation.size(); ++i)
        inverse[std::size_t(permutation[i])] = std::int64_t(i);
    return inverse;
}

// ---- Whole models

ExportedModel export_graph(const Graph& graph,
                           const std::map<std::string, const StoredTensor*>& weights,
                           const ExportRequest& request) {
    return Export(graph, weights, request).run();
}

std::int64_t tensor_bytes(const ModelProto& model) {
    std::int64_t bytes = 0;
    for (const TensorProto& tensor : model.graph->initializer)
        bytes += std::int64_t(tensor.raw_data.size());
    return bytes;
}

void move_outside(ModelProto& model, const std::string& name,
                  const std::function<void(std::string_view)>& sink) {
    constexpr std::size_t kLeast = 1024, kPage = 4096;
    std::size_t at = 0;
    for (TensorProto& tensor : model.graph->initializer) {
        const std::size_t length = tensor.raw_data.size();
        if (length < kLeast) continue;
        const std::size_t gap = (kPage - at % kPage) % kPage;
        sink(std::string(gap, '\0'));
        sink(tensor.raw_data);
        at += gap;
        tensor.external_data = {
            {"location", name}, {"offset", std::to_string(at)}, {"length", std::to_string(length)}};
        tensor.data_location = kExternal;
        tensor.raw_data = {};
        at += length;
    }
}

bool has_rule(const std::string& name) {
    if (rules().contains(name) || same_of(name)) return true;
    const OpDef* def = find_op(name);
    return def && (!def->expression.empty() || def->expression_rule);
}

}  // namespace dtnn::compiler::onnx
