#include "compiler/onnx/in/importer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/utf8.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/spec_layers.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/support/diagnostics.hpp"

namespace dtnn::compiler::onnx {
namespace {

using ReadRule = void (*)(const NodeReader&);

const std::map<std::string, ReadRule, std::less<>>& read_rules() {
    static const std::map<std::string, ReadRule, std::less<>> all{
#define DTNN_ONNX_READ(op_type, rule) {#op_type, rule},
#include "compiler/onnx/in/rules.def"
#undef DTNN_ONNX_READ
    };
    return all;
}

std::string place_of(const NodeProto& node) {
    const std::string& name =
        node.name.empty() && !node.output.empty() ? node.output[0] : node.name;
    return fmt::format("node `{}` ({})", printable(name), printable(node.op_type));
}

constexpr const char* kNoFormula =
    "it has no counterpart here: change the model before it is exported, or write what it computes "
    "as a layer of the spec";

/// A part of a name: a letter, then letters, digits, _ and -.
std::string part_of_name(std::string_view text) {
    std::string part;
    for (const char c : text)
        part += std::isalnum(static_cast<unsigned char>(c)) || c == '-' ? c : '_';
    const bool letter = !part.empty() && std::isalpha(static_cast<unsigned char>(part[0]));
    return letter ? part : "n" + part;
}

/// A path in which modules are called by their own paths, as TorchScript writes it, as the path of
/// the last: features/features.1/features.1.0/conv is features.1.0.conv, as its weights say.
std::string module_path(const std::string& text) {
    std::vector<std::string> modules;
    bool nested = false;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('/', begin), text.size());
        std::string module = text.substr(begin, end - begin);
        if (!modules.empty() && module.starts_with(modules.back() + '.')) {
            modules.back() = std::move(module);
            nested = true;
        } else {
            modules.push_back(std::move(module));
        }
        begin = end + 1;
    }
    return nested ? fmt::format("{}", fmt::join(modules, ".")) : text;
}

/// A name of the file as one of ours; its parts stay, but those that say nothing.
std::string sound_name(std::string_view text) {
    constexpr std::size_t kLongest = 120;
    std::string name;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('/'), text.size());
        if (end > 0) name += (name.empty() ? "" : "/") + part_of_name(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return name.size() > kLongest ? part_of_name(name.substr(name.size() - kLongest)) : name;
}

bool is_image_of_file(const ValueInfoProto& input) {
    return input.type && input.type->tensor_type && input.type->tensor_type->shape &&
           input.type->tensor_type->shape->dim.size() == 4;
}

/// Whole numbers of a layer lie within what the language allows.
void expect_bounds(const OpDef& def, const Field& field, const Attributes& attributes) {
    const auto given = attributes.find(std::string(field.name));
    if (given == attributes.end()) return;
    std::vector<std::int64_t> numbers;
    if (const auto* one = std::get_if<std::int64_t>(&given->second)) numbers = {*one};
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&given->second)) numbers = *list;
    for (const std::int64_t number : numbers)
        if (double(number) > field.maximum.value_or(double(number)))
            throw Refused(fmt::format("it comes to a {} whose {} is {}, and {} is the most",
                                      def.name, field.name, number, *field.maximum));
}

}  // namespace

// ---- The file

Importer::Importer(const ModelProto& model, std::string name, Constants& constants,
                   bool guesses_otherwise)
    : model_(model),
      name_(std::move(name)),
      constants_(constants),
      guesses_otherwise_(guesses_otherwise) {}

void Importer::refuse(std::string place, std::string text, std::string help, std::string node) {
    made_.refusals.push_back({std::move(place), std::move(text), std::move(help), std::move(node)});
}

const ImportedValue* Importer::find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
}

int Importer::readers(const std::string& name) const {
    const auto found = readers_.find(name);
    return found == readers_.end() ? 0 : found->second;
}

