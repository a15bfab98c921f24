/// What every kernel of an operator relies on: how many operands there are, their types, and how
/// their shapes and the attributes fit together (the table of docs/operators.md).

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/catalogue.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels {
namespace {

std::string text_of(const Dims& dims) {
    std::string text = "[";
    for (const std::int64_t dim : dims)
        text += (text.size() > 1 ? "," : "") + std::to_string(dim);
    return text + "]";
}

/// Collects the first mistake; after one, further questions are answered from empty operands, so a
/// rule can be written without looking back after every line.
class Rule {
  public:
    explicit Rule(const Problem& problem) : problem_(problem) {}

    const Problem& problem() const { return problem_; }
    bool broken() const { return !mistake_.empty(); }
    std::optional<std::string> result() const {
        return broken() ? std::optional(mistake_) : std::nullopt;
    }

    void require(bool holds, const std::string& fact) {
        if (!holds && mistake_.empty()) mistake_ = fact;
    }
    /// Must come first: nothing else may be asked when it does not hold.
    bool counts(std::size_t sources, std::size_t destinations) {
        const auto check = [&](std::size_t found, std::size_t wanted, const char* what) {
            require(found == wanted, "it has " + std::to_string(found) + " " + what + ", not " +
                                         std::to_string(wanted));
        };
        check(problem_.sources.size(), sources, "sources");
        check(problem_.destinations.size(), destinations, "destinations");
        return !broken();
    }
    bool absent(const char* flag) {
        require(!problem_.flag(flag), "it cannot have `" + std::string(flag) + "`");
        return !broken();
    }
    void type(const TensorDesc& tensor, DType dtype) {
        require(tensor.dtype == dtype, "an operand " + text_of(tensor.dims) + " has another type");
    }
    /// The plan's floating type and these extents.
    void shape(const TensorDesc& tensor, const Dims& dims) { shape(tensor, dims, problem_.dtype); }
    void shape(const TensorDesc& tensor, const Dims& dims, DType dtype) {
        type(tensor, dtype);
        require(tensor.dims == dims,
                "an operand is " + text_of(tensor.dims) + ", not " + text_of(dims));
    }
    void elements(const TensorDesc& tensor, std::int64_t count) {
        elements(tensor, count, problem_.dtype);
    }
    void elements(const TensorDesc& tensor, std::int64_t count, DType dtype) {
        type(tensor, dtype);
        require(tensor.elements() == count, "an operand " + text_of(tensor.dims) + " has not " +
                                                std::to_string(count) + " elements");
    }
    bool rank(const TensorDesc& tensor, std::size_t least, std::size_t most) {
        require(tensor.dims.size() >= least && tensor.dims.size() <= most,
                "an operand " + text_of(tensor.dims) + " has the wrong rank");
        return !broken();
    }
    bool image_or_matrix(const TensorDesc& tensor) {
        type(tensor, problem_.dtype);
        require(tensor.dims.size() == 2 || tensor.dims.size() == 4,
                "an operand " + text_of(tensor.dims) + " is neither [N,C] nor [N,C,H,W]");
        return !broken();
    }
    void same_place(const TensorDesc& a, const TensorDesc& b) {
        require(same_layout(a, b), "two operands are not stored alike");
    }
    /// The attribute's values, `fallback` when it is not there; refuses others than `count` from
    /// `least` on.
    template <std::size_t count>
    std::array<std::int64_t, count> values(const char* name, std::int64_t least,
                                           std::int64_t fallback) {
        constexpr std::int64_t kMost = 1 << 20;
        std::array<std::int64_t, count> result{};
        result.fill(fallback);
        const std::vector<std::int64_t> given = problem_.integers(name);
        if (given.empty()) return result;
        bool fine = given.size() == count;
        for (const std::int64_t value : given)
            fine = fine && value >= least && value <= kMost;
        require(fine, "its `" + std::string(name) + "` " + text_of(given) + " cannot be");
        if (fine) std::copy(given.begin(), given.end(), result.begin());
        return result;
    }

  private:
    const Problem& problem_;
    std::string mistake_;
};

/// image [N,C,H,W] and result [N,F,OH,OW] of a window of these extents.
void window(Rule& rule, const TensorDesc& image, const TensorDesc& result, std::int64_t height,
            std::int64_t width) {
    if (!rule.rank(image, 4, 4) || !rule.rank(result, 4, 4)) return;
    const auto stride = rule.values<2>("stride", 1, 1);
    const auto dilation = rule.values<2>("dilation", 1, 1);
    const auto padding = rule.values<4>("padding", 0, 0);
    if (rule.broken()) return;
    const std::array<std::int64_t, 2> kernel = {height, width};
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const std::int64_t span = image.dims[2 + axis] + padding[2 * axis] + padding[2 * axis + 1] -
                                  dilation[axis] * (kernel[axis] - 1) - 1;
        rule.require(span >= 0 && span / stride[axis] + 1 == result.dims[2 + axis],
                     "a window of " + text_of({height, width}) + " does not lead from " +
                         text_of(image.dims) + " to " + text_of(result.dims));
    }
    rule.require(image.dims[0] == result.dims[0], "the batches of " + text_of(image.dims) +
                                                      " and " + text_of(result.dims) + " differ");
}

void convolution(Rule& rule, const TensorDesc& image, const TensorDesc& weights,
                 const TensorDesc& result) {
    for (const TensorDesc* tensor : {&image, &weights, &result}) {
        rule.type(*tensor, rule.problem().dtype);
        if (!rule.rank(*tensor, 4, 4)) return;
    }
    const std::int64_t groups = rule.problem().integer("groups", 1);
    const std::int64_t channels = image.dims[1], filters = result.dims[1];
    rule.require(groups >= 1 && channels % std::max<std::int64_t>(1, groups) == 0 &&
                     filters % std::max<std::int64_t>(1, groups) == 0,
                 std::to_string(groups) + " groups do not divide its channels");
    if (rule.broken()) return;
    rule.shape(weights, {filters, channels / groups, weights.dims[2], weights.dims[3]});
    window(rule, image, result, weights.dims[2], weights.dims[3]);
}

void conv2d(Rule& rule) {
    const Problem& p = rule.problem();
    const bool bias = p.flag("bias"), residual = p.flag("residual"),
               statistics = p.flag("statistics");
    if (!rule.counts(2u + bias + residual, 1u + statistics)) return;
    const TensorDesc& dst = p.destinations[0];
    convolution(rule, p.sources[0], p.sources[1], dst);
    if (rule.broken()) return;
    if (bias) rule.elements(p.sources[2], dst.dims[1]);
    if (residual) {
        rule.shape(p.sources[2u + bias], dst.dims);
        rule.same_place(p.sources[2u + bias], dst);
    }
    if (statistics) rule.elements(p.destinations[1], 2 * dst.dims[1], DType::f64);
}

/// The mask is an operand stored as what it masks.
void masked(Rule& rule, const TensorDesc& result) {
    if (!rule.problem().flag("mask")) return;
    rule.elements(rule.problem().sources[2], result.elements());
    if (!rule.broken()) rule.same_place(rule.problem().sources[2], result);
}

void conv2d_backward_data(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2u + p.flag("mask"), 1)) return;
    convolution(rule, p.destinations[0], p.sources[1], p.sources[0]);
    masked(rule, p.destinations[0]);
}

