#include "compiler/keras/reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace dtnn::compiler::keras {
namespace {

constexpr int kOpset = 21;  // group norm by channel
constexpr const char* kNoSuchLayer = "there is no such layer here";
constexpr const char* kOtherLayer =
    "take another in its place; docs/coming_from/keras.md lists those that are read";

/// A model that calls far more layers than any network has.
struct TooManyCalls {};

bool is_model(const std::string& class_name) {
    return class_name == "Functional" || class_name == "Sequential" || class_name == "Model";
}

/// A result of a call: the layer's name in its model, which of its calls, which of its results.
struct Key {
    std::string layer;
    int call = 0, result = 0;
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr)
};

Key key_of(const Json& leaf) {
    constexpr int kMost = 1 << 30;
    return {leaf.at(0).get<std::string>(), int(whole_number_of(leaf.at(1), 0, kMost)),
            int(whole_number_of(leaf.at(2), 0, kMost))};
}

/// The ends of a model: ["conv", 0, 0], or lists and named lists of such.
void add_keys(const Json& json, std::vector<Key>& keys) {
    if (json.is_array() && json.size() == 3 && json[0].is_string())
        keys.push_back(key_of(json));
    else if (json.is_array() || json.is_object())
        for (const Json& item : json)
            add_keys(item, keys);
    else
        throw Refused("its inputs or outputs are not as Keras 3 writes them",
                      "load it with Keras 3, and save it again");
}

std::vector<Key> keys_of(const Json& json) {
    std::vector<Key> keys;
    add_keys(json, keys);
    return keys;
}

/// What a layer is called with: another's result, or a number.
struct Argument {
    std::optional<Key> key;
    double number = 0;
};

bool is_tensor(const Json& json) {
    const auto found = json.is_object() ? json.find("class_name") : json.end();
    return found != json.end() && *found == "__keras_tensor__";
}

void add_arguments(const Json& json, std::vector<Argument>& made) {
    if (is_tensor(json))
        made.push_back({key_of(json.at("config").at("keras_history"))});
    else if (json.is_array())
        for (const Json& item : json)
            add_arguments(item, made);
    else if (json.is_number())
        made.push_back({std::nullopt, json.get<double>()});
    else if (!json.is_null())
        throw Refused("it is called with something else than values and numbers",
                      "call layers with values of the network alone");
}

std::vector<Argument> arguments_of(const Json& call) {
    if (!call.is_object())
        throw Refused("it is called as Keras 2 writes it",
                      "load it with Keras 3, and save it again");
    std::vector<Argument> made;
    add_arguments(call.at("args"), made);
    for (const auto& [name, value] : call.at("kwargs").items())
        if (value.is_boolean() ? name == "training" && value.get<bool>() : !value.is_null())
            throw Refused(fmt::format("it is called with `{}`", printable(name)),
                          "call it with its input alone");
    return made;
}

/// A call among a model's.
struct CallOfLayer {
    std::size_t layer;  ///< its place in the model
    Key key;            ///< of its first result
    std::vector<Argument> arguments;
    int waits = 0;  ///< calls before it that have not been made
};

}  // namespace

Reader::Reader(const KerasFile& file, onnx::Constants& constants)
    : file_(file), constants_(constants), writer_(made_, kOpset) {
    made_.model.graph.emplace();
    made_.model.opset_import.push_back({"", kOpset});
    turns_images_ = file.config.find("\"channels_first\"") == std::string::npos;
}

std::string Reader::numbers(const Dims& dims, const std::vector<double>& values) {
    std::string name = writer_.unique("numbers");
    writer_.tensor(name, DType::f32, dims, constants_.make(dims, true, values).bytes);
    return name;
}

void Reader::note(const std::string& node, const Layer& layer) {
    places_[node] =
        fmt::format("layer `{}` ({})", printable(layer.name), printable(layer.class_name));
}

std::string Reader::place(const std::string& node) const {
    const auto found = places_.find(node);
    return found == places_.end() ? fmt::format("node `{}`", printable(node)) : found->second;
}

void Reader::refuse(const Layer& layer, const std::string& text, const std::string& help) {
    refusals_.push_back(
        {fmt::format("layer `{}` ({})", printable(layer.name), printable(layer.class_name)), text,
         help, ""});
}

