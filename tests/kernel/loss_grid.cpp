#include <cmath>
#include <functional>

#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance {
namespace {

const std::vector<std::pair<std::int64_t, std::int64_t>> kMatrices{
    {1, 1}, {1, 10}, {3, 2}, {7, 5}, {64, 10}, {33, 17}, {5, 100}, {300, 10}};

void draw_labels(Buffer& labels, std::int64_t classes) {
    for (std::int64_t i = 0; i < labels.tensor().elements(); ++i) {
        labels.set(i, std::floor(noise(77, std::uint64_t(i)) * double(classes)));
    }
}

using Results = std::function<std::vector<TensorType>(const TensorType& matrix)>;

std::vector<TensorType> scalar(const TensorType&) {
    return {row_major({})};
}
std::vector<TensorType> sum(const TensorType&) {
    return {row_major({}, DType::f64)};
}
std::vector<TensorType> same(const TensorType& matrix) {
    return {matrix};
}

/// The cases that an operator over rows and labels is tried with.
struct Rows {
    const char* op;
    Results results = scalar;
    bool probabilities = false;  ///< the source holds some; else halves, so that there are ties
    double f32_tolerance = 1e-6, f64_tolerance = 1e-13;
    int in_place = -1;                   ///< the destination that may lie on the predictions
    bool labels = true, targets = true;  ///< the forms of operand 1
    Attributes attributes = {};
};

Case case_of(const Rows& rows, std::int64_t samples, std::int64_t classes, bool targets) {
    const TensorType matrix = row_major({samples, classes});
    Case item;
    item.problem = problem(rows.op, {matrix, targets ? matrix : row_major({samples}, DType::i32)},
                           rows.results(matrix), rows.attributes);
    item.f32_tolerance = rows.f32_tolerance;
    item.f64_tolerance = rows.f64_tolerance;
    if (rows.in_place >= 0) item.in_place = {{rows.in_place, 0}};
    item.prepare = [probabilities = rows.probabilities, targets,
                    classes](std::vector<Buffer>& buffers) {
        if (targets) {
            make_probabilities(buffers[1], classes);
        } else {
            draw_labels(buffers[1], classes);
            // No class: the row must count for nothing.
            if (buffers[1].tensor().elements() > 4) buffers[1].set(2, -1), buffers[1].set(3, 1e6);
        }
        if (probabilities) {
            make_probabilities(buffers[0], classes);
            return;
        }
        for (std::int64_t i = 0; i < buffers[0].tensor().elements(); ++i)
            buffers[0].set(i, std::round(buffers[0].get(i) * 40) / 2);
    };
    return item;
}

/// The case over rows of a tensor of more axes: what is a matrix in it becomes the tensor, what has
/// a number for each row what is left of the tensor without the classes.
Case over_axes(Case item, const Along& along) {
    const Dims matrix = item.problem.sources[0].dims;
    for (auto* side : {&item.problem.sources, &item.problem.destinations})
        for (TensorType& tensor : *side) {
            if (tensor.dims == matrix && tensor.dtype == DType::f32) tensor = along.tensor;
            if (tensor.dims == Dims{matrix[0]} && tensor.dtype == DType::i32)
                tensor = row_major(without(along).dims, DType::i32);
        }
    item.problem.attributes["axis"] = along.axis;
    return item;
}

const std::vector<Along> kClassAxes{{row_major({3, 5, 7}), 2},
                                    {row_major({1, 2, 1, 3, 10}), 4},
                                    {tensor({2, 6, 3, 4}), 1},
                                    {{DType::f32, {3, 1, 5}, {0, 2, 1}}, 1},
                                    {{DType::f32, {2, 6, 3, 2, 5}, {0, 2, 3, 4, 1}}, 1}};

void add_cases(std::vector<Case>& cases, const Rows& rows) {
    for (const bool targets : {false, true}) {
        if (!(targets ? rows.targets : rows.labels)) continue;
        for (const auto& [samples, classes] : kMatrices)
            cases.push_back(case_of(rows, samples, classes, targets));
        for (const Along& along : kClassAxes) {
            const std::int64_t classes = along.tensor.dims[std::size_t(along.axis)];
            const std::int64_t samples = along.tensor.elements() / classes;
            cases.push_back(over_axes(case_of(rows, samples, classes, targets), along));
        }
    }
}

std::vector<Case> over_rows(const Rows& rows) {
    std::vector<Case> cases;
    add_cases(cases, rows);
    return cases;
}

/// The same with smoothing, with weights, and with both.
std::vector<Case> with_shares(const Rows& rows) {
    std::vector<Case> cases = over_rows(rows);
    for (const bool smooth : {false, true})
        for (const auto& [samples, classes] : kMatrices)
            for (const bool targets : {false, true}) {
                Rows more = rows;
                if (smooth) more.attributes["smoothing"] = 0.1;
                std::vector<double> weights;
                for (std::int64_t c = 0; c < classes; ++c)
                    weights.push_back(double(c % 3) + (classes == 1 ? 1 : 0));
                more.attributes["class_weights"] = weights;
                cases.push_back(case_of(more, samples, classes, targets));
            }
    return cases;
}

}  // namespace