void conv2d_backward_weights(Rule& rule) {
    const Problem& p = rule.problem();
    const bool bias = p.flag("bias");
    if (!rule.counts(2, 1u + bias)) return;
    convolution(rule, p.sources[0], p.destinations[0], p.sources[1]);
    if (bias && !rule.broken()) rule.elements(p.destinations[1], p.sources[1].dims[1]);
}

/// Rows of `image`, times `weights`, are rows of `result`.
void product(Rule& rule, const TensorDesc& image, const TensorDesc& weights,
             const TensorDesc& result) {
    for (const char* flag : {"residual", "statistics"}) {
        if (!rule.absent(flag)) return;
    }
    if (!rule.rank(result, 2, 2) || !rule.rank(weights, 2, 4) || !rule.rank(image, 2, 4)) return;
    const std::int64_t batch = result.dims[0], units = result.dims[1];
    rule.shape(result, {batch, units});
    rule.require(weights.dims.back() == units && image.dims[0] == batch,
                 text_of(image.dims) + " times " + text_of(weights.dims) + " is not " +
                     text_of(result.dims));
    if (rule.broken()) return;
    rule.type(weights, rule.problem().dtype);
    rule.elements(image, batch * (weights.elements() / units));
}

void dense(Rule& rule) {
    const Problem& p = rule.problem();
    const bool bias = p.flag("bias");
    if (!rule.counts(2u + bias, 1)) return;
    product(rule, p.sources[0], p.sources[1], p.destinations[0]);
    if (bias && !rule.broken()) rule.elements(p.sources[2], p.destinations[0].dims[1]);
}

