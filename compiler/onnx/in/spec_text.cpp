/// What is imported, as the text of a spec.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/json_text.hpp"
#include "base/text.hpp"
#include "compiler/onnx/in/importer.hpp"
#include "compiler/onnx/in/spec_layers.hpp"

namespace dtnn::compiler::onnx {
namespace {

/// Equal numbers of both axes as one; [top, bottom, left, right] as short as it can be.
std::string list_text(const std::string& name, const std::vector<std::int64_t>& list) {
    if (name == "padding" && list.size() == 4) {
        if (list[0] == list[1] && list[2] == list[3])
            return list[0] == list[2] ? std::to_string(list[0])
                                      : fmt::format("[{}, {}]", list[0], list[2]);
    } else if (name != "shape" && list.size() == 2 && list[0] == list[1]) {
        return std::to_string(list[0]);
    }
    return fmt::format("[{}]", fmt::join(list, ", "));
}

std::string field_text(const std::string& name, const AttributeValue& value) {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
        return list_text(name, *list);
    const auto& text = std::get<std::string>(value);
    if (name == "expression") return json_text(text);
    return name == "padding" && text == "valid" ? "0" : text;
}

std::vector<SpecValue> values_of(const ImportedLayer& layer) {
    std::vector<SpecValue> values;
    const OpDef* def = find_op(layer.type);
    if (!def) return values;
    for (const Field& field : def->fields) {
        const std::string name(field.name);
        const auto given = layer.fields.find(name);
        if (given == layer.fields.end() && !field.fallback) continue;
        const std::string usual = field.fallback ? field_text(name, *field.fallback) : "";
        const std::string text =
            given == layer.fields.end() ? usual : field_text(name, given->second);
        values.push_back({name, field.type, text, text == usual});
    }
    return values;
}

/// A line without its dash; `from` is empty where it reads the line before.
std::string line_text(const SpecLayer& layer, const std::string& name, const std::string& from) {
    std::vector<std::string> fields;
    if (!name.empty()) fields.push_back("name: " + name);
    if (!from.empty()) fields.push_back("from: " + from);
    for (const SpecValue& value : layer.values)
        if (!value.is_default) fields.push_back(fmt::format("{}: {}", value.field, value.text));
    if (fields.empty()) return layer.type;
    return fmt::format("{}: {{{}}}", layer.type, fmt::join(fields, ", "));
}

/// Names that count on: what stands before and behind the number of the first.
struct Count {
    std::string before, behind;
    std::int64_t number;

    std::string name(std::int64_t i) const {
        return fmt::format("{}{}{}", before, number + i, behind);
    }
};

/// How the second name counts on from the first, if it does.
std::optional<Count> count_from(const std::string& first, const std::string& second) {
    constexpr std::size_t kMostDigits = 6;
    constexpr std::string_view kDigits = "0123456789";
    for (std::size_t end = first.size(); end > 0;) {
        const std::size_t last = first.find_last_of(kDigits, end - 1);
        if (last == std::string::npos) break;
        const std::size_t before = first.find_last_not_of(kDigits, last);
        const std::size_t begin = before == std::string::npos ? 0 : before + 1;
        const std::string digits = first.substr(begin, last + 1 - begin);
        if (digits.size() <= kMostDigits && (digits.size() == 1 || digits[0] != '0')) {
            Count count{first.substr(0, begin), first.substr(last + 1), std::stoll(digits)};
            if (count.name(1) == second) return count;
        }
        end = begin;
    }
    return std::nullopt;
}

/// How many lines from `first` on are one line, but for names that count on.
std::size_t repeats(const std::vector<SpecLayer>& layers, std::size_t first, const Count& count) {
    const auto alike = [](const SpecValue& x, const SpecValue& y) { return x.text == y.text; };
    const SpecLayer& a = layers[first];
    std::size_t found = 0;
    for (std::size_t i = first; i < layers.size(); ++i, ++found) {
        const SpecLayer& b = layers[i];
        if (a.type != b.type || b.name != count.name(std::int64_t(found)) ||
            b.sources != std::vector<int>{int(i) - 1} ||
            !std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), alike))
            break;
    }
    return found;
}

