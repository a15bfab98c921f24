/// Normalisation within a sample and across neighbouring channels, log_softmax, and their
/// gradients.

#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

/// gamma, beta and their gradients: one number for each channel, or an image [1,C,H,W] stored as
/// `image` is.
void layer_norm_parameter(Rule& rule, const TensorDesc& image, const TensorDesc& parameter) {
    const bool along_channels = rule.problem().text("axis") == "channels";
    if (along_channels || image.dims.size() == 2) {
        rule.shape(parameter, {image.dims[1]});
        return;
    }
    rule.shape(parameter, {1, image.dims[1], image.dims[2], image.dims[3]});
}

Dims layer_norm_statistics(const Problem& p, const TensorDesc& image) {
    const bool pixels = p.text("axis") == "channels" && image.dims.size() == 4;
    return {pixels ? image.dims[0] * image.dims[2] * image.dims[3] : image.dims[0]};
}

/// Whether the axis is one that is known.
void layer_norm_axis(Rule& rule) {
    const std::string axis = rule.problem().text("axis");
    rule.require(axis == "features" || axis == "channels", "it has no axis `" + axis + "`");
}

/// Groups that divide the channels.
bool divided(Rule& rule, const TensorDesc& image) {
    const std::int64_t groups = rule.problem().integer("groups");
    rule.require(groups >= 1 && image.dims[1] % std::max<std::int64_t>(1, groups) == 0,
                 std::to_string(groups) + " groups do not divide its channels");
    return !rule.broken();
}

}  // namespace

void layer_norm(Rule& rule) {
    const Problem& p = rule.problem();
    const bool affine = p.flag("affine"), statistics = p.flag("statistics");
    if (!rule.counts(affine ? 3 : 1, statistics ? 3 : 1)) return;
    const TensorDesc& src = p.sources[0];
    layer_norm_axis(rule);
    if (!rule.image_or_matrix(src)) return;
    for (std::size_t i = 1; i < p.sources.size(); ++i)
        layer_norm_parameter(rule, src, p.sources[i]);
    if (affine) rule.same_place(p.sources[1], p.sources[2]);
    rule.shape(p.destinations[0], src.dims);
    for (std::size_t i = 1; i < p.destinations.size(); ++i)
        rule.shape(p.destinations[i], layer_norm_statistics(p, src));
}

void layer_norm_backward(Rule& rule) {
    const Problem& p = rule.problem();
    const bool affine = p.flag("affine");
    if (!rule.counts(affine ? 5 : 4, affine ? 3 : 1)) return;
    const TensorDesc& src = p.sources[0];
    layer_norm_axis(rule);
    if (!rule.image_or_matrix(src)) return;
    rule.shape(p.sources[1], src.dims);
    for (const std::size_t i : {2u, 3u})
        rule.shape(p.sources[i], layer_norm_statistics(p, src));
    rule.shape(p.destinations[0], src.dims);
    if (!affine) return;
    layer_norm_parameter(rule, src, p.sources[4]);
    for (const std::size_t i : {1u, 2u}) {
        rule.shape(p.destinations[i], p.sources[4].dims);
        rule.same_place(p.destinations[i], p.sources[4]);
    }
}

void group_norm(Rule& rule) {
    const Problem& p = rule.problem();
    const bool statistics = p.flag("statistics");
    if (!rule.counts(p.flag("affine") ? 3 : 1, statistics ? 3 : 1)) return;
    const TensorDesc& src = p.sources[0];
    if (!rule.image_or_matrix(src) || !divided(rule, src)) return;
    for (std::size_t i = 1; i < p.sources.size(); ++i)
        rule.shape(p.sources[i], {src.dims[1]});
    rule.shape(p.destinations[0], src.dims);
    for (std::size_t i = 1; i < p.destinations.size(); ++i)
        rule.shape(p.destinations[i], {src.dims[0], p.integer("groups")});
}

void group_norm_backward(Rule& rule) {
    const Problem& p = rule.problem();
    const bool affine = p.flag("affine");
    if (!rule.counts(affine ? 5 : 4, affine ? 3 : 1)) return;
    const TensorDesc& src = p.sources[0];
    if (!rule.image_or_matrix(src) || !divided(rule, src)) return;
    rule.shape(p.sources[1], src.dims);
    for (const std::size_t i : {2u, 3u})
        rule.shape(p.sources[i], {src.dims[0], p.integer("groups")});
    rule.shape(p.destinations[0], src.dims);
    if (!affine) return;
    rule.shape(p.sources[4], {src.dims[1]});
    for (const std::size_t i : {1u, 2u})
        rule.shape(p.destinations[i], {src.dims[1]});
}

void local_response_norm(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(p.op.ends_with("_backward") ? 2 : 1, 1)) return;
    if (!rule.rank(p.sources[0], 4, 4)) return;
    for (const auto* tensors : {&p.sources, &p.destinations}) {
        for (const TensorDesc& tensor : *tensors)
            rule.shape(tensor, p.sources[0].dims);
    }
    const std::int64_t size = p.integer("size");
    rule.require(size >= 1 && size <= 1 << 20, "a window of " + std::to_string(size) + " channels");
}

void spatial_dropout2d_apply(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1) || !rule.rank(p.sources[0], 4, 4)) return;
    rule.elements(p.sources[1], 2, DType::i64);
    rule.type(p.sources[0], p.dtype);
    rule.shape(p.destinations[0], p.sources[0].dims);
    rule.same_place(p.destinations[0], p.sources[0]);
    const double rate = p.real("rate");
    rule.require(rate >= 0 && rate <= 1, "its rate is not from 0 to 1");
}

}  // namespace dtnn::kernels::operands
