/// Losses, what metrics are made of, and gradients.

#include <cmath>

#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

/// One number, or with `sum` one in f64.
void mean_or_sum(Rule& rule, const TensorDesc& result) {
    const Problem& p = rule.problem();
    rule.elements(result, 1, p.flag("sum") ? DType::f64 : p.dtype);
}

void labels(Rule& rule, const TensorDesc& list, std::int64_t rows) {
    rule.elements(list, rows, DType::i32);
    rule.require(is_row_major(list), "its labels are not stored one after the other");
}

/// Numbers for classes, row by row.
bool matrix_of_rows(Rule& rule, const TensorDesc& matrix) {
    const AxisRange range = classes_of(rule.problem(), matrix);
    rule.type(matrix, rule.problem().dtype);
    rule.require(matrix.dims.size() >= 2 && range.first + range.count <= matrix.dims.size(),
                 "an operand " + text_of(matrix.dims) + " has no rows of classes");
    if (!rule.broken())
        rule.require(is_stored_last(range, matrix), "its rows are not stored one after the other");
    return !rule.broken();
}

std::int64_t rows_of(const Rule& rule, const TensorDesc& matrix) {
    return class_rows(rule.problem(), matrix).rows;
}
std::int64_t classes_in(const Rule& rule, const TensorDesc& matrix) {
    return class_rows(rule.problem(), matrix).classes;
}

/// A matrix with a row for every label or row of targets.
bool labelled(Rule& rule, const TensorDesc& matrix, const TensorDesc& wanted) {
    if (!matrix_of_rows(rule, matrix)) return false;
    if (wanted.dtype == DType::i32) {
        labels(rule, wanted, rows_of(rule, matrix));
    } else {
        rule.shape(wanted, matrix.dims);
        if (!rule.broken()) rule.same_place(wanted, matrix);
    }
    return !rule.broken();
}

void weights(Rule& rule, std::int64_t classes, bool needed = false) {
    const auto list = rule.problem().reals("class_weights");
    rule.require((list.empty() && !needed) || std::int64_t(list.size()) == classes,
                 "it has " + std::to_string(list.size()) + " `class_weights` for " +
                     std::to_string(classes) + " classes");
}

void smoothing(Rule& rule) {
    const double share = rule.problem().real("smoothing", 0);
    rule.require(share >= 0 && share <= 1, "its `smoothing` is not from 0 to 1");
}

bool labelled_with_weights(Rule& rule) {
    const Problem& p = rule.problem();
    if (!labelled(rule, p.sources[0], p.sources[1])) return false;
    weights(rule, classes_in(rule, p.sources[0]));
    smoothing(rule);
    return !rule.broken();
}

void gradient(Rule& rule) {
    const Problem& p = rule.problem();
    rule.shape(p.destinations[0], p.sources[0].dims);
    rule.same_place(p.destinations[0], p.sources[0]);
}

}  // namespace

void class_loss(Rule& rule) {
    const Problem& p = rule.problem();
    if (rule.counts(2, 1) && labelled_with_weights(rule)) rule.elements(p.destinations[0], 1);
}

void class_gradient(Rule& rule) {
    if (rule.counts(2, 1) && labelled_with_weights(rule)) gradient(rule);
}

void softmax_cross_entropy(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 2) || !labelled_with_weights(rule)) return;
    rule.elements(p.destinations[0], 1);
    rule.shape(p.destinations[1], p.sources[0].dims);
    rule.same_place(p.destinations[1], p.sources[0]);
}

void hinge(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1) || !labelled(rule, p.sources[0], p.sources[1])) return;
    if (p.op.ends_with("_backward"))
        gradient(rule);
    else
        mean_or_sum(rule, p.destinations[0]);
}

void dice(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1) || !labelled(rule, p.sources[0], p.sources[1])) return;
    const std::int64_t pixels = p.integer("pixels");
    rule.require(pixels >= 0 && (pixels == 0 || rows_of(rule, p.sources[0]) % pixels == 0),
                 "its rows are not a number of samples of " + std::to_string(pixels) + " pixels");
    if (rule.broken()) return;
    if (p.op.ends_with("_backward"))
        gradient(rule);
    else
        rule.elements(p.destinations[0], 1);
}

void class_measure(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1) || !labelled(rule, p.sources[0], p.sources[1])) return;
    rule.elements(p.destinations[0], 1, DType::f64);
}

void top_k_measure(Rule& rule) {
    class_measure(rule);
    rule.require(rule.problem().integer("k") >= 1, "its `k` is not at least 1");
}

void class_pairs(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1) || !labelled(rule, p.sources[0], p.sources[1])) return;
    rule.shape(p.destinations[0], {rows_of(rule, p.sources[0]), 2}, DType::i32);
    rule.require(is_row_major(p.destinations[0]), "its pairs are not stored one after the other");
}

void label_counts(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1)) return;
    rule.type(p.sources[1], p.dtype);
    if (rule.broken() || !labelled(rule, p.sources[0], p.sources[1])) return;
    rule.shape(p.destinations[0], {classes_in(rule, p.sources[0]), 4}, DType::i64);
    rule.require(is_row_major(p.destinations[0]), "its counts are not stored class by class");
}

void label_weights(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(1, 1)) return;
    labels(rule, p.sources[0], p.sources[0].elements());
    rule.elements(p.destinations[0], 1, DType::f64);
}

void label_share(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2, 1)) return;
    labels(rule, p.sources[0], p.sources[0].elements());
    rule.elements(p.sources[1], 1);
    rule.elements(p.destinations[0], 1);
}

void one_hot(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(1, 1)) return;
    rule.type(p.sources[0], DType::i32);
    if (rule.broken()) return;
    if (p.sources[0].dims.size() == 1) {
        labelled(rule, p.destinations[0], p.sources[0]);
        return;
    }
    rule.type(p.destinations[0], p.dtype);
    const std::int64_t labels = p.sources[0].elements();
    rule.require(labels > 0 && p.destinations[0].elements() % labels == 0 &&
                     is_row_major(p.sources[0]) && is_row_major(p.destinations[0]),
                 "its rows are not one for each integer, stored one after the other");
}

void scale_classes(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(1, 1) || !matrix_of_rows(rule, p.sources[0])) return;
    gradient(rule);
    if (!rule.broken()) weights(rule, classes_in(rule, p.sources[0]), true);
}

}  // namespace dtnn::kernels::operands
