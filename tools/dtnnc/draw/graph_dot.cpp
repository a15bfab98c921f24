#include "tools/dtnnc/draw/graph_dot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/escape.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "plan/summary/rows.hpp"
#include "plan/summary/summary.hpp"
#include "tools/dtnnc/draw/graph_columns.hpp"
#include "tools/dtnnc/draw/graph_families.hpp"

namespace dtnn::tools {

namespace {

constexpr const char* kSmall = "<FONT POINT-SIZE=\"9\" COLOR=\"#333333\">";

struct Node {
    std::vector<std::string> blocks;  ///< that it is drawn in, outermost first
    std::string title;
    std::vector<std::string> lines;  ///< smaller, under the title
    const FamilyStyle* family = nullptr;
    std::string hint;        ///< where the pointer rests: the whole name, and fields
    bool collapsed = false;  ///< stands for a block
    /// Of a block: how many of its layers, or steps, each family has, which are its stripes.
    std::map<const FamilyStyle*, std::size_t> shares = {};
    bool backward = false;
};

// Between two nodes there is one arrow, for the largest of the values that go along.
struct Edge {
    std::string label;
    std::int64_t elements = 0;
};
using Edges = std::map<std::pair<std::size_t, std::size_t>, Edge>;

void connect(Edges& edges, std::size_t from, std::size_t to, Edge edge) {
    if (from == to) return;
    auto [found, fresh] = edges.try_emplace({from, to}, edge);
    if (!fresh && edge.elements > found->second.elements) found->second = edge;
}

Edge edge_of(const Dims& dims) {
    return {dims.empty() ? "1" : shape_text(dims, kTimesSign), element_count(dims)};
}

// ---- Text

// "#cfe2ff;0.5:#fff0c2;0.5": the colours of a block's families, each as wide as it has layers.
std::string stripes(const Node& node) {
    std::size_t all = 0;
    for (const auto& [family, count] : node.shares)
        all += count;
    std::string text;
    for (const FamilyStyle& family : families())
        if (const auto found = node.shares.find(&family); found != node.shares.end())
            text += fmt::format("{}{};{:.4f}", text.empty() ? "" : ":", family.fill,
                                double(found->second) / double(all));
    return text;
}

// A table keeps its lines apart whatever font is found; line breaks in a label do not.
std::string node_text(std::size_t number, const Node& node) {
    const FamilyStyle& shown = node.shares.size() == 1 ? *node.shares.begin()->first : *node.family;
    std::string rows = fmt::format("<TR><TD><B>{}</B></TD></TR>", html_escaped(node.title));
    for (const std::string& line : node.lines)
        rows += fmt::format("<TR><TD>{}{}</FONT></TD></TR>", kSmall, html_escaped(line));
    return fmt::format(
        "n{} [label=<<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"0\" "
        "CELLPADDING=\"1\">{}</TABLE>>, fillcolor=\"{}\", color=\"{}\", tooltip=\"{}\"{}{}];\n",
        number, rows, node.shares.size() > 1 ? stripes(node) : std::string(shown.fill),
        node.collapsed ? family_named("block").border : shown.border, dot_escaped(node.hint),
        node.collapsed ? fmt::format(", peripheries=2, style={}",
                                     node.shares.size() > 1 ? "striped" : "filled")
                       : "",
        node.backward ? ", style=\"rounded,filled,dashed\"" : "");
}

// The boxes around nodes, as a tree; the nodes of a box keep their order.
struct Box {
    std::vector<std::size_t> nodes;
    std::vector<std::string> order;
    std::map<std::string, Box> inner;
};

void box_text(const Box& box, const std::vector<Node>& nodes, int level, int& number,
              std::string& text) {
    const std::string indent(static_cast<std::size_t>(4 * (level + 1)), ' ');
    for (std::size_t node : box.nodes)
        text += indent + node_text(node, nodes[node]);
    for (const std::string& name : box.order) {
        text += fmt::format("{}subgraph cluster_{} {{\n{}    label=\"{}\"; labeljust=l;\n", indent,
                            number++, indent, dot_escaped(name));
        // Every second level is tinted, so that nested boxes can be told apart.
        if (level % 2 == 0)
            text += indent + "    style=\"rounded,filled\"; fillcolor=\"#f7f8fa\";\n";
        else
            text += indent + "    style=\"rounded,filled\"; fillcolor=\"#eef0f4\";\n";
        box_text(box.inner.at(name), nodes, level + 1, number, text);
        text += indent + "}\n";
    }
}

// Those that have a colour in the drawing, in the order of the legend.
std::vector<const FamilyStyle*> families_of(const std::vector<Node>& nodes) {
    std::set<std::string_view> used;
    for (const Node& node : nodes) {
        if (node.shares.empty()) used.insert(node.family->name);
        for (const auto& [family, count] : node.shares)
            used.insert(family->name);
    }
    std::vector<const FamilyStyle*> list;
    for (const FamilyStyle& family : families())
        if (used.contains(family.name)) list.push_back(&family);
    return list;
}

std::string title_table(const Drawing& drawing) {
    std::string legend;
    for (const FamilyStyle* family : drawing.families)
        legend += fmt::format(
            "<TD BGCOLOR=\"{}\" COLOR=\"{}\" BORDER=\"1\"><FONT POINT-SIZE=\"9\" "
            "COLOR=\"#111111\"> {} </FONT></TD>",
            family->fill, family->border, html_escaped(std::string(family->name)));
    return fmt::format(
        "<TABLE BORDER=\"0\" CELLSPACING=\"3\" CELLPADDING=\"3\"><TR><TD COLSPAN=\"{0}\"><FONT "
        "POINT-SIZE=\"16\" COLOR=\"#1d2430\"><B>{1}</B></FONT></TD></TR><TR><TD "
        "COLSPAN=\"{0}\">{2}{3}</FONT></TD></TR><TR>{4}</TR></TABLE>",
        families().size(), html_escaped(drawing.title), kSmall, html_escaped(drawing.subtitle),
        legend);
}

Drawing drawing_of(const plan::Plan& plan, std::string subtitle, const std::vector<Node>& nodes,
                   const Edges& edges, bool titled) {
    Drawing drawing;
    drawing.title = plan.model.empty() || plan.model == plan.name
                        ? plan.name
                        : fmt::format("{} (model {})", plan.name, plan.model);
    drawing.subtitle = std::move(subtitle);
    drawing.families = families_of(nodes);
    drawing.nodes = nodes.size();
    drawing.edges = edges.size();
    std::string& text = drawing.dot;
    text = fmt::format("digraph \"{}\" {{\n", dot_escaped(plan.name));
    text += fmt::format(
        "    graph [{}fontname=\"Helvetica\", fontsize=11, ranksep=0.35, nodesep=0.3, "
        "color=\"#9aa4b2\", fontcolor=\"#44516b\"];\n",
        titled ? fmt::format("label=<{}>, labelloc=t, ", title_table(drawing)) : "");
    text +=
        "    node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11, "
        "margin=\"0.12,0.06\", penwidth=1.2];\n"
        "    edge [fontname=\"Helvetica\", fontsize=9, color=\"#5b6573\", fontcolor=\"#3d4653\", "
        "arrowsize=0.7];\n";
    Box whole;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        Box* box = &whole;
        for (const std::string& name : nodes[i].blocks) {
            if (!box->inner.contains(name)) box->order.push_back(name);
            box = &box->inner[name];
        }
        box->nodes.push_back(i);
    }
    int number = 0;
    box_text(whole, nodes, 0, number, text);
    std::vector<Ends> arrows;
    std::vector<std::string> outermost;
    for (const auto& [ends, edge] : edges)
        arrows.push_back(ends);
    for (const Node& node : nodes)
        outermost.push_back(node.blocks.empty() ? "" : node.blocks.front());
    const std::set<Ends> breaks = column_breaks(arrows, outermost);
    for (const auto& [ends, edge] : edges)
        text += fmt::format(
            "    n{} -> n{} [label=\" {}\"{}];\n", ends.first, ends.second, dot_escaped(edge.label),
            // It holds nothing below anything: what follows begins on top again.
            breaks.contains(ends) ? ", constraint=false, style=dashed, tailport=e" : "");
    for (const auto& [from, to] : column_order(breaks))
        text += fmt::format("    n{} -> n{} [style=invis, constraint=false];\n", from, to);
    text += "}\n";
    return drawing;
}

// ---- Layers

std::string pair_text(const AttributeValue& value) {
    const auto* pair = std::get_if<std::vector<std::int64_t>>(&value);
    if (!pair) return "";
    if (pair->size() == 2 && (*pair)[0] == (*pair)[1] && (*pair)[0] == 1) return "1\u00d71";
    return shape_text(*pair, kTimesSign);
}

bool is_one(const std::string& pair) {
    return pair.empty() || pair == "1\u00d71";
}

// "conv2d 3×3 /2": what distinguishes layers of one type at a glance.
std::string operator_text(const plan::Layer& layer) {
    auto pair = [&](const char* name) {
        auto found = layer.attributes.find(name);
        return found == layer.attributes.end() ? std::string() : pair_text(found->second);
    };
    std::string text = layer.type;
    if (const std::string kernel = pair("kernel"); !kernel.empty()) text += " " + kernel;
    if (const std::string stride = pair("stride"); !is_one(stride)) text += ", stride " + stride;
    if (const std::string dilation = pair("dilation"); !is_one(dilation))
        text += ", dilation " + dilation;
    for (const char* name : {"rate", "axis", "factor", "mode"})
        if (auto found = layer.attributes.find(name); found != layer.attributes.end()) {
            if (const auto* real = std::get_if<double>(&found->second))
                text += fmt::format(", {} {}", name, *real);
        }
    return text;
}

std::string parameters_text(std::int64_t parameters) {
    return count_text(parameters, "parameter");
}

Node layer_node(const plan::Layer& layer) {
    Node node;
    node.blocks = plan::name_parts(layer.name);
    node.title = node.blocks.back();
    node.blocks.pop_back();
    // An automatic name, relu_1, has said it already.
    if (const std::string text = operator_text(layer);
        text != node.title.substr(0, node.title.rfind('_')))
        node.lines.push_back(text);
    if (layer.parameters > 0) node.lines.push_back(parameters_text(layer.parameters));
    node.family = &family_of(layer.type);
    node.hint = fmt::format("{}: {}", layer.name, layer.type);
    for (const auto& [name, value] : layer.attributes)
        node.hint += fmt::format(" {}={}", name, plan::attribute_words(value));
    return node;
}

Node block_node(const plan::Plan& plan, const std::vector<std::size_t>& layers,
                const std::string& path) {
    Node node;
    node.blocks = plan::name_parts(path);
    node.title = node.blocks.back();
    node.blocks.pop_back();
    std::int64_t parameters = 0;
    for (std::size_t layer : layers) {
        parameters += plan.layers[layer].parameters;
        ++node.shares[&family_of(plan.layers[layer].type)];
    }
    node.hint = path;
    node.lines = {count_text(std::int64_t(layers.size()), "layer")};
    if (parameters > 0) node.lines.push_back(parameters_text(parameters));
    node.family = &family_named("block");
    node.collapsed = true;
    return node;
}

// The path that a layer is drawn as: its own, or the block's that is collapsed.
std::string drawn_path(const std::string& name, int depth, bool& collapsed) {
    const std::vector<std::string> parts = plan::name_parts(name);
    collapsed = depth > 0 && parts.size() > std::size_t(depth);
    if (!collapsed) return name;
    return fmt::format("{}", fmt::join(parts.begin(), parts.begin() + depth, "/"));
}

Drawing draw_layers(const plan::Plan& plan, int depth, bool titled) {
    std::vector<Node> nodes;
    Edges edges;
    std::unordered_map<std::string, std::size_t> node_of_layer;
    std::unordered_map<std::string, const Dims*> shape_of;
    for (const plan::Feature& feature : plan.dataset.inputs) {
        Node input;
        input.title = feature.name.empty() ? "input" : feature.name;
        input.lines = {shape_text(feature.dims, kTimesSign)};
        input.family = &family_named("input");
        node_of_layer[input.title] = nodes.size();
        shape_of[input.title] = &feature.dims;
        nodes.push_back(input);
    }
    std::map<std::string, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        bool collapsed = false;
        const std::string path = drawn_path(plan.layers[i].name, depth, collapsed);
        if (collapsed) members[path].push_back(i);
    }
    std::map<std::string, std::size_t> node_of_block;
    for (const plan::Layer& layer : plan.layers) {
        bool collapsed = false;
        const std::string path = drawn_path(layer.name, depth, collapsed);
        std::size_t number = nodes.size();
        if (collapsed) {
            auto [found, fresh] = node_of_block.emplace(path, number);
            number = found->second;
            if (fresh) nodes.push_back(block_node(plan, members[path], path));
        } else {
            nodes.push_back(layer_node(layer));
        }
        node_of_layer.emplace(layer.name, number);
        shape_of.emplace(layer.name, &layer.output_shape);
        for (const std::string& source : layer.from)
            if (auto found = node_of_layer.find(source); found != node_of_layer.end())
                connect(edges, found->second, number, edge_of(*shape_of[source]));
    }
    // A value that nobody reads is the result; an arrow out of the picture shows its shape.
    if (!plan.layers.empty()) {
        Node output;
        output.title = "output";
        output.lines = {shape_text(plan.layers.back().output_shape, kTimesSign)};
        output.family = &family_named("input");
        connect(edges, node_of_layer[plan.layers.back().name], nodes.size(),
                edge_of(plan.layers.back().output_shape));
        nodes.push_back(output);
    }
    std::int64_t parameters = 0;
    for (const plan::Layer& layer : plan.layers)
        parameters += layer.parameters;
    return drawing_of(
        plan,
        count_text(std::int64_t(plan.layers.size()), "layer") + ", " + parameters_text(parameters),
        nodes, edges, titled);
}

