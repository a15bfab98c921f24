/// Operators whose results are weighted sums of source cells, axis by axis, and adaptive pools.

#include <cstddef>

#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

struct Sides {
    const TensorType* source;  ///< of the forward operator
    const TensorType* result;
};

Sides sides_of(const Rule& rule) {
    if (const TensorType* diff_src = rule.operand("diff_src"))
        return {diff_src, rule.operand("diff_dst")};
    return {&rule.first_source(), &rule.first_result()};
}

/// Both are images of the plan's type with something in them, alike in batch and channels.
bool images(Rule& rule, const Sides& sides) {
    for (const TensorType* tensor : {sides.source, sides.result}) {
        rule.type(*tensor, rule.problem().dtype);
        if (!rule.image(*tensor)) return false;
        rule.require(tensor->elements() > 0, "an operand is empty");
    }
    rule.require(sides.source->dims[0] == sides.result->dims[0] &&
                     sides.source->dims[1] == sides.result->dims[1],
                 text_of(sides.source->dims) + " and " + text_of(sides.result->dims) +
                     " differ in more than height and width");
    return !rule.broken();
}

void sized(Rule& rule, const Sides& sides) {
    if (!images(rule, sides)) return;
    const auto size = rule.values<2>("size", 1, 1);
    rule.require(sides.result->dims[2] == size[0] && sides.result->dims[3] == size[1],
                 text_of(sides.result->dims) + " has not the size it is to have");
}

}  // namespace

void zero_pad2d(Rule& rule) {
    const Sides sides = sides_of(rule);
    if (!images(rule, sides)) return;
    rule.require(!rule.problem().integers("padding").empty(), "it has no `padding`");
    const auto padding = rule.values<4>("padding", 0, 0);
    Dims wanted = sides.source->dims;
    wanted[2] += padding[0] + padding[1];
    wanted[3] += padding[2] + padding[3];
    rule.shape(*sides.result, wanted);
}

void upsample2d(Rule& rule) {
    rule.require(choice<Resampling>(rule.problem().attributes, "mode").has_value(),
                 "it has no mode `" + rule.problem().text("mode") + "`");
    sized(rule, sides_of(rule));
}

/// Of both kinds, and of their gradients.
void adaptive_pool2d(Rule& rule) {
    const Sides sides = sides_of(rule);
    sized(rule, sides);
    rule.shape(rule.operand("indices"), sides.result->dims, DType::i32);
}

void channel_sums(Rule& rule) {
    const Problem& p = rule.problem();
    const TensorType& src = rule.first_source();
    rule.type(src, p.dtype);
    const AxisRange axis = axis_of(p);
    if (rule.broken() || !rule.lines(axis, {&src})) return;
    rule.shape(rule.first_result(), {src.dims[axis.first]}, wide_of(p.dtype));
}

}  // namespace dtnn::kernels::operands