Type Importer::type_of(int source) const {
    if (source >= 0) return layers_.at(std::size_t(source)).value.type;
    const Input& input = inputs_.at(std::size_t(-1 - source));
    Dims dims = input.shape;
    dims.insert(dims.begin(), 1);
    if (input.integers) return {DType::i32, dims, {}, {AxisKind::batch, AxisKind::step}};
    return {DType::f32, dims, {}, usual_axes(input.shape.size())};
}

void Importer::look_up(int input, std::int64_t entries) {
    std::int64_t& values = inputs_.at(std::size_t(-1 - input)).values;
    values = values == 0 ? entries : std::min(values, entries);
}

bool Importer::is_product(const std::string& type) const {
    const auto found = formulas_.find("x * value");
    return found != formulas_.end() && found->second == type;
}

void Importer::replace(const std::string& name, ImportedValue value) {
    more_readers_[value.source] += readers(name) - 1;
    values_.insert_or_assign(name, std::move(value));
}

std::vector<const NodeProto*> Importer::some_readers(const std::string& name) const {
    const auto found = some_readers_.find(name);
    return found == some_readers_.end() ? std::vector<const NodeProto*>{} : found->second;
}

void Importer::set(const std::string& name, ImportedValue value) {
    if (!value.is_constant()) more_readers_[value.source] += readers(name) - 1;
    values_.insert_or_assign(name, std::move(value));
}

ImportedModel Importer::run() {
    if (!model_.graph) {
        refuse("the file", "it has no graph",
               "name a file that an exporter of ONNX wrote; models of TensorFlow become ONNX by "
               "python3 -m tf2onnx.convert");
        return std::move(made_);
    }
    const GraphProto& graph = *model_.graph;
    for (const OperatorSet& set : model_.opset_import)
        if (set.domain.empty() || set.domain == "ai.onnx") opset_ = set.version;
    if (opset_ < kLeastReadOpset || opset_ > kMostReadOpset) {
        refuse("the file",
               fmt::format("it has operators of version {}; {} to {} are read", opset_,
                           kLeastReadOpset, kMostReadOpset),
               "export it with another opset version, or convert it by onnx.version_converter");
        return std::move(made_);
    }
    for (const NodeProto& node : graph.node)
        for (const std::string& input : std::set(node.input.begin(), node.input.end())) {
            constexpr int kSome = 16;
            if (++readers_[input] <= kSome) some_readers_[input].push_back(&node);
        }
    for (const ValueInfoProto& output : graph.output)
        ++readers_[output.name];
    for (const TensorProto& tensor : graph.initializer) {
        try {
            ImportedValue value;
            value.constant = constants_.read(tensor);
            set(tensor.name, std::move(value));
        } catch (const Refused& refused) {
            refuse("the file", refused.what(), refused.help());
            refused_.insert(tensor.name);
        }
    }
    read_inputs();
    for (const NodeProto& node : graph.node)
        read_node(node);
    if (graph.output.size() != 1)
        refuse("the file",
               fmt::format("it has {} outputs, and a network here has one", graph.output.size()),
               "export the model with one output");
    for (const Input& input : inputs_)
        if (input.integers && input.values == 0 && made_.refusals.empty())
            refuse(fmt::format("the input `{}`", printable(input.name)),
                   "no table is looked up by its integers", "leave it out of the model");
    made_.layers = layers_.size();
    if (!made_.refusals.empty()) return std::move(made_);
    const NodeProto nameless;
    const NodeReader at_the_end(*this, nameless);
    try {
        settle_scores(at_the_end, graph.output[0].name);
    } catch (const Refused& refused) {
        refuse("the file", fmt::format("its output: {}", refused.what()), refused.help());
        return std::move(made_);
    }
    const ImportedValue* output = find(graph.output[0].name);
    if (output && !output->is_constant() && output->source < 0) {
        const int last = add_layer({}, "identity", {}, {output}, {});
        set(graph.output[0].name, layer(last).value);
        output = find(graph.output[0].name);
    }
    if (!output || output->is_constant()) {
        refuse("the file", "no layer makes its output", "");
        return std::move(made_);
    }
    // Images come out with channels first, whichever the file has, and sequences as such.
    const bool with_channels_last = output->view.empty() && output->rows.empty() &&
                                    is_image(output->type) && output->order.back() == 1 &&
                                    std::is_sorted(output->order.begin(), output->order.end() - 1);
    if (!output->is_plain() && !with_channels_last)
        refuse("the file", "its output has its axes in another order than here",
               "export the model with channels first, and with the batch before all others");
    if (!made_.refusals.empty()) return std::move(made_);
    if (output->is_plain() && output->rank() < output->type.dims.size()) {
        set(graph.output[0].name, as_sequence(at_the_end, *output));
        output = find(graph.output[0].name);
    }

    // What the output does not need is left out; the last layer is the output.
    std::vector<bool> used(layers_.size(), false);
    used[std::size_t(output->source)] = true;
    for (std::size_t i = layers_.size(); i-- > 0;)
        for (const int source : layers_[i].sources)
            if (used[i] && source >= 0) used[std::size_t(source)] = true;
    name_formulas(used);
    made_.layers = std::size_t(std::count(used.begin(), used.end(), true));
    write_spec(used);
    return std::move(made_);
}

