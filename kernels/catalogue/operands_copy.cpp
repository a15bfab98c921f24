/// Operators that move elements and compute nothing.

#include <algorithm>

#include "kernels/catalogue/operand_rule.hpp"
#include "kernels/packed_weights.hpp"

namespace dtnn::kernels::operands {
namespace {

/// Channels [begin, begin + part) of `whole`.
void channels_of(Rule& rule, const TensorDesc& part, const TensorDesc& whole, std::int64_t begin) {
    if (!rule.image_or_matrix(whole) || !rule.image_or_matrix(part)) return;
    Dims wanted = whole.dims;
    wanted[1] = part.dims[1];
    rule.shape(part, wanted);
    rule.require(begin >= 0 && begin <= whole.dims[1] && part.dims[1] <= whole.dims[1] - begin,
                 "channels from " + std::to_string(begin) + " on of " + text_of(whole.dims) +
                     " are not " + text_of(part.dims));
}

}  // namespace

void copy(Rule& rule) {
    if (!rule.counts(1, 1)) return;
    const TensorDesc& src = rule.problem().sources[0];
    const TensorDesc& dst = rule.problem().destinations[0];
    if (!rule.rank(src, 1, 4) || !rule.rank(dst, 1, 4)) return;
    rule.elements(dst, src.elements());
    rule.type(src, rule.problem().dtype);
    // Different ranks: one is the other with all axes but the first in one.
    const bool flat = src.dims.size() != dst.dims.size() && src.dims[0] == dst.dims[0] &&
                      std::min(src.dims.size(), dst.dims.size()) == 2;
    rule.require(src.dims == dst.dims || flat,
                 text_of(src.dims) + " cannot be stored as " + text_of(dst.dims));
}

/// The cut axis is stored last; the blocks come first, and the others keep their order.
void pack_weights(Rule& rule) {
    if (!rule.counts(1, 1)) return;
    const Problem& p = rule.problem();
    const TensorDesc& src = p.sources[0];
    const TensorDesc& dst = p.destinations[0];
    if (!rule.rank(src, 2, 4) || !rule.rank(dst, 3, 5)) return;
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

void cast_narrow(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(1, 1)) return;
    rule.shape(p.destinations[0], p.sources[0].dims);
    rule.type(p.sources[0], wide_of(p.dtype));
    rule.same_place(p.destinations[0], p.sources[0]);
}

void cast_wide(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(1, 1)) return;
    rule.shape(p.destinations[0], p.sources[0].dims, wide_of(p.dtype));
    rule.type(p.sources[0], p.dtype);
    rule.same_place(p.destinations[0], p.sources[0]);
}

/// One side is an image [N,C,H,W], the other a row of channels for each of its pixels.
void pixel_rows(Rule& rule) {
    if (!rule.counts(1, 1)) return;
    const Problem& p = rule.problem();
    const bool to_rows = p.op == "pixels_to_rows";
    const TensorDesc& image = to_rows ? p.sources[0] : p.destinations[0];
    const TensorDesc& rows = to_rows ? p.destinations[0] : p.sources[0];
    if (!rule.rank(image, 4, 4) || !rule.rank(rows, 2, 2)) return;
    rule.type(image, p.dtype);
    rule.elements(rows, image.elements());
    rule.require(rows.dims[1] == image.dims[1],
                 text_of(rows.dims) + " are not the pixels of " + text_of(image.dims));
}

void concat(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(p.sources.size(), 1)) return;
    std::int64_t begin = 0;
    for (const TensorDesc& source : p.sources) {
        channels_of(rule, source, p.destinations[0], begin);
        if (rule.broken()) return;
        begin += source.dims[1];
    }
    rule.require(!p.sources.empty() && begin == p.destinations[0].dims[1],
                 "its sources do not fill the destination");
}

}  // namespace dtnn::kernels::operands