// ---- Steps

class StepDrawing {
  public:
    StepDrawing(const plan::Plan& plan, const plan::Program& program, int depth)
        : plan_(plan), program_(program), depth_(depth) {
        for (std::size_t i = 0; i < plan.layers.size(); ++i)
            layer_named_.emplace(plan.layers[i].name, int(i));
        writer_.assign(program.tensors.size(), -1);
    }

    Drawing run(bool titled) {
        for (const plan::Input& input : program_.inputs) {
            // The counters of the training loop go to every update; they say nothing here.
            if (input.role != plan::InputRole::feature && input.role != plan::InputRole::target)
                continue;
            Node node;
            node.title = program_.tensors[std::size_t(input.tensor)].name;
            node.lines = {edge_of_tensor(input.tensor).label};
            node.family = &family_named("input");
            writer_[std::size_t(input.tensor)] = int(nodes_.size());
            nodes_.push_back(node);
        }
        for (const plan::Step& step : program_.prologue) {
            folded_.insert(step.destinations.begin(), step.destinations.end());
            add(step, {});
        }
        for (const plan::Step& step : program_.steps)
            add(step, step.layers);
        std::int64_t flops = 0;
        for (const plan::Step& step : program_.steps)
            flops += step.flops;
        return drawing_of(plan_,
                          fmt::format("program {}: {} steps for {} samples, {}", program_.name,
                                      program_.steps.size(), program_.batch, flops_text(flops)),
                          nodes_, edges_, titled);
    }

