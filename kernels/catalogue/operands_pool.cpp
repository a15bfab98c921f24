/// Pooling and its gradients.

#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

/// The image and the result of the pool that an operator is, or is a gradient of.
struct Pooled {
    const TensorType& image;
    const TensorType& result;
};

Pooled pooled(const Rule& rule) {
    if (rule.operand("diff_src") != nullptr) return {rule.first_result(), rule.first_source()};
    return {rule.first_source(), rule.first_result()};
}

}  // namespace

/// Image and result, and the window that the attributes give.
void pool2d(Rule& rule) {
    const auto [image, result] = pooled(rule);
    rule.type(image, rule.problem().dtype);
    rule.type(result, rule.problem().dtype);
    rule.require(!rule.problem().integers("kernel").empty(), "it has no `kernel`");
    const auto kernel = rule.values<2>("kernel", 1, 1);
    if (rule.broken()) return;
    window(rule, image, result, kernel[0], kernel[1]);
    if (!rule.broken()) rule.require(image.dims[1] == result.dims[1], "its channels differ");
}

void max_pool2d(Rule& rule) {
    pool2d(rule);
    const TensorType& result = pooled(rule).result;
    rule.shape(rule.operand("indices"), result.dims, DType::u8);
    rule.shape(rule.operand("y"), result.dims);
    if (rule.broken()) return;
    // Cells of a window are told by a byte, and one value of it means none.
    const auto kernel = rule.values<2>("kernel", 1, 1);
    rule.require(kernel[0] <= 255 && kernel[1] <= 255 && kernel[0] * kernel[1] <= 255,
                 "its window has more than 255 cells");
}

void global_pool2d(Rule& rule) {
    const auto [image, result] = pooled(rule);
    for (const char* name : {"kernel", "stride", "padding", "dilation"}) {
        rule.require(rule.problem().integers(name).empty(),
                     "it cannot have `" + std::string(name) + "`");
    }
    rule.absent("count_include_pad");
    rule.type(image, rule.problem().dtype);
    if (rule.image(image)) rule.shape(result, {image.dims[0], image.dims[1], 1, 1});
}

}  // namespace dtnn::kernels::operands
