/// Sequences as transformers have them: tokens that are looked up, tokens that are put in front,
/// numbers that tell places, patches of images.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {
namespace {

bool is_plain_sequence(const ImportedValue& value) {
    return value.type.axes == usual_axes(2) && value.view.empty() && value.rows.empty() &&
           value.order == Order{0, 1, 2};
}

}  // namespace

ImportedValue with_features_last(const NodeReader& node, const ImportedValue& src) {
    if (src.type.axes != usual_axes(2) || !src.view.empty() || !src.rows.empty() ||
        src.order != Order{0, 2, 1})
        return src;
    Importer& importer = node.importer();
    if (src.source >= 0 && importer.layer(src.source).type == "reshape") {
        ImportedValue image;
        image.source = importer.layer(src.source).sources[0];
        image.type = importer.type_of(image.source);
        if (is_image(image.type) && image.type.dims[1] == src.type.dims[1]) {
            const int made = importer.add_layer({}, "pixels_to_steps", {}, {&image}, {});
            return importer.layer(made).value;
        }
    }
    return importer.layer(importer.add_layer({}, "transpose", {}, {&src}, {})).value;
}

bool put_tokens_in_front(const NodeReader& node) {
    const std::size_t last = node.count() - 1;
    constexpr std::size_t kMostInputs = 16;
    if (node.count() < 2 || node.count() > kMostInputs) return false;
    for (std::size_t i = 0; i <= last; ++i)
        if (node.of_any_length(i).is_constant() != (i < last)) return false;
    if (node.input(last).rank() != 3 || place_of_axis(node.integer("axis", 1), 3) != 1 ||
        !node.input(last).view.empty())
        return false;
    ImportedValue value = with_features_last(node, node.activation(last));
    if (!is_plain_sequence(value)) return false;
    const std::int64_t features = value.type.dims[2];
    Importer& importer = node.importer();
    for (std::size_t i = last; i-- > 0;) {
        const Constant& tokens = *node.of_any_length(i).constant;  // once for each sample
        const Dims& dims = tokens.dims;
        const auto refuse = [&](const std::string& fact) {
            throw Refused(
                fmt::format("it joins a constant of [{}] {}", fmt::join(dims, ", "), fact),
                "tokens that are learned, [1, tokens, features], can stand in front of a "
                "sequence");
        };
        constexpr std::int64_t kMostTokens = 64;
        if (dims.size() != 3 || dims[2] != features || !tokens.real ||
            (dims[0] != 1 && dims[0] != importer.file_batch()))
            refuse(fmt::format("and a sequence of {} features", features));
        if (dims[1] > kMostTokens)
            refuse(fmt::format("and {} tokens in front are the most", kMostTokens));
        const std::int64_t each = dims[1] * features;
        importer.constants().take(tokens.elements());
        for (std::int64_t at = each; at < tokens.elements(); ++at)
            if (tokens.at(at) != tokens.at(at % each)) refuse("that differs between samples");
        for (std::int64_t row = dims[1]; row-- > 0;) {
            Numbers numbers;
            for (std::int64_t f = 0; f < features; ++f)
                numbers.push_back(tokens.at(row * features + f));
            const int made = importer.add_layer(
                node.node(), "class_token", {}, {&value},
                {{"weights", importer.constants().make({features}, true, numbers)}});
            value = importer.layer(made).value;
        }
    }
    node.result(std::move(value));
    return true;
}

bool make_room_for_token(const NodeReader& node) {
    const std::string& result = node.node().output[0];
    if (node.opset() < 11 || !node.has(1) || node.has(3) || !node.input(1).is_constant() ||
        integers_of(*node.input(1).constant) != std::vector<std::int64_t>{0, 1, 0, 0, 0, 0} ||
        node.text("mode", "constant") != "constant")
        return false;
    if (node.has(2) && numbers_of(node.constant(2, "value")) != Numbers{0}) return false;
    const auto readers = node.importer().some_readers(result);
    if (node.importer().readers(result) != 1 || readers.size() != 1 || readers[0]->op_type != "Add")
        return false;
    const ImportedValue src = with_features_last(node, node.activation());
    if (!is_plain_sequence(src)) return false;
    const std::int64_t features = src.type.dims[2];
    node.layer("class_token", {}, {&src},
               {{"weights", node.importer().constants().make({features}, true,
                                                             Numbers(std::size_t(features), 0))}});
    return true;
}

