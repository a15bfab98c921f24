#include "compiler/ir/printer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>

#include "base/text.hpp"
#include "compiler/ir/axes.hpp"

namespace dtnn::compiler {
namespace {

/// Attribute text that needs no quotes reads back as text: a word that is neither a number nor a
/// truth value.
bool is_word(const std::string& text) {
    if (text.empty() || text == "true" || text == "false" || text == "inf" || text == "nan")
        return false;
    if (!(std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_')) return false;
    for (const char c : text)
        if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '_')) return false;
    return true;
}

bool is_name(const std::string& text) {
    if (text.empty()) return false;
    for (const char c : text)
        if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
              c == '/'))
            return false;
    return true;
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        if (c == '\n') {
            result += "\\n";
            continue;
        }
        result += c;
    }
    return result + "\"";
}

std::string name_text(const std::string& name) {
    return is_name(name) ? name : quoted(name);
}

std::string value_text(const Graph& graph, ValueId id) {
    const Value& v = graph.value(id);
    return (v.kind == ValueKind::parameter ? "@" : "%") + name_text(v.name);
}

std::string list_text(const std::vector<std::int64_t>& list) {
    return fmt::format("[{}]", fmt::join(list, ","));
}

std::string list_text(const std::vector<double>& list) {
    std::vector<std::string> texts;
    for (const double value : list)
        texts.push_back(real_text(value));
    return fmt::format("[{}]", fmt::join(texts, ","));
}

/// "[8,16 step,4 feature]": every axis but the batch with its kind.
std::string axes_text(const Type& type) {
    std::string text;
    for (std::size_t i = 0; i < type.dims.size(); ++i) {
        text += fmt::format("{}{}", i ? "," : "[", type.dims[i]);
        if (type.axes[i] != AxisKind::batch) text += fmt::format(" {}", name_of(type.axes[i]));
    }
    return text + "]";
}

/// With the axes that it has, if any: parameters have none unless their text says so.
std::string print_all(const Type& type) {
    std::string result = plan::name_of(type.dtype);
    result += type.axes.empty() ? list_text(type.dims) : axes_text(type);
    if (!type.order.empty()) result += fmt::format("{{{}}}", fmt::join(type.order, ","));
    return result;
}

}  // namespace

std::string print(const AttributeValue& value) {
    if (const bool* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
    if (const auto* i = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *i);
    if (const double* d = std::get_if<double>(&value)) return real_text(*d);
    if (const auto* reals = std::get_if<std::vector<double>>(&value)) return list_text(*reals);
    if (const auto* s = std::get_if<std::string>(&value)) return is_word(*s) ? *s : quoted(*s);
    return list_text(std::get<std::vector<std::int64_t>>(value));
}

std::string print(const Attributes& attributes) {
    if (attributes.empty()) return {};
    std::string result = "{";
    for (const auto& [name, value] : attributes) {
        if (result.size() > 1) result += ", ";
        result += name + "=" + print(value);
    }
    return result + "}";
}

std::string print(const Type& type) {
    Type told = type;
    if (!type.dims.empty() && type.axes == usual_axes(type.dims.size() - 1)) told.axes.clear();
    return print_all(told);
}

std::string print(const Graph& graph, const Node& node) {
    std::string line;
    for (const ValueId id : node.outputs)
        line += (line.empty() ? "" : ", ") + value_text(graph, id);
    line += " = " + node.op + "(";
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
        line += (i ? ", " : "") + value_text(graph, node.inputs[i]);
    line += ")";
    if (!node.attributes.empty()) line += " " + print(node.attributes);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        line += (i ? ", " : " : ") + print(graph.type(node.outputs[i]));
    if (node.phase != Phase::forward) line += fmt::format("  ; {}", name_of(node.phase));
    return line;
}

std::string print(const Graph& graph) {
    std::string text = "graph @" + name_text(graph.name) + "(";
    bool first = true;
    const auto separate = [&] {
        if (!first) text += ", ";
        first = false;
    };
    for (const ValueId id : graph.inputs) {
        separate();
        text += value_text(graph, id) + ": " + print(graph.type(id));
    }
    for (const Parameter& p : graph.parameters) {
        separate();
        text += value_text(graph, p.value) + ": " + print_all(graph.type(p.value));
        if (p.dims != graph.type(p.value).dims) text += " of " + list_text(p.dims);
        if (p.optimizer_state)
            text += " state";
        else if (!p.trainable)
            text += " frozen";
        if (p.single) text += " single";
        if (p.by_rank) text += " by_rank";
    }
    text += graph.training ? ") training {\n" : ") {\n";
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        if (n > 0 && int(n) == graph.prologue) text += "  end prologue\n";
        text += "  " + print(graph, graph.nodes[n]) + "\n";
    }
    if (graph.prologue > 0 && std::size_t(graph.prologue) == graph.nodes.size())
        text += "  end prologue\n";
    if (!graph.outputs.empty()) {
        text += "  return ";
        for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
            const GraphOutput& output = graph.outputs[i];
            if (i) text += ", ";
            if (output.name != graph.value(output.value).name) text += name_text(output.name) + "=";
            text += value_text(graph, output.value);
        }
        text += "\n";
    }
    for (const Update& update : graph.updates)
        text += "  update " + value_text(graph, update.state) + " = " +
                value_text(graph, update.value) + "\n";
    return text + "}\n";
}

std::string shape_text(const Dims& dims) {
    return dims.empty() ? "scalar" : dtnn::shape_text(dims);
}

}  // namespace dtnn::compiler