std::vector<Layer> Reader::layers_of(const Json& config, const Scope& scope) {
    std::vector<Layer> layers;
    std::map<std::string, int> same;
    for (const Json& json : config.at("layers")) {
        const auto class_name = json.at("class_name").get<std::string>();
        const Json& own = json.at("config");
        std::string group = snake_case(class_name);
        if (const int count = same[group]++; count > 0) group += fmt::format("_{}", count);
        layers.push_back({scope.name + own.at("name").get<std::string>(), class_name, &own,
                          fmt::format("{}layers/{}", scope.weights, group)});
    }
    return layers;
}

Reader::Made Reader::read_input(const Layer& layer) {
    try {
        Dims dims{1};
        const Json& shape = layer.config->at("batch_shape");
        for (std::size_t i = 1; i < shape.size(); ++i) {
            if (shape[i].is_null())
                throw Refused(fmt::format("its shape is {}, whose null is any extent",
                                          printable(write_json(shape))),
                              "make the model for one size, as by keras.Input((224, 224, 3)), and "
                              "save it");
            dims.push_back(whole_number_of(shape[i], 1, onnx::kFar));
        }
        const auto dtype = layer.config->find("dtype");
        if (dtype != layer.config->end() && *dtype == "string")
            throw Refused("it takes texts", "networks take numbers");
        const bool turned = turns_images_ && dims.size() == 4;
        if (turned) dims = {1, dims[3], dims[1], dims[2]};
        const std::string name = writer_.unique(layer.name);
        onnx::TensorType type;
        type.elem_type = onnx::kFloat;
        type.shape.emplace();
        type.shape->dim.push_back({std::nullopt, "batch"});
        for (std::size_t i = 1; i < dims.size(); ++i)
            type.shape->dim.push_back({dims[i], ""});
        writer_.graph().input.push_back({name, onnx::ValueType{std::move(type)}});
        return Value{name, std::move(dims), turned};
    } catch (const Refused& refused) {
        refuse(layer, refused.what(), refused.help());
    }
    return std::nullopt;
}

std::vector<Reader::Made> Reader::run_layer(const Json& json, const Layer& layer,
                                            const Scope& scope, std::vector<Value> inputs) {
    if (++calls_ > kMostCalls) throw TooManyCalls{};
    try {
        check_is_own(json);
        if (is_model(layer.class_name)) {
            const std::vector<Made> given(inputs.begin(), inputs.end());
            return run_model(json, {layer.name + "/", layer.weights + "/", scope.depth + 1},
                             &given);
        }
        const Rule rule = find_rule(layer.class_name);
        if (!rule) throw Refused(kNoSuchLayer, kOtherLayer);
        Call call(*this, layer, std::move(inputs));
        return {rule(call)};
    } catch (const Refused& refused) {
        refuse(layer, refused.what(), refused.help());
    } catch (const Json::exception& error) {
        refuse(layer,
               fmt::format("its entry in config.json is not as Keras 3 writes it ({})",
                           printable(error.what())),
               "save the model again with Keras 3");
    }
    return {};
}

std::vector<Reader::Made> Reader::run_model(const Json& model, const Scope& scope,
                                            const std::vector<Made>* inputs) {
    if (scope.depth > kMostModelDepth)
        throw Refused(fmt::format("it is a model within {} others", kMostModelDepth),
                      "put the layers of models within models into one");
    const Json& config = model.at("config");
    // A class of its own without a list of layers calls them by code.
    if (!config.contains("layers"))
        throw Refused("it has no list of layers: its own code calls them",
                      "build it as a Sequential or a functional model (keras.Model(inputs, "
                      "outputs)), load its weights, and save that");
    return model.at("class_name") == "Sequential" ? run_sequential(config, scope, inputs)
                                                  : run_functional(config, scope, inputs);
}