void dense_backward_data(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2u + p.flag("mask"), 1)) return;
    product(rule, p.destinations[0], p.sources[1], p.sources[0]);
    if (p.flag("mask")) rule.elements(p.sources[2], p.destinations[0].elements());
}

void dense_backward_weights(Rule& rule) {
    const Problem& p = rule.problem();
    const bool bias = p.flag("bias");
    if (!rule.counts(2, 1u + bias)) return;
    product(rule, p.sources[0], p.destinations[0], p.sources[1]);
    if (bias && !rule.broken()) rule.elements(p.destinations[1], p.sources[1].dims[1]);
}

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

void max_pool2d(Rule& rule) {
    const Problem& p = rule.problem();
    const bool indices = p.flag("indices");
    if (!rule.counts(1, 1u + indices)) return;
    pool(rule, p.sources[0], p.destinations[0]);
    if (indices) rule.shape(p.destinations[1], p.destinations[0].dims, DType::u8);
}

void max_pool2d_backward(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2u + p.flag("mask"), 1)) return;
    pool(rule, p.destinations[0], p.sources[0]);
    rule.shape(p.sources[1], p.sources[0].dims, DType::u8);
    if (p.flag("mask")) rule.shape(p.sources[2], p.sources[0].dims);
}

void avg_pool2d(Rule& rule) {
    if (rule.counts(1, 1)) pool(rule, rule.problem().sources[0], rule.problem().destinations[0]);
}

void avg_pool2d_backward(Rule& rule) {
    if (rule.counts(1, 1)) pool(rule, rule.problem().destinations[0], rule.problem().sources[0]);
}

void global_pool(Rule& rule, const TensorDesc& image, const TensorDesc& result) {
    for (const char* name : {"kernel", "stride", "padding", "dilation"}) {
        rule.require(rule.problem().integers(name).empty(),
                     "it cannot have `" + std::string(name) + "`");
    }
    rule.type(image, rule.problem().dtype);
    if (rule.rank(image, 4, 4)) rule.shape(result, {image.dims[0], image.dims[1], 1, 1});
}

void global_avg_pool2d(Rule& rule) {
    if (!rule.counts(1, 1)) return;
    global_pool(rule, rule.problem().sources[0], rule.problem().destinations[0]);
}

void global_avg_pool2d_backward(Rule& rule) {
    if (!rule.counts(1, 1)) return;
    global_pool(rule, rule.problem().destinations[0], rule.problem().sources[0]);
}

void per_channel(Rule& rule, const std::vector<TensorDesc>& tensors, std::size_t begin,
                 std::size_t end, std::int64_t channels) {
    for (std::size_t i = begin; i < end; ++i)
        rule.elements(tensors[i], channels);
}

std::int64_t mask_bytes(const TensorDesc& tensor) {
    return (tensor.elements() + 7) / 8;
}

void batch_norm_training(Rule& rule) {
    const Problem& p = rule.problem();
    const bool statistics = p.flag("statistics"), residual = p.flag("residual"),
               mask = p.flag("mask");
    if (!rule.counts(5u + statistics + residual, 5u + mask)) return;
    const TensorDesc& src = p.sources[0];
    if (!rule.image_or_matrix(src)) return;
    per_channel(rule, p.sources, 1, 5, src.dims[1]);
    if (statistics) rule.elements(p.sources[5], 2 * src.dims[1], DType::f64);
    if (residual) rule.shape(p.sources[5u + statistics], src.dims);
    rule.shape(p.destinations[0], src.dims);
    per_channel(rule, p.destinations, 1, 5, src.dims[1]);
    if (mask) rule.elements(p.destinations[5], mask_bytes(src), DType::u8);
}