bool Importer::is_turned(const std::string& name, const Dims& dims) const {
    static const std::set<std::string> kByNumber{"Add", "Sub", "Mul", "Div", "Cast", "Identity"};
    constexpr std::size_t kMostValues = 16;
    const Dims turned{dims[3], dims[1], dims[2]};
    std::vector<std::string> same{name};
    for (std::size_t i = 0; i < same.size(); ++i) {
        int found = 0;
        for (const NodeProto& node : model_.graph->node) {
            if (std::find(node.input.begin(), node.input.end(), same[i]) == node.input.end())
                continue;
            ++found;
            if (node.op_type == "Transpose" && node.attribute.size() == 1 &&
                node.attribute[0].ints == std::vector<std::int64_t>{0, 3, 1, 2})
                continue;
            if (node.op_type == "Reshape" && dims[3] == 1 && node.input.size() == 2) {
                const ImportedValue* shape = find(node.input[1]);
                if (!shape || !shape->is_constant()) return false;
                const std::vector<std::int64_t> to = integers_of(*shape->constant);
                if (to.size() != 4 || !std::equal(to.begin() + 1, to.end(), turned.begin()))
                    return false;
                continue;
            }
            if (!kByNumber.contains(node.op_type) || node.output.size() != 1) return false;
            if (same.size() == kMostValues) return false;
            same.push_back(node.output[0]);
        }
        if (found != readers(same[i])) return false;
    }
    return true;
}

