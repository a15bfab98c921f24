#include "plan/summary/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>

#include "base/json_text.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"

namespace dtnn::plan {

namespace {

// Names as a layer of that name would say them: those of its own block without the block's path.
std::string near_names(const std::string& path, const std::vector<std::string>& names) {
    const std::string block = path.substr(0, path.rfind('/') + 1);
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : ",") +
                (!block.empty() && name.starts_with(block) ? name.substr(block.size()) : name);
    return text;
}

// The attributes of the spec come before defaults, as the end may be cut off.
std::string attributes_text(const Layer& layer, const LayerFacts& facts) {
    const AttributeWords words = attribute_words(layer, facts);
    return words.written + (words.written.empty() || words.usual.empty() ? "" : " ") + words.usual;
}

// "16x8x8", "2 of 16x8x8", "16x8x8, 8x8x8".
std::string inputs_text(const std::vector<Dims>& shapes) {
    if (shapes.empty()) return "";
    const std::string first = shape_text(shapes.front());
    if (std::adjacent_find(shapes.begin(), shapes.end(), std::not_equal_to<>()) == shapes.end())
        return shapes.size() == 1 ? first : fmt::format("{} of {}", shapes.size(), first);
    std::string text = first;
    for (std::size_t i = 1; i < shapes.size(); ++i)
        text += ", " + shape_text(shapes[i]);
    return text;
}

// "2,304", "32 + 32": moving statistics, which training measures rather than trains, behind the +.
std::string parameters_text(const RowTotals& totals) {
    const std::int64_t statistics = totals.parameters - totals.trainable - totals.frozen;
    if (statistics <= 0) return grouped(totals.parameters);
    return grouped(totals.parameters - statistics) + " + " + grouped(statistics);
}

// "232", "frozen", "40, 64 frozen"; nothing for what has no parameters.
std::string trainable_text(const RowTotals& totals) {
    if (totals.parameters == 0) return "";
    if (totals.frozen == 0) return grouped(totals.trainable);
    if (totals.trainable == 0) return "frozen";
    return fmt::format("{}, {} frozen", grouped(totals.trainable), grouped(totals.frozen));
}

// The contents of a block: "conv2d=2 batch_norm=2", in the order of first use.
std::string contents(const Plan& plan, const SummaryRow& row) {
    std::vector<std::pair<std::string, int>> counts;
    for (std::size_t i = row.first; i <= row.last; ++i) {
        const std::string& type = plan.layers[i].type;
        auto found = std::find_if(counts.begin(), counts.end(),
                                  [&](const auto& count) { return count.first == type; });
        if (found == counts.end())
            counts.emplace_back(type, 1);
        else
            ++found->second;
    }
    std::string text;
    for (const auto& [type, count] : counts)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", type, count);
    return text;
}

std::string field_text(const std::array<std::int64_t, 2>& field) {
    return fmt::format("{}x{}", field[0], field[1]);
}

// How many steps run a block's layers.
std::size_t count_steps(const std::vector<LayerFacts>& facts, const SummaryRow& row) {
    std::set<int> steps;
    for (std::size_t i = row.first; i <= row.last; ++i)
        if (facts[i].step >= 0) steps.insert(facts[i].step);
    return steps.size();
}

/// The other layers of a layer's step that are listed. A step may have thousands of layers, and
/// each of them has all the others.
constexpr std::size_t kMostFused = 16;

struct Others {
    std::vector<std::string> names;  ///< kMostFused at most
    std::size_t more = 0;
};

Others others_of(const Plan& plan, const LayerFacts& facts, std::size_t layer) {
    Others others;
    if (!facts.together) return others;
    for (const int other : *facts.together) {
        if (std::size_t(other) == layer) continue;
        if (others.names.size() == kMostFused) break;
        others.names.push_back(plan.layers[std::size_t(other)].name);
    }
    others.more = facts.together->size() - 1 - others.names.size();
    return others;
}

std::string fused_text(const Plan& plan, const LayerFacts& facts, std::size_t layer, bool full) {
    if (facts.step < 0) return "";
    std::string text = std::to_string(facts.step);
    const Others others = others_of(plan, facts, layer);
    for (const std::string& name : others.names)
        text += " +" + (full ? name : name_parts(name).back());
    if (others.more > 0) text += fmt::format(" and {} more", others.more);
    return text;
}

Cell same(const std::string& text) {
    return {text, text};
}

}  // namespace