GRID(categorical_cross_entropy) {
    return with_shares({.op = "categorical_cross_entropy",
                        .probabilities = true,
                        .attributes = {{"epsilon", 1e-8}}});
}
GRID(categorical_cross_entropy_backward) {
    return with_shares({.op = "categorical_cross_entropy_backward",
                        .results = same,
                        .probabilities = true,
                        .in_place = 0,
                        .attributes = {{"epsilon", 1e-8}}});
}
GRID(softmax_cross_entropy) {
    return with_shares({.op = "softmax_cross_entropy",
                        .results =
                            [](const TensorType& matrix) {
                                return std::vector<TensorType>{row_major({}), matrix};
                            },
                        .f32_tolerance = 4e-6,
                        .in_place = 1});
}
GRID(softmax_cross_entropy_backward) {
    return with_shares({.op = "softmax_cross_entropy_backward",
                        .results = same,
                        .probabilities = true,
                        .f32_tolerance = 1e-6,
                        .f64_tolerance = 1e-14,
                        .in_place = 0});
}
GRID(negative_log_likelihood) {
    return with_shares({.op = "negative_log_likelihood"});
}
GRID(negative_log_likelihood_backward) {
    return with_shares({.op = "negative_log_likelihood_backward", .results = same, .in_place = 0});
}

namespace {

std::vector<Case> hinges(Rows rows, bool sums) {
    std::vector<Case> cases;
    for (const char* form : {"largest", "all"}) {
        rows.attributes = {{"form", std::string(form)}, {"margin", 1.5}};
        add_cases(cases, rows);
        if (!sums) continue;
        Rows summed = rows;
        summed.attributes["sum"] = true;
        summed.results = sum;
        summed.f64_tolerance = 1e-12;
        add_cases(cases, summed);
    }
    return cases;
}

/// A class over the pixels of a sample, with more classes than are summed at a time; and rows.
std::vector<Case> dices(Rows rows) {
    rows.probabilities = true;
    rows.attributes = {{"smooth", 1.0}, {"pixels", std::int64_t(0)}};
    std::vector<Case> cases = over_rows(rows);
    for (const double smooth : {0.0, 1.0})
        for (const std::int64_t classes : {1, 3, 40})
            for (const bool targets : {false, true}) {
                rows.attributes = {{"smooth", smooth}, {"pixels", std::int64_t(7)}};
                cases.push_back(case_of(rows, 35, classes, targets));
            }
    return cases;
}

}  // namespace

GRID(hinge) {
    return hinges({.op = "hinge", .f32_tolerance = 4e-6}, true);
}
GRID(hinge_backward) {
    return hinges({.op = "hinge_backward", .results = same, .in_place = 0}, false);
}
GRID(dice) {
    return dices({.op = "dice"});
}
GRID(dice_backward) {
    return dices({.op = "dice_backward", .results = same, .in_place = 0});
}