void Importer::read_inputs() {
    const GraphProto& graph = *model_.graph;
    for (const ValueInfoProto& input : graph.input) {
        if (find(input.name) || is_refused(input.name) || readers(input.name) == 0) continue;
        const auto refuse_input = [&](const std::string& fact, const std::string& help) {
            refuse(fmt::format("the input `{}`", printable(input.name)), fact, help);
            refused_.insert(input.name);
        };
        const TensorType* type =
            input.type && input.type->tensor_type ? &*input.type->tensor_type : nullptr;
        const bool real = type && (type->elem_type == kFloat || type->elem_type == kDouble ||
                                   type->elem_type == kFloat16);
        // Tokens, which are looked up in a table.
        const bool integers = type && type->shape && type->shape->dim.size() == 2 &&
                              (type->elem_type == kInt64 || type->elem_type == kInt32);
        if ((!real && !integers) || !type->shape) {
            refuse_input("it is no array of real numbers whose shape is known",
                         "export the model with an input of float, [batch, ...], or of integers, "
                         "[batch, steps]");
            continue;
        }
        const std::vector<Extent>& dim = type->shape->dim;
        bool known = dim.size() >= 2 && dim.size() <= 4;
        for (std::size_t i = 1; known && i < dim.size(); ++i)
            known = dim[i].value && *dim[i].value > 0 && *dim[i].value <= kFar;
        if (!known) {
            refuse_input(
                "its shape is not [batch, numbers], [batch, steps, features] or [batch, "
                "channels, height, width] with fixed extents",
                "export the model with fixed extents beside the batch");
            continue;
        }
        constexpr std::size_t kMostInputs = 64;
        if (inputs_.size() == kMostInputs) {
            refuse_input("the network has more than 64 inputs", "");
            return;
        }
        file_batch_ = dim[0].value.value_or(0);
        Dims dims;
        for (const Extent& extent : dim)
            dims.push_back(extent.value.value_or(0));
        const bool last = dim.size() == 4 && is_turned(input.name, dims) != guesses_otherwise_;
        ImportedValue value;
        value.source = -1 - int(inputs_.size());
        value.order = last ? Order{0, 2, 3, 1} : Order(dim.size());
        if (!last) std::iota(value.order.begin(), value.order.end(), 0);
        value.type = {DType::f32, Dims(dim.size(), 1), {}, usual_axes(dim.size() - 1)};
        for (std::size_t i = 1; i < dim.size(); ++i)
            value.type.dims[std::size_t(value.order[i])] = *dim[i].value;
        std::string name = sound_name(input.name);
        if (name.empty() || is_word(name)) name = fmt::format("x{}", inputs_.size() + 1);
        inputs_.push_back(
            {name, Dims(value.type.dims.begin() + 1, value.type.dims.end()), integers});
        value.type = type_of(value.source);
        set(input.name, std::move(value));
    }
    if (has_named_inputs())
        for (const Input& input : inputs_)
            names_.insert(input.name);
}

bool Importer::has_named_inputs() const {
    return inputs_.size() != 1 || std::any_of(inputs_.begin(), inputs_.end(),
                                              [](const Input& input) { return input.integers; });
}

void Importer::read_node(const NodeProto& node) {
    const auto give_up = [&] {
        for (const std::string& output : node.output)
            if (!output.empty()) refused_.insert(output);
    };
    // What follows a refused node is not refused again.
    for (const std::string& input : node.input)
        if (is_refused(input)) return give_up();
    try {
        const bool own = node.domain.empty() || node.domain == "ai.onnx";
        const auto rule = read_rules().find(node.op_type);
        const bool gives = std::any_of(node.output.begin(), node.output.end(),
                                       [](const std::string& name) { return !name.empty(); });
        if (!own || !gives)
            throw Refused(fmt::format("`{}` of `{}` is no operator of ONNX itself",
                                      printable(node.op_type), printable(node.domain)),
                          kNoFormula);
        const NodeReader reader(*this, node);
        if (fold(reader) || attend(reader) || rotate(reader) || normalise(reader)) return;
        const auto read = [&] {
            if (rule != read_rules().end()) return rule->second(reader);
            if (!read_formula(reader)) throw Refused("the operator is not read", kNoFormula);
        };
        if (!read_in_pieces(reader, read)) read();
    } catch (const Refused& refused) {
        refuse(place_of(node), refused.what(), refused.help(), node.name);
        give_up();
    } catch (const std::exception& error) {
        // An attribute of another kind, a name that stands for another thing: data, not a bug.
        refuse(place_of(node), fmt::format("it is not well formed ({})", error.what()), "",
               node.name);
        give_up();
    }
}