  private:
    // Values of a batch are shown by their sample, weights whole.
    Edge edge_of_tensor(int tensor) const {
        Dims dims = program_.tensors[std::size_t(tensor)].dims;
        if (!dims.empty() && dims.front() == program_.batch && !folded_.contains(tensor))
            dims.erase(dims.begin());
        return edge_of(dims);
    }

    // An update is told in the box of the step that made the gradient.
    bool add_update(const plan::Step& step) {
        if (step.phase != plan::StepPhase::update) return false;
        for (int tensor : step.sources) {
            const int writer = writer_[std::size_t(tensor)];
            if (writer < 0) continue;
            Node& node = nodes_[std::size_t(writer)];
            if (node.family->name == "input") continue;
            if (node.collapsed) return true;
            const std::string whole = step.name.substr(0, step.name.rfind('.'));
            const std::string role = whole.substr(whole.rfind('.') + 1);
            const std::string start = step.op + ": ";
            if (node.lines.back().starts_with(start))
                node.lines.back() += ", " + role;
            else
                node.lines.push_back(start + role);
            return true;
        }
        return false;
    }

    // The layer whose block a step is drawn in: an update's is that of the parameter it changes.
    int layer_of(const plan::Step& step) const {
        if (step.layer >= 0) return step.layer;
        auto found = layer_named_.find(step.name.substr(0, step.name.find('.')));
        return found == layer_named_.end() ? -1 : found->second;
    }

