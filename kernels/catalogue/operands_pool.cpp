/// Pooling and its gradients.

#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

/// Pools: image and result, and the window that the attributes give.
void pool(Rule& rule, const TensorDesc& image, const TensorDesc& result) {
    rule.type(image, rule.problem().dtype);
    rule.type(result, rule.problem().dtype);
    rule.require(!rule.problem().integers("kernel").empty(), "it has no `kernel`");
    const auto kernel = rule.values<2>("kernel", 1, 1);
    if (rule.broken()) return;
    window(rule, image, result, kernel[0], kernel[1]);
    if (!rule.broken()) {
        rule.require(image.dims[1] == result.dims[1], "its channels differ");
    }
}

void global_pool(Rule& rule, const TensorDesc& image, const TensorDesc& result) {
    for (const char* name : {"kernel", "stride", "padding", "dilation"}) {
        rule.require(rule.problem().integers(name).empty(),
                     "it cannot have `" + std::string(name) + "`");
    }
    rule.absent("count_include_pad");
    rule.type(image, rule.problem().dtype);
    if (rule.rank(image, 4, 4)) rule.shape(result, {image.dims[0], image.dims[1], 1, 1});
}

/// Cells of a window are told by a byte, and one value of it means none.
void few_cells(Rule& rule) {
    if (rule.broken()) return;
    const auto kernel = rule.values<2>("kernel", 1, 1);
    rule.require(kernel[0] <= 255 && kernel[1] <= 255 && kernel[0] * kernel[1] <= 255,
                 "its window has more than 255 cells");
}

}  // namespace

void max_pool2d(Rule& rule) {
    const Problem& p = rule.problem();
    const bool indices = p.flag("indices");
    if (!rule.counts(1, 1u + indices)) return;
    pool(rule, p.sources[0], p.destinations[0]);
    if (indices) rule.shape(p.destinations[1], p.destinations[0].dims, DType::u8);
    few_cells(rule);
}

void max_pool2d_backward(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2u + p.flag("mask"), 1)) return;
    pool(rule, p.destinations[0], p.sources[0]);
    rule.shape(p.sources[1], p.sources[0].dims, DType::u8);
    if (p.flag("mask")) rule.shape(p.sources[2], p.sources[0].dims);
    few_cells(rule);
}

void avg_pool2d(Rule& rule) {
    if (rule.counts(1, 1)) pool(rule, rule.problem().sources[0], rule.problem().destinations[0]);
}

void avg_pool2d_backward(Rule& rule) {
    if (rule.counts(1, 1)) pool(rule, rule.problem().destinations[0], rule.problem().sources[0]);
}

void global_avg_pool2d(Rule& rule) {
    if (!rule.counts(1, 1)) return;
    global_pool(rule, rule.problem().sources[0], rule.problem().destinations[0]);
}

void global_avg_pool2d_backward(Rule& rule) {
    if (!rule.counts(1, 1)) return;
    global_pool(rule, rule.problem().destinations[0], rule.problem().sources[0]);
}

}  // namespace dtnn::kernels::operands
