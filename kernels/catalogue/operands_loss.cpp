/// Losses, what metrics are made of, and gradients.

#include <cmath>

#include "kernels/catalogue/operand_rule.hpp"

namespace dtnn::kernels::operands {
namespace {

/// One number, or with `sum` one in f64.
void mean_or_sum(Rule& rule, const TensorType& result) {
    const Problem& p = rule.problem();
    rule.elements(result, 1, p.flag("sum") ? DType::f64 : p.dtype);
}

void labels(Rule& rule, const TensorType& list, std::int64_t rows) {
    rule.elements(list, rows, DType::i32);
    rule.require(is_row_major(list), "its labels are not stored one after the other");
}

/// Numbers for classes, row by row.
bool matrix_of_rows(Rule& rule, const TensorType& matrix) {
    const AxisRange range = classes_of(rule.problem(), matrix);
    rule.type(matrix, rule.problem().dtype);
    const std::size_t rank = matrix.dims.size();
    rule.require(range.count > 0 && range.first < rank && range.count <= rank - range.first,
                 "an operand " + text_of(matrix.dims) + " has no rows of classes");
    if (!rule.broken())
        rule.require(is_stored_last(range, matrix), "its rows are not stored one after the other");
    return !rule.broken();
}

std::int64_t rows_of(const Rule& rule, const TensorType& matrix) {
    return class_rows(rule.problem(), matrix).rows;
}
std::int64_t classes_in(const Rule& rule, const TensorType& matrix) {
    return class_rows(rule.problem(), matrix).classes;
}

const TensorType& wanted_of(const Rule& rule) {
    const TensorType* labels = rule.operand("labels");
    return labels != nullptr ? *labels : *rule.operand("targets");
}

/// A matrix with a row for every label or row of targets.
bool labelled(Rule& rule, const TensorType& matrix, const TensorType& wanted) {
    if (!matrix_of_rows(rule, matrix)) return false;
    if (wanted.dtype == DType::i32) {
        labels(rule, wanted, rows_of(rule, matrix));
    } else {
        rule.alike(wanted, matrix);
    }
    return !rule.broken();
}

void weights(Rule& rule, std::int64_t classes, bool needed = false) {
    const auto list = rule.problem().reals("class_weights");
    rule.require((list.empty() && !needed) || std::int64_t(list.size()) == classes,
                 "it has " + std::to_string(list.size()) + " `class_weights` for " +
                     std::to_string(classes) + " classes");
}

/// The first source is such a matrix.
bool labelled(Rule& rule) {
    return labelled(rule, rule.first_source(), wanted_of(rule));
}

void loss_or_gradient(Rule& rule) {
    if (const TensorType* loss = rule.operand("loss"))
        mean_or_sum(rule, *loss);
    else
        rule.alike(rule.first_result(), rule.first_source());
}

}  // namespace

/// The cross entropies and their gradients.
void class_loss(Rule& rule) {
    if (!labelled(rule)) return;
    weights(rule, classes_in(rule, rule.first_source()));
    const double smoothing = rule.problem().real("smoothing", 0);
    rule.require(smoothing >= 0 && smoothing <= 1, "its `smoothing` is not from 0 to 1");
    if (rule.broken()) return;
    loss_or_gradient(rule);
    rule.alike(rule.operand("probabilities"), rule.first_source());
}

void hinge(Rule& rule) {
    if (labelled(rule)) loss_or_gradient(rule);
}

void dice(Rule& rule) {
    if (!labelled(rule)) return;
    const std::int64_t pixels = rule.problem().integer("pixels");
    rule.require(pixels >= 0 && (pixels == 0 || rows_of(rule, rule.first_source()) % pixels == 0),
                 "its rows are not a number of samples of " + std::to_string(pixels) + " pixels");
    if (!rule.broken()) loss_or_gradient(rule);
}

namespace {

/// Rows of steps, and as many labels for each sample, of which one may be no blank.
bool label_sequences(Rule& rule) {
    const Problem& p = rule.problem();
    if (!matrix_of_rows(rule, rule.first_source())) return false;
    const std::int64_t steps = p.integer("steps"), blank = p.integer("blank");
    const auto [rows, classes] = class_rows(p, rule.first_source());
    rule.require(steps > 0 && rows % steps == 0,
                 "its rows are not a number of samples of " + std::to_string(steps) + " steps");
    rule.require(blank >= 0 && blank < classes, "its `blank` is no class");
    if (rule.broken()) return false;
    const std::int64_t samples = rows / steps;
    const TensorType& list = *rule.operand("labels");
    labels(rule, list, list.elements());
    rule.require(samples > 0 ? list.elements() % samples == 0 : list.elements() == 0,
                 "its labels are not as many for each sample");
    if (const TensorType* lengths = rule.operand("lengths"))
        rule.elements(*lengths, samples, DType::i32);
    return !rule.broken();
}

}  // namespace

void ctc(Rule& rule) {
    if (label_sequences(rule)) loss_or_gradient(rule);
}

void label_error_rate(Rule& rule) {
    if (label_sequences(rule)) rule.elements(rule.first_result(), 1, DType::f64);
}

void class_measure(Rule& rule) {
    if (labelled(rule)) rule.elements(rule.first_result(), 1, DType::f64);
}

void top_k_measure(Rule& rule) {
    class_measure(rule);
    rule.require(rule.problem().integer("k") >= 1, "its `k` is not at least 1");
}

void class_pairs(Rule& rule) {
    if (!labelled(rule)) return;
    rule.shape(rule.first_result(), {rows_of(rule, rule.first_source()), 2}, DType::i32);
    rule.require(is_row_major(rule.first_result()), "its pairs are not stored one after the other");
}

void label_counts(Rule& rule) {
    const Problem& p = rule.problem();
    rule.type(rule.operand("targets"), p.dtype);
    if (rule.broken() || !labelled(rule)) return;
    rule.shape(rule.first_result(), {classes_in(rule, rule.first_source()), 4}, DType::i64);
    rule.require(is_row_major(rule.first_result()), "its counts are not stored class by class");
}

void label_weights(Rule& rule) {
    labels(rule, rule.first_source(), rule.first_source().elements());
    rule.elements(rule.first_result(), 1, DType::f64);
}

void label_share(Rule& rule) {
    labels(rule, rule.first_source(), rule.first_source().elements());
    rule.elements(rule.operand("batch_weight"), 1);
    rule.elements(rule.first_result(), 1);
}

void one_hot(Rule& rule) {
    rule.type(rule.first_source(), DType::i32);
    rule.type(rule.first_result(), rule.problem().dtype);
    const std::int64_t labels = rule.first_source().elements();
    const std::int64_t numbers = rule.first_result().elements();
    rule.require((labels > 0 ? numbers % labels : numbers) == 0 &&
                     is_row_major(rule.first_source()) && is_row_major(rule.first_result()),
                 "its rows are not one for each integer, stored one after the other");
}

void scale_classes(Rule& rule) {
    if (!matrix_of_rows(rule, rule.first_source())) return;
    rule.alike(rule.first_result(), rule.first_source());
    if (rule.broken()) return;
    const std::int64_t classes = classes_in(rule, rule.first_source());
    weights(rule, classes, true);
    if (rule.broken()) return;
    const auto offsets = std::int64_t(rule.problem().reals("offsets").size());
    rule.require(offsets == 0 || offsets == classes, "it has no offset for each class");
}

}  // namespace dtnn::kernels::operands