void batch_norm_backward(Rule& rule) {
    const Problem& p = rule.problem();
    const bool mask = p.flag("mask"), residual = p.flag("residual");
    const bool beta = p.text("epilogue", "none") == "relu" && !mask;
    if (!rule.counts(5u + beta + mask, 3u + residual)) return;
    const TensorDesc& src = p.sources[0];
    if (!rule.image_or_matrix(src)) return;
    rule.shape(p.sources[1], src.dims);
    per_channel(rule, p.sources, 2, 5u + beta, src.dims[1]);
    if (mask) rule.elements(p.sources[5], mask_bytes(src), DType::u8);
    rule.shape(p.destinations[0], src.dims);
    per_channel(rule, p.destinations, 1, 3, src.dims[1]);
    if (residual) rule.shape(p.destinations[3], src.dims);
}

void batch_norm_inference(Rule& rule) {
    const Problem& p = rule.problem();
    const bool residual = p.flag("residual");
    if (!rule.counts(5u + residual, 1)) return;
    const TensorDesc& src = p.sources[0];
    if (!rule.image_or_matrix(src)) return;
    per_channel(rule, p.sources, 1, 5, src.dims[1]);
    if (residual) rule.shape(p.sources[5], src.dims);
    rule.shape(p.destinations[0], src.dims);
}

void fold_batch_norm(Rule& rule) {
    const Problem& p = rule.problem();
    const bool bias = p.flag("bias");
    if (!rule.counts(5u + bias, 2)) return;
    const TensorDesc& weights = p.sources[0];
    if (!rule.rank(weights, 2, 4)) return;
    const std::int64_t axis = p.integer("axis", weights.dims.size() == 2 ? 1 : 0);
    rule.require(axis >= 0 && axis < std::int64_t(weights.dims.size()),
                 "its weights have no axis " + std::to_string(axis));
    if (rule.broken()) return;
    const std::int64_t channels = weights.dims[std::size_t(axis)];
    rule.shape(p.destinations[0], weights.dims);
    rule.type(weights, p.dtype);
    rule.same_place(p.destinations[0], weights);
    per_channel(rule, p.sources, 1, 5u + bias, channels);
    rule.elements(p.destinations[1], channels);
}

void softmax(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(1, 1) || !rule.image_or_matrix(p.sources[0])) return;
    rule.shape(p.destinations[0], p.sources[0].dims);
}

void softmax_backward(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1) || !rule.image_or_matrix(p.sources[0])) return;
    rule.shape(p.sources[1], p.sources[0].dims);
    rule.shape(p.destinations[0], p.sources[0].dims);
}

/// A matrix with a row for every label.
bool labelled(Rule& rule, const TensorDesc& matrix, const TensorDesc& labels) {
    if (!rule.rank(matrix, 2, 4)) return false;
    rule.type(matrix, rule.problem().dtype);
    rule.elements(labels, matrix.dims[0], DType::i32);
    return !rule.broken();
}

void class_measure(Rule& rule) {
    const Problem& p = rule.problem();
    if (rule.counts(2, 1) && labelled(rule, p.sources[0], p.sources[1]))
        rule.elements(p.destinations[0], 1);
}

void class_gradient(Rule& rule) {
    const Problem& p = rule.problem();
    if (rule.counts(2, 1) && labelled(rule, p.sources[0], p.sources[1]))
        rule.elements(p.destinations[0], p.sources[0].elements());
}

void softmax_cross_entropy(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 2) || !labelled(rule, p.sources[0], p.sources[1])) return;
    rule.elements(p.destinations[0], 1);
    rule.elements(p.destinations[1], p.sources[0].elements());
}

void one_hot(Rule& rule) {
    const Problem& p = rule.problem();
    if (rule.counts(1, 1)) labelled(rule, p.destinations[0], p.sources[0]);
}

void mean_squared_error(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1)) return;
    rule.elements(p.sources[0], p.sources[1].elements());
    rule.type(p.sources[1], p.dtype);
    rule.elements(p.destinations[0],
                  p.op.ends_with("_backward") ? p.sources[0].elements() : std::int64_t{1});
}