std::string Importer::name_of(const NodeProto& node, const std::string& type) {
    // Weights are called after what they belong to; nodes often by numbers.
    std::string name;
    if (node.input.size() > 1 && !op(type).parameters.empty()) {
        const std::string& weights = node.input[1];
        for (const char* role : {".weight", "/kernel", ".kernel", "_W", ".weights", ".gamma"})
            if (weights.ends_with(role))
                name = weights.substr(0, weights.size() - std::string_view(role).size());
    }
    if (name.empty()) {
        name = node.name;
        if (name.starts_with("/")) name.erase(0, 1);
        // The operator behind a path of modules: "layer1/relu/Relu".
        if (const std::size_t cut = name.rfind('/');
            cut != std::string::npos && name.substr(cut + 1).starts_with(node.op_type))
            name.erase(cut);
        name = module_path(name);
    }
    name = sound_name(name);
    if (name.empty() || is_word(name)) name = type;
    std::string unique = name;
    for (int& i = same_names_[name]; !names_.insert(unique).second;)
        unique = fmt::format("{}_{}", name, ++i + 1);
    return unique;
}

int Importer::add_layer(const NodeProto& node, const std::string& type, Attributes fields,
                        const std::vector<const ImportedValue*>& sources,
                        std::map<std::string, Constant> parameters,
                        const ImportedFormula* formula) {
    constexpr std::size_t kMostLayers = 100'000;
    if (layers_.size() == kMostLayers)
        throw Refused("the file comes to more layers than any network has");
    const OpDef& def = op(type);
    ImportedLayer layer;
    layer.type = type;
    std::vector<Type> types;
    for (const ImportedValue* source : sources) {
        layer.sources.push_back(source->source);
        types.push_back(source->type);
    }
    Attributes attributes = fields;
    for (const Field& field : def.fields)
        if (field.fallback) attributes.try_emplace(std::string(field.name), *field.fallback);
    for (const ParameterRule& rule : def.parameters) {
        const auto given = parameters.find(rule.role);
        if (given == parameters.end()) continue;
        const Type wanted = rule.type(types[0], attributes, DType::f32);
        const Dims dims = rule.dims(types[0], attributes);
        if (element_count(dims) != given->second.elements() || !given->second.real)
            throw Refused(fmt::format("its {} have the shape [{}], and [{}] is meant", rule.role,
                                      fmt::join(given->second.dims, ","), fmt::join(dims, ",")));
        given->second.dims = dims;
        types.push_back(wanted);
    }
    if (formula) {
        types.push_back({DType::f32, parameters.at("value").dims, {}, {}});
        attributes["expression"] = formula->expression;
    }
    for (const Field& field : def.fields)
        expect_bounds(def, field, attributes);
    std::vector<Type> results;
    if (const auto error = infer(def, types, attributes, results))
        throw Refused(error->text, error->help);
    if (formula) {
        auto& name = formulas_[formula->forward];
        if (name.empty()) name = fmt::format("formula_{}", formulas_.size());
        layer.type = name;
    }
    layer.fields = std::move(fields);
    layer.parameters = std::move(parameters);
    layer.name = name_of(node, type);
    layer.value.type = results[0];
    layer.value.source = int(layers_.size());
    layer.value.order.resize(results[0].dims.size());
    std::iota(layer.value.order.begin(), layer.value.order.end(), 0);
    layers_.push_back(std::move(layer));
    return int(layers_.size()) - 1;
}

ImportedModel import_model(const ModelProto& model, const std::string& name, Constants& constants) {
    // An image's channels are first or last, as its readers say, of which many are heard here;
    // where one of the others says otherwise, it is read once more. Whichever has come further is
    // right.
    ImportedModel made = Importer(model, name, constants, false).run();
    const bool images = model.graph && std::any_of(model.graph->input.begin(),
                                                   model.graph->input.end(), is_image_of_file);
    if (made.refusals.empty() || !images) return made;
    ImportedModel other = Importer(model, name, constants, true).run();
    const bool better = other.refusals.empty() || other.layers > made.layers;
    return better ? std::move(other) : std::move(made);
}

bool is_read(const std::string& op_type) {
    return read_rules().contains(op_type) || is_formula(op_type);
}

}  // namespace dtnn::compiler::onnx
