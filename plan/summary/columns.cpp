#include "plan/summary/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
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

/// A row of the table, for the functions of its columns.
struct At {
    const Plan& plan;
    const std::vector<LayerFacts>& facts;
    const SummaryRow& row;

    bool is_block() const { return row.kind == SummaryRow::Kind::block; }
    const Layer& last() const { return plan.layers[row.last]; }
    const LayerFacts& own() const { return facts[row.last]; }
    RowTotals totals() const { return totals_of(plan, facts, row); }
};

Cell index_cell(const At& at) {
    const int last = at.last().index;
    return same(at.row.first == at.row.last
                    ? std::to_string(last)
                    : fmt::format("{}-{}", at.plan.layers[at.row.first].index, last));
}

Cell input_shape_cell(const At& at) {
    const std::vector<Dims> shapes = inputs_of(at.plan, at.facts, at.row);
    std::string raw;
    for (const Dims& shape : shapes)
        raw += (raw.empty() ? "" : ",") + shape_text(shape);
    return {inputs_text(shapes), raw};
}

Cell from_cell(const At& at) {
    const std::vector<std::string> sources = sources_of(at.plan, at.row);
    return {near_names(at.row.path, sources), fmt::format("{}", fmt::join(sources, ","))};
}

Cell fused_cell(const At& at) {
    if (at.is_block()) return same(count_text(std::int64_t(count_steps(at.facts, at.row)), "step"));
    return {fused_text(at.plan, at.own(), at.row.last, false),
            fused_text(at.plan, at.own(), at.row.last, true)};
}

std::string fused_json(const At& at) {
    if (at.is_block()) return fmt::format("\"steps\": {}", count_steps(at.facts, at.row));
    const Others others = others_of(at.plan, at.own(), at.row.last);
    std::string text = fmt::format("\"step\": {}, \"fused_with\": {}",
                                   at.own().step < 0 ? "null" : std::to_string(at.own().step),
                                   json_text(others.names));
    if (others.more > 0) text += fmt::format(", \"fused_with_more\": {}", others.more);
    return text;
}

std::string place_text(const At& at) {
    const Place& place = at.plan.layers[at.row.first].place;
    return place.file.empty() ? "" : fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

struct Column {
    SummaryColumn told;
    ColumnLayout layout;
    Cell (*cell)(const At& at);
    /// `"bytes": 12`; null: each record of a layer has the column.
    std::string (*json)(const At& at) = nullptr;
};

const std::vector<Column>& all_columns() {
    using enum ColumnShown;
    constexpr auto kLosesMiddle = ColumnLayout::Alone::loses_middle;
    static const std::vector<Column> all = {
        {{"index", "#", "number of the layer, or of the first and last of a block", usually},
         {true, 0, ' ', true},
         index_cell},
        {{"name", "name", "name of the layer or block", usually},
         {false, 12, '/', true, kLosesMiddle, true},
         [](const At& at) { return same(at.row.path); }},
        {{"type", "type", "operator", usually},
         {},
         [](const At& at) { return same(at.is_block() ? "block" : at.last().type); }},
        {{"input_shape", "input shape", "of what it reads, of one sample", usually},
         {},
         input_shape_cell},
        {{"output_shape", "output shape", "of one sample: channels, height, width", usually},
         {false, 0, ' ', true},
         [](const At& at) { return same(shape_text(at.last().output_shape)); }},
        {{"parameters", "parameters",
          "elements; moving statistics, which are not trained, behind a +", usually},
         {true, 0, ' ', true},
         [](const At& at) -> Cell {
             return {parameters_text(at.totals()), std::to_string(at.totals().parameters)};
         }},
        {{"trainable", "trainable",
          "elements that training changes, and what is frozen; shown where something is",
          where_something_is_frozen},
         {true},
         [](const At& at) -> Cell {
             return {trainable_text(at.totals()), std::to_string(at.totals().trainable)};
         }},
        {{"weights_shape", "weights shape", "of the main weights", usually},
         {},
         [](const At& at) {
             return same(at.is_block() ? "" : shape_text(at.last().weights_shape));
         }},
        {{"from", "connected to",
          "layers that it reads; shown where one reads another than the one before",
          where_layers_branch},
         {false, 16, ',', false, kLosesMiddle},
         from_cell},
        {{"attributes", "attributes", "fields of the layer; what a block is made of", usually},
         {false, 12},
         [](const At& at) {
             return same(at.is_block() ? contents(at.plan, at.row)
                                       : attributes_text(at.last(), at.own()));
         }},
        {{"flops", "flops", "floating-point operations forward, per sample", on_request},
         {true},
         [](const At& at) -> Cell {
             return {flops_text(at.totals().flops), std::to_string(at.totals().flops)};
         }},
        {{"bytes", "bytes", "least traffic of forward and backward in a training step", on_request},
         {true},
         [](const At& at) -> Cell {
             return {bytes_text(at.totals().bytes), std::to_string(at.totals().bytes)};
         },
         [](const At& at) { return fmt::format("\"bytes\": {}", at.totals().bytes); }},
        {{"memory", "memory",
          "parameters, optimizer state, and what the forward step writes for a batch", on_request},
         {true},
         [](const At& at) -> Cell {
             return {bytes_text(at.totals().memory), std::to_string(at.totals().memory)};
         },
         [](const At& at) { return fmt::format("\"memory\": {}", at.totals().memory); }},
        {{"fused", "step",
          "step of the train program that executes the layer, and the layers it executes as well",
          on_request},
         {false, 8},
         fused_cell,
         fused_json},
        {{"kernel", "kernel", "kernel of that step", on_request},
         {},
         [](const At& at) { return same(at.is_block() ? "" : at.own().kernel); },
         [](const At& at) {
             return at.is_block() ? "" : "\"kernel\": " + json_text(at.own().kernel);
         }},
        {{"receptive_field", "receptive field",
          "cells of the input that one cell of the result depends on: height, width", on_request},
         {true},
         [](const At& at) { return same(field_text(at.own().receptive_field)); },
         [](const At& at) {
             const auto& field = at.own().receptive_field;
             return fmt::format("\"receptive_field\": [{}, {}]", field[0], field[1]);
         }},
        {{"place", "place", "where the spec says so", on_request},
         {},
         [](const At& at) { return same(place_text(at)); },
         [](const At& at) { return "\"place\": " + json_text(place_text(at)); }},
    };
    return all;
}

const Column* find_column(std::string_view name) {
    for (const Column& column : all_columns())
        if (column.told.name == name) return &column;
    return nullptr;
}

}  // namespace

const std::vector<SummaryColumn>& summary_columns() {
    static const std::vector<SummaryColumn> told = [] {
        std::vector<SummaryColumn> columns;
        for (const Column& column : all_columns())
            columns.push_back(column.told);
        return columns;
    }();
    return told;
}

bool is_summary_column(std::string_view name) {
    return find_column(name) != nullptr;
}

ColumnLayout layout_of(const std::string& column) {
    const Column* found = find_column(column);
    return found == nullptr ? ColumnLayout{} : found->layout;
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
    const Column* found = find_column(column);
    const bool heading = row.kind == SummaryRow::Kind::heading;
    if (found == nullptr || (heading && !found->layout.has_names)) return {};
    return found->cell({plan, facts, row});
}

std::string json_of(const Plan& plan, const std::vector<LayerFacts>& facts, const SummaryRow& row,
                    const std::string& column) {
    const Column* found = find_column(column);
    if (found == nullptr || found->json == nullptr) return "";
    return found->json({plan, facts, row});
}

}  // namespace dtnn::plan