std::vector<Reader::Made> Reader::run_sequential(const Json& config, const Scope& scope,
                                                 const std::vector<Made>* inputs) {
    const std::vector<Layer> layers = layers_of(config, scope);
    const Json& jsons = config.at("layers");
    Made value;
    std::size_t first = 0;
    if (!layers.empty() && layers[0].class_name == "InputLayer") ++first;
    if (inputs) {
        if (inputs->size() != 1)
            throw Refused(
                fmt::format("it is called with {} values, and has one input", inputs->size()),
                "save the model again with Keras 3");
        value = (*inputs)[0];
    } else {
        if (first == 0)
            throw Refused("it does not say the shape of its input",
                          "begin it by keras.Input(SHAPE), or call its build() before it is saved");
        value = read_input(layers[0]);
    }
    for (std::size_t i = first; i < layers.size() && value; ++i) {
        const std::vector<Made> made = run_layer(jsons[i], layers[i], scope, {*value});
        value = made.size() == 1 ? made[0] : std::nullopt;
        // What else is refused is said at once, as far as nothing reads the refused one.
        if (value) continue;
        for (std::size_t later = i + 1; later < layers.size(); ++later)
            refuse_unknown(jsons[later], layers[later]);
    }
    return {value};
}

void Reader::refuse_unknown(const Json& json, const Layer& layer) {
    try {
        check_is_own(json);
        if (!find_rule(layer.class_name) && !is_model(layer.class_name) &&
            layer.class_name != "InputLayer")
            refuse(layer, kNoSuchLayer, kOtherLayer);
    } catch (const Refused& refused) {
        refuse(layer, refused.what(), refused.help());
    }
}

std::vector<Reader::Made> Reader::run_functional(const Json& config, const Scope& scope,
                                                 const std::vector<Made>* inputs) {
    const std::vector<Layer> layers = layers_of(config, scope);
    const Json& jsons = config.at("layers");
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < layers.size(); ++i)
        places[layers[i].name.substr(scope.name.size())] = i;
    std::map<Key, Made> values;
    const std::vector<Key> ends = keys_of(config.at("input_layers"));
    if (inputs && inputs->size() != ends.size())
        throw Refused(fmt::format("it is called with {} values, and has {} inputs", inputs->size(),
                                  ends.size()),
                      "save the model again with Keras 3");
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const auto place = places.find(ends[i].layer);
        if (place == places.end() || layers[place->second].class_name != "InputLayer")
            throw Refused(
                fmt::format("its input `{}` is none of its input layers", printable(ends[i].layer)),
                "save the model again with Keras 3");
        values[ends[i]] = inputs ? (*inputs)[i] : read_input(layers[place->second]);
    }

    // Every call behind those that it reads, in the file's order as far as that is possible.
    std::vector<CallOfLayer> calls;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        int index = 0;
        for (const Json& call : jsons[i].at("inbound_nodes")) {
            const Key key{layers[i].name.substr(scope.name.size()), index++, 0};
            try {
                calls.push_back({i, key, arguments_of(call)});
            } catch (const Refused& refused) {
                refuse(layers[i], refused.what(), refused.help());
                calls.push_back({i, key, {}});
            }
        }
    }
    std::map<Key, std::vector<std::size_t>> readers;
    for (const CallOfLayer& call : calls)
        readers[call.key];
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        for (const Argument& argument : calls[i].arguments) {
            if (!argument.key || values.contains(*argument.key)) continue;
            const auto made_by = readers.find({argument.key->layer, argument.key->call, 0});
            if (made_by == readers.end()) {
                refuse(layers[calls[i].layer],
                       fmt::format("it reads `{}`, which no layer of its model makes",
                                   printable(argument.key->layer)),
                       "save the model again with Keras 3");
                continue;
            }
            made_by->second.push_back(i);
            ++calls[i].waits;
        }
        if (calls[i].waits == 0) ready.insert(i);
    }
    std::size_t done = 0;
    for (; !ready.empty(); ++done) {
        const CallOfLayer& call = calls[*ready.begin()];
        ready.erase(ready.begin());
        std::vector<Value> given;
        for (const Argument& argument : call.arguments) {
            if (!argument.key) {
                given.push_back({numbers({}, {argument.number}), {}, false});
                continue;
            }
            const auto found = values.find(*argument.key);
            if (found != values.end() && found->second) given.push_back(*found->second);
        }
        if (!given.empty() && given.size() == call.arguments.size()) {
            std::vector<Made> made = run_layer(jsons[call.layer], layers[call.layer], scope, given);
            for (std::size_t r = 0; r < made.size(); ++r)
                values[{call.key.layer, call.key.call, int(r)}] = std::move(made[r]);
        } else {
            refuse_unknown(jsons[call.layer], layers[call.layer]);
        }
        for (const std::size_t reader : readers[call.key])
            if (--calls[reader].waits == 0) ready.insert(reader);
    }
    if (done < calls.size())
        throw Refused("its layers read each other in a circle",
                      "save the model again with Keras 3");
    std::vector<Made> results;
    for (Key key : keys_of(config.at("output_layers"))) {
        // Here a model within the model counts as called once before, when it was made.
        const auto place = places.find(key.layer);
        if (place != places.end() && layers[place->second].class_name == "Functional") --key.call;
        const auto found = values.find(key);
        results.push_back(found == values.end() ? std::nullopt : found->second);
    }
    return results;
}

