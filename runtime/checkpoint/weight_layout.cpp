#include "runtime/checkpoint/weight_layout.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "plan/layer_types.hpp"
#include "runtime/data/formats/npy.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::size_t kFilterExtents = 4, kMatrixExtents = 2;

Dims in_order(const Dims& dims, const Order& order) {
    Dims result;
    for (const int axis : order)
        result.push_back(dims[std::size_t(axis)]);
    return result;
}

std::vector<FileForm> convolution(const Dims& dims, WeightLayout layout) {
    Order order = {0, 1, 2, 3};
    if (layout == WeightLayout::nhwc) order = {1, 2, 3, 0};
    if (layout == WeightLayout::nhwc_gpu) order = {0, 2, 3, 1};
    std::vector<FileForm> forms = {{in_order(dims, order), dims, order}};
    if (dims[2] == 1 && dims[3] == 1) {
        const Dims matrix =
            layout == WeightLayout::nhwc ? Dims{dims[1], dims[0]} : Dims{dims[0], dims[1]};
        forms.push_back({matrix, dims, order});
    }
    return forms;
}

}  // namespace

std::optional<WeightLayout> parse_layout(const std::string& name) {
    WeightLayout layout{};
    return parse_name(name, layout) ? std::optional(layout) : std::nullopt;
}

bool FileForm::takes(const Dims& file) const {
    return squeezed ? runtime::squeezed(file, 0) == runtime::squeezed(dims, 0) : file == dims;
}

bool FileForm::same_places(const FileForm& other) const {
    // Axes of one move nothing: what counts is the order of the others.
    const auto moved = [](const FileForm& form) {
        std::vector<std::pair<std::size_t, std::int64_t>> axes;
        for (std::size_t i = 0; i < form.view.size(); ++i) {
            const std::size_t axis = form.order.empty() ? i : std::size_t(form.order[i]);
            if (form.view[axis] == 1) continue;
            const auto before =
                std::count_if(form.view.begin(), form.view.begin() + std::ptrdiff_t(axis),
                              [](std::int64_t extent) { return extent != 1; });
            axes.emplace_back(std::size_t(before), form.view[axis]);
        }
        return axes;
    };
    const auto mine = moved(*this), others = moved(other);
    if (mine == others) return true;
    // Untouched on both sides, however the axes are split.
    const auto in_place = [](const auto& axes) {
        return std::is_sorted(axes.begin(), axes.end(),
                              [](const auto& a, const auto& b) { return a.first < b.first; });
    };
    return in_place(mine) && in_place(others);
}

LayoutRules::LayoutRules(const plan::Plan& plan) : plan_(&plan) {
    for (const plan::Layer& layer : plan.layers)
        layers_.emplace(layer.name, &layer);
}

std::optional<Dims> LayoutRules::flattened(const plan::Layer& layer) const {
    const plan::Layer* at = &layer;
    for (std::size_t guard = 0; guard <= plan_->layers.size(); ++guard) {
        if (at->from.size() != 1) return std::nullopt;
        const auto source = layers_.find(at->from.front());
        if (source == layers_.end()) {
            const plan::Feature& input = plan::input_of(plan_->dataset, at->from.front());
            return input.axes == image_axes() ? std::optional(input.dims) : std::nullopt;
        }
        at = source->second;
        if (at->output_axes == image_axes()) return at->output_shape;
        const bool mixed = plan::layer_type(at->type).weights == plan::WeightForm::matrix;
        if (at->output_axes != Axes{AxisKind::feature} || mixed) return std::nullopt;
    }
    return std::nullopt;
}

std::vector<FileForm> LayoutRules::forms(std::size_t index, WeightLayout layout) const {
    const plan::Parameter& parameter = plan_->parameters[index];
    const Dims& dims = parameter.dims;
    const FileForm own{dims, dims, {}};
    if (layout == WeightLayout::own || parameter.layer < 0) return {own};
    const plan::Layer& layer = plan_->layers[std::size_t(parameter.layer)];
    const plan::WeightForm form = plan::layer_type(layer.type).weights;
    // Extents are asked for because a plan from a file may have others.
    const bool filters = dims.size() == kFilterExtents;
    const bool dense = form == plan::WeightForm::matrix && dims.size() == kMatrixExtents;
    if (filters && form == plan::WeightForm::filters) return convolution(dims, layout);
    if (filters && form == plan::WeightForm::filter_of_a_channel)
        return {own, {{dims[0], dims[2], dims[3]}, dims, {}}};
    if (dense && layout == WeightLayout::torch) return {{{dims[1], dims[0]}, dims, {1, 0}}};
    if (!dense && dims.size() != 1) return {own};
    const bool last_first = layout == WeightLayout::nhwc || layout == WeightLayout::nhwc_gpu;
    std::optional<Dims> image;
    if (last_first && parameter.role != "bias") image = flattened(layer);
    const bool whole = image && element_count(*image) == dims[0];
    if (!whole) return {dense ? own : FileForm{dims, dims, {}, true}};
    if (!dense) return {{dims, *image, {1, 2, 0}, true}};
    return {{dims, {(*image)[0], (*image)[1], (*image)[2], dims[1]}, {1, 2, 0, 3}}};
}

}  // namespace dtnn::runtime
