#include "compiler/ops/loss/loss.hpp"

#include <fmt/format.h>

#include "compiler/ir/printer.hpp"

namespace dtnn::compiler {

bool expect_rows_and_labels(ShapeContext& c, const char* op) {
    const Type& rows = c.input(0);
    if (!is_rows(rows)) {
        c.fail(fmt::format(
                   "{} compares one row of numbers per sample with a label, but predictions are {}",
                   op, sample_text(rows)),
               "end the model with `flatten` and `dense`");
        return false;
    }
    if (c.input(1).dtype == DType::i32) return expect_dims(c, op, 1, "labels", {rows.dims[0]});
    if (c.input(1).dtype != rows.dtype) {
        c.fail(fmt::format("{}: labels must be i32 or like the predictions, got {}", op,
                           print(c.input(1))));
        return false;
    }
    return expect_dims(c, op, 1, "targets", rows.dims);
}

bool expect_labels(ShapeContext& c, const char* op) {
    const Type& labels = c.input(0);
    if (labels.dtype == DType::i32 && labels.dims == Dims{labels.elements()}) return true;
    c.fail(fmt::format("{}: labels must be i32 [N]", op));
    return false;
}

std::vector<double> class_weights(const Attributes& attributes) {
    const auto found = attributes.find("class_weights");
    if (found == attributes.end()) return {};
    if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&found->second))
        return {whole->begin(), whole->end()};
    return std::get<std::vector<double>>(found->second);
}

bool expect_class_weights(ShapeContext& c, const char* op, std::int64_t classes, bool needed) {
    const std::vector<double> weights = class_weights(c.attributes());
    if (weights.empty() && !needed) return true;
    if (std::int64_t(weights.size()) != classes) {
        c.fail(fmt::format("{} has {} class weights, but there are {} classes", op, weights.size(),
                           classes),
               "", "class_weights");
        return false;
    }
    c.attributes()["class_weights"] = weights;
    return true;
}

void result_scalar(ShapeContext& c) {
    c.result(Type{c.input(0).dtype, {}, {}});
}

void result_sum(ShapeContext& c) {
    c.result(Type{DType::f64, {}, {}});
}

std::function<void(GradientContext&)> gradient_by_rows(const char* backward, const char* diff) {
    return [backward, diff](GradientContext& g) {
        if (g.wants(0))
            g.set(0, g.emit(backward, {g.input(0), g.input(1)}, g.node().attributes, diff)[0]);
    };
}

std::function<std::int64_t(const std::vector<Type>&, const std::vector<Type>&, const Attributes&)>
flops_per_number(std::int64_t count) {
    return [count](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
        return count * in[0].elements();
    };
}

}  // namespace dtnn::compiler