namespace {

/// Whether the numbers are those of a first step alone, for which a token of zeros has made room;
/// then it gets them.
bool fill_token(const NodeReader& node, const ImportedValue& src, const Numbers& numbers) {
    Importer& importer = node.importer();
    if (src.source < 0 || !importer.is_read_once(src.source)) return false;
    ImportedLayer& layer = importer.layer(src.source);
    if (layer.type != "class_token") return false;
    Constant& weights = layer.parameters.at("weights");
    const auto features = std::ptrdiff_t(weights.elements());
    const auto is_zero = [](double number) { return number == 0; };
    const Numbers now = numbers_of(weights);
    if (!std::all_of(now.begin(), now.end(), is_zero) ||
        !std::all_of(numbers.begin() + features, numbers.end(), is_zero))
        return false;
    weights = importer.constants().make(weights.dims, true,
                                        Numbers(numbers.begin(), numbers.begin() + features));
    node.result(src);
    return true;
}

}  // namespace

bool add_positions(const NodeReader& node, std::size_t i, bool negative) {
    // They may be there once for each sample.
    const Constant& constant = *node.of_any_length(1 - i).constant;
    const ImportedValue& given = node.by_number(i);
    const Dims& dims = constant.dims;
    const std::size_t rank = dims.size();
    if (given.rank() != 3 || rank < 2 || rank > 3 || (rank == 3 && dims[0] != 1) || !constant.real)
        return false;
    const std::int64_t steps = dims[rank - 2], features = dims[rank - 1];
    const Dims now = given.dims();
    // A number for each feature alone is a bias, one for each step a formula.
    if (steps < 2 || features < 2 || steps != now[1] || features != now[2]) return false;
    const ImportedValue src = with_features_last(node, given);
    if (!is_plain_sequence(src)) return false;
    Numbers numbers = numbers_of(constant);
    if (negative)
        for (double& number : numbers)
            number = -number;
    if (fill_token(node, src, numbers)) return true;
    node.layer("position_embedding", {}, {&src},
               {{"weights", node.importer().constants().make({steps, features}, true, numbers)}});
    return true;
}

bool look_up_rows(const NodeReader& node) {
    if (node.count() != 2 || !node.input(0).is_constant() || node.input(1).is_constant() ||
        node.input(1).type.dtype != DType::i32)
        return false;
    const ImportedValue& indices = node.input(1);
    const Constant& table = *node.input(0).constant;
    if (table.dims.size() != 2 || !table.real || table.elements() == 0 ||
        place_of_axis(node.integer("axis", 0), 2) != 0)
        throw Refused(
            fmt::format("it looks integers up in a constant of [{}]", fmt::join(table.dims, ", ")),
            "a table of rows, [entries, units], can be looked up along its axis 0");
    const int input = indices.source;
    node.layer("embedding", {{"entries", table.dims[0]}, {"units", table.dims[1]}}, {&indices},
               {{"weights", table}});
    node.importer().look_up(input, table.dims[0]);
    return true;
}

bool take_one_step(const NodeReader& node, const ImportedValue& src, std::size_t axis,
                   std::int64_t at) {
    if (axis != 1 || !is_plain_sequence(src) || (at != 0 && at + 1 != src.type.dims[1]))
        return false;
    node.layer(at == 0 ? "first_step" : "last_step", {}, {&src});
    return true;
}

void read_cast_like(const NodeReader& node) {
    if (!node.input(0).is_constant()) return node.result(node.in_any_order());
    const ImportedValue& like = node.input(1);
    const Constant& given = *node.input(0).constant;
    const bool real = like.is_constant() ? like.constant->real : like.type.dtype != DType::i32;
    Numbers numbers = numbers_of(given);
    if (!real)
        for (double& number : numbers)
            number = double(whole(number));
    ImportedValue made;
    made.constant = node.importer().constants().make(given.dims, real, numbers);
    node.result(std::move(made));
}

}  // namespace dtnn::compiler::onnx