void Reader::run() {
    const auto refuse_model = [&](const std::string& text, const std::string& help) {
        refusals_.push_back({"the model", text, help, ""});
    };
    std::vector<Made> outputs;
    try {
        model_ = parse_json(file_.config);
        const auto class_name = model_.at("class_name").get<std::string>();
        check_is_own(model_);
        if (!is_model(class_name))
            throw Refused(fmt::format("it is a `{}`", printable(class_name)),
                          "save a Sequential or a functional model (keras.Model(inputs, outputs))");
        outputs = run_model(model_, {}, nullptr);
        if (outputs.size() != 1)
            throw Refused(
                fmt::format("it has {} outputs, and a network here has one", outputs.size()),
                "save the model of one: keras.Model(model.inputs, model.outputs[0])");
        if (!outputs[0] && refusals_.empty())
            throw Refused("no layer makes its output", "save the model again with Keras 3");
    } catch (const Refused& refused) {
        refuse_model(refused.what(), refused.help());
    } catch (const Json::exception& error) {
        refuse_model(
            fmt::format("config.json is not as Keras 3 writes it ({})", printable(error.what())),
            "save the model again with Keras 3");
    } catch (const TooManyCalls&) {
        refuse_model(fmt::format("it calls layers more than {} times", kMostCalls),
                     "models that are used twice within each other count each time; save a smaller "
                     "one");
    }
    const bool made = outputs.size() == 1 && outputs[0];
    writer_.graph().output.push_back({made ? outputs[0]->name : "none", std::nullopt});
}

std::string snake_case(std::string_view name) {
    const auto is = [&](std::size_t i, int (*test)(int)) {
        return i < name.size() && test(static_cast<unsigned char>(name[i])) != 0;
    };
    std::string made;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (i > 0 && is(i, std::isupper) && (is(i + 1, std::islower) || is(i - 1, std::islower)))
            made += '_';
        made += name[i];
    }
    return lower(made);
}

Rule find_rule(const std::string& class_name) {
    static const std::map<std::string, Rule, std::less<>> all{
#define DTNN_KERAS_READ(class_name, rule) {#class_name, rule},
#include "compiler/keras/rules.def"
#undef DTNN_KERAS_READ
    };
    const auto found = all.find(class_name);
    return found == all.end() ? nullptr : found->second;
}

bool is_read(const std::string& class_name) {
    return find_rule(class_name) != nullptr;
}

onnx::ImportedModel import_model(const KerasFile& file, const std::string& name,
                                 onnx::Constants& constants) {
    Reader reader(file, constants);
    reader.run();
    onnx::ImportedModel made = onnx::import_model(reader.model(), name, constants);
    // What is refused of the graph is refused of the layer that it was made of.
    std::vector<onnx::Refusal> refusals = reader.refusals();
    const bool whole = refusals.empty();
    std::set<std::string> known;
    for (onnx::Refusal& refusal : made.refusals) {
        if (refusal.node.empty() && !whole) continue;
        if (!refusal.node.empty()) refusal.place = reader.place(refusal.node);
        if (known.insert(refusal.place + refusal.text).second)
            refusals.push_back(std::move(refusal));
    }
    made.refusals = std::move(refusals);
    return made;
}

}  // namespace dtnn::compiler::keras