const std::vector<SummaryColumn>& summary_columns() {
    static const std::vector<SummaryColumn> columns = {
        {"index", "#", "number of the layer, or of the first and last of a block", true},
        {"name", "name", "name of the layer or block", true},
        {"type", "type", "operator", true},
        {"input_shape", "input shape", "of what it reads, of one sample", true},
        {"output_shape", "output shape", "of one sample: channels, height, width", true},
        {"parameters", "parameters",
         "elements; moving statistics, which are not trained, behind a +", true},
        {"trainable", "trainable",
         "elements that training changes, and what is frozen; shown where something is", true},
        {"weights_shape", "weights shape", "of the main weights", true},
        {"from", "connected to",
         "layers that it reads; shown where one reads another than the one before", true},
        {"attributes", "attributes", "fields of the layer; what a block is made of", true},
        {"flops", "flops", "floating-point operations forward, per sample", false},
        {"bytes", "bytes", "least traffic of forward and backward in a training step", false},
        {"memory", "memory",
         "parameters, optimizer state, and what the forward step writes for a batch", false},
        {"fused", "step",
         "step of the train program that executes the layer, and the layers it executes as well",
         false},
        {"kernel", "kernel", "kernel of that step", false},
        {"receptive_field", "receptive field",
         "cells of the input that one cell of the result depends on: height, width", false},
        {"place", "place", "where the spec says so", false},
    };
    return columns;
}

bool is_summary_column(std::string_view name) {
    const auto& columns = summary_columns();
    return std::any_of(columns.begin(), columns.end(),
                       [&](const SummaryColumn& column) { return column.name == name; });
}

ColumnLayout layout_of(const std::string& column) {
    static const std::map<std::string, ColumnLayout> layouts = {
        {"index", {true, 0, ' ', true}},
        {"name", {false, 12, '/', true}},
        {"parameters", {true, 0, ' ', true}},
        {"output_shape", {false, 0, ' ', true}},
        {"input_shape", {false, 0, ' ', false}},
        {"trainable", {true, 0, ' ', false}},
        {"attributes", {false, 12, ' ', false}},
        {"flops", {true, 0, ' ', false}},
        {"bytes", {true, 0, ' ', false}},
        {"memory", {true, 0, ' ', false}},
        {"fused", {false, 8, ' ', false}},
        {"from", {false, 16, ',', false}},
        {"receptive_field", {true, 0, ' ', false}},
    };
    auto found = layouts.find(column);
    return found == layouts.end() ? ColumnLayout{} : found->second;
}

RowTotals totals_of(const Plan& plan, const std::vector<LayerFacts>& facts, const SummaryRow& row) {
    RowTotals totals;
    for (std::size_t i = row.first; i <= row.last; ++i) {
        totals.parameters += plan.layers[i].parameters;
        totals.trainable += plan.layers[i].trainable;
        totals.frozen += facts[i].frozen;
        totals.flops += plan.layers[i].forward_flops;
        totals.bytes += facts[i].bytes;
        totals.memory += facts[i].memory;
    }
    return totals;
}

std::vector<std::string> sources_of(const Plan& plan, const SummaryRow& row) {
    std::set<std::string> inside;
    std::vector<std::string> sources;
    for (std::size_t i = row.first; i <= row.last; ++i) {
        for (const std::string& name : plan.layers[i].from)
            if (!inside.contains(name) &&
                (row.kind == SummaryRow::Kind::layer ||
                 std::find(sources.begin(), sources.end(), name) == sources.end()))
                sources.push_back(name);
        inside.insert(plan.layers[i].name);
    }
    return sources;
}