GRID(categorical_accuracy) {
    return over_rows(
        {.op = "categorical_accuracy", .results = sum, .f32_tolerance = 0, .f64_tolerance = 0});
}
GRID(top_k_accuracy) {
    std::vector<Case> cases;
    for (const std::int64_t k : {1, 3, 1000})
        add_cases(cases, {.op = "top_k_accuracy",
                          .results = sum,
                          .f32_tolerance = 0,
                          .f64_tolerance = 0,
                          .attributes = {{"k", k}}});
    return cases;
}
GRID(class_pairs) {
    return over_rows(
        {.op = "class_pairs",
         .results =
             [](const TensorType& matrix) {
                 return std::vector<TensorType>{row_major({matrix.dims[0], 2}, DType::i32)};
             },
         .f32_tolerance = 0,
         .f64_tolerance = 0});
}
GRID(label_counts) {
    return over_rows(
        {.op = "label_counts",
         .results =
             [](const TensorType& matrix) {
                 return std::vector<TensorType>{row_major({matrix.dims[1], 4}, DType::i64)};
             },
         .probabilities = true,
         .f32_tolerance = 0,
         .f64_tolerance = 0,
         .labels = false,
         .attributes = {{"threshold", 0.25}}});
}

GRID(label_share) {
    std::vector<Case> cases;
    for (const std::int64_t samples : {1, 7, 300})
        cases.push_back(
            {.problem =
                 problem("label_share", {row_major({samples}, DType::i32), row_major({})},
                         {row_major({1})}, {{"class_weights", std::vector<double>{1, 0.5, 3}}}),
             .prepare = [](std::vector<Buffer>& buffers) { draw_labels(buffers[0], 4); }});
    return cases;
}

GRID(label_weights) {
    std::vector<Case> cases;
    for (const std::int64_t samples : {1, 7, 300})
        cases.push_back({.problem = problem("label_weights", {row_major({samples}, DType::i32)},
                                            {row_major({}, DType::f64)},
                                            {{"class_weights", std::vector<double>{1, 0.5, 3}}}),
                         .f32_tolerance = 1e-13,
                         .f64_tolerance = 1e-13,
                         .prepare = [](std::vector<Buffer>& buffers) {
                             draw_labels(buffers[0], 4);  // the last is none
                         }});
    return cases;
}

GRID(scale_classes) {
    std::vector<Case> cases;
    for (const std::int64_t samples : {1, 7, 300})
        for (const bool moved : {false, true}) {
            Attributes attributes = {{"class_weights", std::vector<double>{1, 0.3, 3}}};
            if (moved) attributes["offsets"] = std::vector<double>{0.5, -2, 0};
            cases.push_back({.problem = problem("scale_classes", {row_major({samples, 3})},
                                                {row_major({samples, 3})}, attributes),
                             .f32_tolerance = 1e-7,
                             .f64_tolerance = 1e-15,
                             .in_place = {{0, 0}}});
        }
    return cases;
}

GRID(one_hot) {
    std::vector<Case> cases;
    for (const auto& [samples, classes] : kMatrices) {
        // One integer a sample, and three.
        for (const std::int64_t each : {1, 3})
            cases.push_back(
                {.problem = problem(
                     "one_hot",
                     {row_major(each == 1 ? Dims{samples} : Dims{samples, each}, DType::i32)},
                     {row_major({samples, each * classes})}, {{"classes", classes}}),
                 .prepare = [count = classes](std::vector<Buffer>& buffers) {
                     draw_labels(buffers[0], count);
                 }});
    }
    return cases;
}

GRID(elementwise_mean) {
    std::vector<Case> cases;
    for (const Dims& shape :
         std::vector<Dims>{{1, 1}, {33, 17}, {3, 2, 5, 7}, {130, 100}, {5, 3000}})
        for (const char* expression :
             {"x0 x1 sub x0 x1 sub mul", "x0 x1 sub abs 2 x1 exp mul add",
              "x0 1 x0 2 x0 3 x0 4 x0 5 x1 add add add add add add add add add add"})
            for (const char* mode : {"", "rows", "sum"}) {
                Attributes attributes{{"expression", std::string(expression)}};
                if (*mode != 0) attributes[mode] = true;
                const bool summed = std::string(mode) == "sum";
                cases.push_back({.problem = problem(
                                     "elementwise_mean", {tensor(shape), tensor(shape)},
                                     {row_major({}, summed ? DType::f64 : DType::f32)}, attributes),
                                 .f32_tolerance = 4e-6,
                                 .f64_tolerance = 1e-12});
            }
    return cases;
}

}  // namespace dtnn::kernels::conformance