    Node node_of(const plan::Step& step, const std::vector<int>& layers) const {
        Node node;
        const std::size_t dot = step.name.rfind('.');
        const std::string whole = step.name.substr(0, dot);
        const int layer = layer_of(step);
        if (layer >= 0) {
            node.blocks = plan::name_parts(plan_.layers[std::size_t(layer)].name);
            node.blocks.pop_back();
            // Forward runs down the picture and backward runs on from its end: a box around both
            // would hold everything between them as well.
            if (step.phase == plan::StepPhase::backward && !node.blocks.empty())
                node.blocks[0] += " backward";
        }
        node.title = plan::name_parts(whole).back();
        if (layers.size() > 1) {
            node.title.clear();
            for (int one : layers)
                node.title += (node.title.empty() ? "" : " + ") +
                              plan::name_parts(plan_.layers[std::size_t(one)].name).back();
        }
        node.lines = {fmt::format("{}, kernel {}", step.op, step.kernel)};
        if (step.flops > 0) node.lines.push_back(flops_text(step.flops));
        node.hint = fmt::format("{}: {}.{}", step.name, step.op, step.kernel);
        node.family = &family_of(step.op);
        node.backward = step.phase == plan::StepPhase::backward;
        return node;
    }

    void add(const plan::Step& step, const std::vector<int>& layers) {
        if (add_update(step)) return;
        std::size_t number = nodes_.size();
        Node node = node_of(step, layers);
        const bool backward = step.phase == plan::StepPhase::backward;
        const std::size_t limit = std::size_t(depth_);
        if (depth_ > 0 && node.blocks.size() >= limit) {
            // A block of a phase is one node: forward, backward and update stay apart.
            const std::string path = fmt::format(
                "{}|{}", fmt::join(node.blocks.begin(), node.blocks.begin() + depth_, "/"),
                name_of(step.phase));
            auto [found, fresh] = node_of_block_.emplace(path, number);
            number = found->second;
            if (fresh) {
                Node block;
                block.blocks.assign(node.blocks.begin(), node.blocks.begin() + depth_ - 1);
                block.title = node.blocks[limit - 1];
                block.lines = {name_of(step.phase), "1 step"};
                block.family = &family_named("block");
                block.collapsed = true;
                block.hint = path;
                nodes_.push_back(block);
                steps_in_[number] = 1;
            } else {
                nodes_[number].lines[1] = fmt::format("{} steps", ++steps_in_[number]);
            }
            ++nodes_[number].shares[node.family];
        } else {
            nodes_.push_back(node);
        }
        backward_.resize(nodes_.size());
        backward_[number] = backward;
        for (int tensor : step.sources) {
            const int from = writer_[std::size_t(tensor)];
            if (from < 0) continue;
            // The gradient sets out from the loss. What else backward reads of forward would cross
            // the whole picture with lines, one for each layer.
            const Node& source = nodes_[std::size_t(from)];
            if (backward && !backward_[std::size_t(from)] &&
                source.family->name != "loss and metrics")
                continue;
            connect(edges_, std::size_t(from), number, edge_of_tensor(tensor));
        }
        for (int tensor : step.destinations)
            writer_[std::size_t(tensor)] = int(number);
    }

    const plan::Plan& plan_;
    const plan::Program& program_;
    int depth_;
    std::unordered_map<std::string, int> layer_named_;
    std::vector<int> writer_;  ///< by tensor: the node that writes it, -1: none
    std::vector<Node> nodes_;
    Edges edges_;
    std::set<int> folded_;        ///< tensors of the prologue: weights, not values of a batch
    std::vector<bool> backward_;  ///< by node
    std::map<std::string, std::size_t> node_of_block_;
    std::map<std::size_t, int> steps_in_;
};

}  // namespace

Drawing draw(const plan::Plan& plan, const DrawingOptions& options) {
    if (!options.program.empty())
        if (const plan::Program* program = plan::find_program(plan, options.program))
            return StepDrawing(plan, *program, options.depth).run(options.titled);
    return draw_layers(plan, options.depth, options.titled);
}

}  // namespace dtnn::tools
