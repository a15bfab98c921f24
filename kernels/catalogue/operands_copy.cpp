/// Operators that move elements and compute nothing.

#include <algorithm>

#include "kernels/arguments/copy.hpp"
#include "kernels/catalogue/operand_rule.hpp"
#include "kernels/packed_weights.hpp"

namespace dtnn::kernels::operands {
namespace {

/// `part` is places [begin, begin + its own) of `whole` along the axis.
bool part_of(Rule& rule, const TensorType& part, const TensorType& whole, std::int64_t begin) {
    const AxisRange axis = axis_of(rule.problem());
    rule.type(whole, rule.problem().dtype);
    rule.type(part, rule.problem().dtype);
    if (rule.broken() || !rule.lines(axis, {&whole, &part})) return false;
    const std::int64_t extent = part.dims[axis.first], all = whole.dims[axis.first];
    rule.require(begin >= 0 && begin <= all && extent <= all - begin,
                 text_of(part.dims) + " is no part of " + text_of(whole.dims) + " from " +
                     std::to_string(begin) + " on");
    return !rule.broken();
}

}  // namespace

void copy(Rule& rule) {
    const TensorType& src = rule.first_source();
    const TensorType& dst = rule.first_result();
    rule.elements(dst, src.elements());
    rule.type(src, rule.problem().dtype);
    // Different axes: one has all of the other's but the first in one, or both lie as they count.
    const std::size_t least = std::min(src.dims.size(), dst.dims.size());
    const std::size_t most = std::max(src.dims.size(), dst.dims.size());
    const bool flat = least == 2 && most > 2 && src.dims[0] == dst.dims[0];
    const bool plain = is_row_major(src) && is_row_major(dst);
    rule.require(most <= kMostCopyAxes || plain, "an operand has too many axes");
    rule.require(src.dims == dst.dims || flat || plain,
                 text_of(src.dims) + " cannot be stored as " + text_of(dst.dims));
}

/// The cut axis is stored last; the blocks come first, and the others keep their order.
void pack_weights(Rule& rule) {
    const Problem& p = rule.problem();
    const TensorType& src = rule.first_source();
    const TensorType& dst = rule.first_result();
    const std::int64_t axis = p.integer("axis"), block = p.integer("block");
    const auto rank = std::int64_t(src.dims.size());
    rule.require(axis >= 0 && axis < rank && block >= 1 && block <= kWidestBlock,
                 "axis " + std::to_string(axis) + " of " + text_of(src.dims) +
                     " cannot be cut in blocks of " + std::to_string(block));
    if (rule.broken()) return;
    rule.type(src, p.dtype);
    const PackedForm form = packed_form(src, axis, block);
    rule.require(form.possible, "the axis that it cuts is not stored last");
    if (rule.broken()) return;
    rule.shape(dst, form.dims);
    rule.require(stored_order(dst) == form.order, "its blocks are not stored one after the other");
}

namespace {

void cast(Rule& rule, DType from, DType to) {
    const TensorType& src = rule.first_source();
    rule.shape(rule.first_result(), src.dims, to);
    rule.type(src, from);
    rule.same_place(rule.first_result(), src);
}

}  // namespace

void cast_narrow(Rule& rule) {
    cast(rule, wide_of(rule.problem().dtype), rule.problem().dtype);
}

void cast_wide(Rule& rule) {
    cast(rule, rule.problem().dtype, wide_of(rule.problem().dtype));
}

/// One side is an image [N,C,...], or has its channels along another axis, the other [pixels, C]: a
/// row of them for each of its pixels.
void pixel_rows(Rule& rule) {
    const TensorType& image = *rule.operand("pixels");
    const TensorType& rows = *rule.operand("rows");
    const std::size_t axis = axis_of(rule.problem()).first;
    const std::int64_t channels = axis < image.dims.size() ? image.dims[axis] : 0;
    rule.type(image, rule.problem().dtype);
    rule.type(rows, rule.problem().dtype);
    rule.require(channels > 0 && image.dims.size() <= kMostCopyAxes &&
                     rows.dims == Dims{image.elements() / channels, channels},
                 text_of(rows.dims) + " are not the pixels of " + text_of(image.dims));
}

void concat(Rule& rule) {
    const Problem& p = rule.problem();
    const std::size_t axis = axis_of(p).first;
    std::int64_t begin = 0;
    for (const TensorType& source : p.sources) {
        if (!part_of(rule, source, rule.first_result(), begin)) return;
        begin += source.dims[axis];
    }
    rule.require(!p.sources.empty() && begin == rule.first_result().dims[axis],
                 "its sources do not fill the destination");
    if (rule.broken()) return;
    std::vector<const TensorType*> all{&rule.first_result()};
    for (const TensorType& source : p.sources)
        all.push_back(&source);
    rule.lines(axis_of(p), all);
}

void slice(Rule& rule) {
    const Problem& p = rule.problem();
    const bool backward = rule.operand("diff_src") != nullptr;
    const TensorType& whole = backward ? rule.first_result() : rule.first_source();
    const TensorType& part = backward ? rule.first_source() : rule.first_result();
    const std::int64_t begin = p.integer("begin"), end = p.integer("end");
    if (!part_of(rule, part, whole, begin)) return;
    rule.require(begin < end && part.dims[axis_of(p).first] == end - begin,
                 std::to_string(begin) + " to " + std::to_string(end) + " of " +
                     text_of(whole.dims) + " is not " + text_of(part.dims));
}

}  // namespace dtnn::kernels::operands