std::vector<Dims> inputs_of(const Plan& plan, const std::vector<LayerFacts>& facts,
                            const SummaryRow& row) {
    std::vector<Dims> shapes;
    std::set<std::string> known;
    for (std::size_t i = row.first; i <= row.last; ++i) {
        const std::vector<std::string>& from = plan.layers[i].from;
        for (std::size_t k = 0; k < from.size(); ++k)
            if (row.kind == SummaryRow::Kind::layer || known.insert(from[k]).second)
                shapes.push_back(facts[i].inputs[k]);
        known.insert(plan.layers[i].name);
    }
    return shapes;
}

Cell cell_of(const Plan& plan, const std::vector<LayerFacts>& facts, const SummaryRow& row,
             const std::string& column) {
    const bool block = row.kind == SummaryRow::Kind::block;
    const Layer& last = plan.layers[row.last];
    if (column == "name") return same(row.path);
    if (row.kind == SummaryRow::Kind::heading) return {};
    if (column == "index")
        return same(row.first == row.last
                        ? std::to_string(last.index)
                        : fmt::format("{}-{}", plan.layers[row.first].index, last.index));
    if (column == "type") return same(block ? "block" : last.type);
    if (column == "output_shape") return same(shape_text(last.output_shape));
    if (column == "weights_shape") return same(block ? "" : shape_text(last.weights_shape));
    if (column == "attributes") {
        if (block) return same(contents(plan, row));
        return same(attributes_text(last, facts[row.last]));
    }
    if (column == "input_shape") {
        const std::vector<Dims> shapes = inputs_of(plan, facts, row);
        std::string raw;
        for (const Dims& shape : shapes)
            raw += (raw.empty() ? "" : ",") + shape_text(shape);
        return {inputs_text(shapes), raw};
    }
    if (column == "from") {
        const std::vector<std::string> sources = sources_of(plan, row);
        return {near_names(row.path, sources), fmt::format("{}", fmt::join(sources, ","))};
    }
    if (column == "receptive_field") return same(field_text(facts[row.last].receptive_field));
    if (column == "fused") {
        if (!block)
            return {fused_text(plan, facts[row.last], row.last, false),
                    fused_text(plan, facts[row.last], row.last, true)};
        return same(count_text(std::int64_t(count_steps(facts, row)), "step"));
    }
    if (column == "kernel") return same(block ? "" : facts[row.last].kernel);
    if (column == "place") {
        const Place& place = plan.layers[row.first].place;
        return same(place.file.empty()
                        ? ""
                        : fmt::format("{}:{}:{}", place.file, place.line, place.column));
    }
    const RowTotals totals = totals_of(plan, facts, row);
    if (column == "parameters") return {parameters_text(totals), std::to_string(totals.parameters)};
    if (column == "trainable") return {trainable_text(totals), std::to_string(totals.trainable)};
    if (column == "flops") return {flops_text(totals.flops), std::to_string(totals.flops)};
    if (column == "bytes") return {bytes_text(totals.bytes), std::to_string(totals.bytes)};
    if (column == "memory") return {bytes_text(totals.memory), std::to_string(totals.memory)};
    return {};
}

std::string json_of(const Plan& plan, const std::vector<LayerFacts>& facts, const SummaryRow& row,
                    const std::string& column) {
    const bool block = row.kind == SummaryRow::Kind::block;
    const LayerFacts& own = facts[row.last];
    const RowTotals totals = totals_of(plan, facts, row);
    if (column == "bytes" || column == "memory")
        return fmt::format("\"{}\": {}", column, column == "bytes" ? totals.bytes : totals.memory);
    if (column == "receptive_field")
        return fmt::format("\"receptive_field\": [{}, {}]", own.receptive_field[0],
                           own.receptive_field[1]);
    if (column == "fused") {
        if (block) return fmt::format("\"steps\": {}", count_steps(facts, row));
        const Others others = others_of(plan, own, row.last);
        std::string text =
            fmt::format("\"step\": {}, \"fused_with\": {}",
                        own.step < 0 ? "null" : std::to_string(own.step), json_text(others.names));
        if (others.more > 0) text += fmt::format(", \"fused_with_more\": {}", others.more);
        return text;
    }
    if (column == "kernel" && !block) return "\"kernel\": " + json_text(own.kernel);
    if (column == "place") return "\"place\": " + json_text(cell_of(plan, facts, row, column).raw);
    return "";
}

}  // namespace dtnn::plan