std::string lines_text(const std::vector<SpecLayer>& layers, const std::vector<std::string>& inputs,
                       const std::string& indent) {
    const auto name_of = [&](int source) {
        return source >= 0 ? layers[std::size_t(source)].name : inputs[std::size_t(-1 - source)];
    };
    std::string text;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        constexpr std::size_t kLeastRepeated = 3;
        const SpecLayer& layer = layers[i];
        const auto count =
            i + 1 < layers.size() ? count_from(layer.name, layers[i + 1].name) : std::nullopt;
        if (const std::size_t times = count ? repeats(layers, i, *count) : 0;
            times >= kLeastRepeated) {
            const std::string index =
                count->number == 0 ? "i" : fmt::format("i + {}", count->number);
            const std::string name =
                fmt::format("\"{}${{{}}}{}\"", count->before, index, count->behind);
            text += fmt::format("{}- repeat: {{times: {}, index: i, layers: [{}]}}\n", indent,
                                times, line_text(layer, name, ""));
            i += times - 1;
            continue;
        }
        std::vector<std::string> names;
        for (const int source : layer.sources)
            names.push_back(name_of(source));
        std::string from;
        if (names.size() > 1)
            from = fmt::format("[{}]", fmt::join(names, ", "));
        else if (layer.sources[0] != int(i) - 1)
            from = names[0];
        text += fmt::format("{}- {}\n", indent, line_text(layer, layer.name, from));
    }
    return text;
}

std::string_view type_name(FieldType type) {
    for (const ParameterType& known : parameter_types())
        if (known.type == type) return known.name;
    return "text";
}

}  // namespace

bool is_word(const std::string& name) {
    static const std::set<std::string> words{"null", "true", "false", "yes", "no",   "on",
                                             "off",  "y",    "n",     "nan", "input"};
    return words.contains(lower(name));
}

std::string layers_text(const std::vector<SpecLayer>& layers,
                        const std::vector<std::string>& inputs) {
    return "layers:\n" + lines_text(layers, inputs, "  ");
}

std::string blocks_text(const std::vector<SpecBlock>& blocks) {
    std::string text = blocks.empty() ? "" : "blocks:\n";
    for (const SpecBlock& block : blocks) {
        text += fmt::format("  {}:\n", block.name);
        std::vector<std::string> parameters;
        for (const SpecParameter& parameter : block.parameters) {
            const std::string_view type = type_name(parameter.type);
            parameters.push_back(parameter.fallback.empty()
                                     ? fmt::format("{}: {}", parameter.name, type)
                                     : fmt::format("{}: {{type: {}, default: {}}}", parameter.name,
                                                   type, parameter.fallback));
        }
        if (!parameters.empty())
            text += fmt::format("    parameters: {{{}}}\n", fmt::join(parameters, ", "));
        text += "    layers:\n" + lines_text(block.layers, {"input"}, "      ");
    }
    return text;
}

std::string Importer::head_text(const std::vector<bool>& used) const {
    std::string text = fmt::format("kind: model\nname: {}\n", name_);
    const auto shape = [](const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); };
    if (!has_named_inputs()) {
        text += fmt::format("input: {{shape: {}}}\n", shape(inputs_.at(0).shape));
    } else {
        text += "inputs:\n";
        for (const Input& input : inputs_) {
            const std::string integers =
                input.integers ? fmt::format(", axes: [step], dtype: i32, values: {}", input.values)
                               : "";
            text +=
                fmt::format("  {}: {{shape: {}{}}}\n", input.name, shape(input.shape), integers);
        }
    }
    std::string formulas;
    for (const auto& [forward, name] : formulas_)
        for (std::size_t i = 0; i < layers_.size(); ++i)
            if (used[i] && layers_[i].type == name) {
                formulas += fmt::format(
                    "  {}:\n    parameters: {{value: {{type: real, default: 1, trainable: "
                    "per_channel}}}}\n    forward: \"{}\"\n",
                    name, forward);
                break;
            }
    if (!formulas.empty()) text += "operators:\n" + formulas;
    return text;
}

void Importer::write_spec(const std::vector<bool>& used) {
    std::vector<SpecLayer> lines;
    std::vector<int> places(layers_.size(), 0);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        if (!used[i]) continue;
        const ImportedLayer& layer = layers_[i];
        SpecLayer line{layer.type, layer.name, values_of(layer), {}, {}};
        for (const int source : layer.sources)
            line.sources.push_back(source < 0 ? source : places[std::size_t(source)]);
        if (!layer.parameters.empty()) line.parts.push_back({int(i), ""});
        places[i] = int(lines.size());
        lines.push_back(std::move(line));
    }
    std::vector<std::string> inputs;
    for (const Input& input : inputs_)
        inputs.push_back(has_named_inputs() ? input.name : "input");
    const std::vector<SpecBlock> blocks =
        fold_blocks(lines, std::set<std::string>(inputs.begin(), inputs.end()));
    made_.spec = head_text(used) + blocks_text(blocks) + layers_text(lines, inputs);
    for (const SpecLayer& line : lines)
        for (const SpecPart& part : line.parts)
            for (const auto& [role, constant] : layers_[std::size_t(part.layer)].parameters)
                made_.tensors.push_back(
                    {fmt::format("{}{}{}.{}", line.name, part.path.empty() ? "" : "/", part.path,
                                 role),
                     DType::f32, constant.dims,
                     std::as_bytes(std::span(constant.bytes.data(), constant.bytes.size()))});
}

}  // namespace dtnn::compiler::onnx