void dropout_apply(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1) || !rule.rank(p.sources[0], 1, 4)) return;
    rule.elements(p.sources[1], 1, DType::i64);
    rule.type(p.sources[0], p.dtype);
    rule.shape(p.destinations[0], p.sources[0].dims);
    rule.same_place(p.destinations[0], p.sources[0]);
    const double rate = p.real("rate");
    rule.require(rate >= 0 && rate <= 1, "its rate is not from 0 to 1");
}

void elementwise(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(p.sources.size(), 1)) return;
    for (const TensorDesc& source : p.sources)
        rule.elements(source, p.destinations[0].elements());
    rule.type(p.destinations[0], p.dtype);
    Expression expression;
    std::string mistake;
    const bool read = parse_expression(p.text("expression"), expression, mistake);
    rule.require(read, "its expression cannot be read: " + mistake);
    rule.require(expression.sources <= int(p.sources.size()),
                 "its expression names more sources than there are");
}

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

void slice(Rule& rule) {
    const Problem& p = rule.problem();
    if (rule.counts(1, 1)) channels_of(rule, p.destinations[0], p.sources[0], p.integer("begin"));
}

void sgd_update(Rule& rule) {
    const Problem& p = rule.problem();
    const bool velocity = p.real("momentum") > 0;
    if (!rule.counts(3u + velocity, 1u + velocity)) return;
    const std::int64_t count = p.sources[0].elements();
    rule.type(p.sources[0], p.dtype);
    rule.elements(p.sources[1], count);
    rule.elements(p.sources[2], 1);
    if (velocity) rule.elements(p.sources[3], count);
    for (const TensorDesc& destination : p.destinations)
        rule.elements(destination, count);
}

void adam_update(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(6, 3)) return;
    const std::int64_t count = p.sources[0].elements();
    rule.elements(p.sources[2], 1);
    rule.elements(p.sources[3], 1, DType::i64);
    for (const std::size_t i : {0u, 1u, 4u, 5u})
        rule.elements(p.sources[i], count);
    for (const TensorDesc& destination : p.destinations)
        rule.elements(destination, count);
}

constexpr std::pair<std::string_view, void (*)(Rule&)> kRules[] = {
    {"elementwise", elementwise},
    {"conv2d", conv2d},
    {"conv2d_backward_data", conv2d_backward_data},
    {"conv2d_backward_weights", conv2d_backward_weights},
    {"dense", dense},
    {"dense_backward_data", dense_backward_data},
    {"dense_backward_weights", dense_backward_weights},
    {"max_pool2d", max_pool2d},
    {"max_pool2d_backward", max_pool2d_backward},
    {"avg_pool2d", avg_pool2d},
    {"avg_pool2d_backward", avg_pool2d_backward},
    {"global_avg_pool2d", global_avg_pool2d},
    {"global_avg_pool2d_backward", global_avg_pool2d_backward},
    {"batch_norm_training", batch_norm_training},
    {"batch_norm_backward", batch_norm_backward},
    {"batch_norm_inference", batch_norm_inference},
    {"fold_batch_norm", fold_batch_norm},
    {"softmax", softmax},
    {"softmax_backward", softmax_backward},
    {"categorical_cross_entropy", class_measure},
    {"categorical_cross_entropy_backward", class_gradient},
    {"softmax_cross_entropy", softmax_cross_entropy},
    {"softmax_cross_entropy_backward", class_gradient},
    {"categorical_accuracy", class_measure},
    {"one_hot", one_hot},
    {"mean_squared_error", mean_squared_error},
    {"mean_squared_error_backward", mean_squared_error},
    {"dropout_apply", dropout_apply},
    {"reorder", copy},
    {"flatten", copy},
    {"unflatten", copy},
    {"pixels_to_rows", pixel_rows},
    {"rows_to_pixels", pixel_rows},
    {"concat", concat},
    {"slice", slice},
    {"sgd_update", sgd_update},
    {"adam_update", adam_update},
};

}  // namespace

std::optional<std::string> operand_mistake(const Problem& problem) {
    for (const auto& [op, check] : kRules) {
        if (op != problem.op) continue;
        Rule rule(problem);
        check(rule);
        return rule.result();
    }
    return "nothing is known about the operands of `" + problem.op + "`";
}

}  // namespace dtnn::kernels
