#include <cmath>

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

/// Positive rows of sum one; a few classes with probability zero.
void make_probabilities(Buffer& rows, std::int64_t classes) {
    for (std::int64_t first = 0; first < rows.tensor().elements(); first += classes) {
        double sum = 0;
        for (std::int64_t c = 0; c < classes; ++c) {
            double value = std::abs(rows.get(first + c));
            if (value < 0.05 && classes > 1) value = 0;
            rows.set(first + c, value);
            sum += value;
        }
        for (std::int64_t c = 0; c < classes && sum > 0; ++c) {
            rows.set(first + c, rows.get(first + c) / sum);
        }
    }
}

/// `make` turns [N,C] into the operator's results; with `probabilities` the source holds some.
template <class Results>
std::vector<Case> classification(const char* op, bool probabilities, double f32_tolerance,
                                 double f64_tolerance, Results make, bool in_place = false) {
    std::vector<Case> cases;
    for (const auto& [samples, classes] : kMatrices) {
        const TensorDesc matrix = row_major({samples, classes});
        Case item;
        item.problem = problem(op, {matrix, row_major({samples}, DType::i32)}, make(matrix),
                               {{"epsilon", 1e-8}});
        item.f32_tolerance = f32_tolerance;
        item.f64_tolerance = f64_tolerance;
        if (in_place) item.in_place = {{0, 0}};
        item.prepare = [probabilities, count = classes](std::vector<Buffer>& buffers) {
            draw_labels(buffers[1], count);
            if (probabilities) {
                make_probabilities(buffers[0], count);
            } else {
                for (std::int64_t i = 0; i < buffers[0].tensor().elements(); ++i) {
                    buffers[0].set(i, std::round(buffers[0].get(i) * 40) / 2);
                }
            }
        };
        cases.push_back(item);
    }
    return cases;
}

std::vector<TensorDesc> scalar(const TensorDesc&) {
    return {row_major({})};
}
std::vector<TensorDesc> same(const TensorDesc& matrix) {
    return {matrix};
}

}  // namespace

GRID(categorical_cross_entropy) {
    return classification("categorical_cross_entropy", true, 1e-6, 1e-13, scalar);
}
GRID(categorical_cross_entropy_backward) {
    return classification("categorical_cross_entropy_backward", true, 1e-6, 1e-13, same, true);
}
GRID(softmax_cross_entropy) {
    return classification("softmax_cross_entropy", false, 4e-6, 1e-13,
                          [](const TensorDesc& matrix) {
                              return std::vector<TensorDesc>{row_major({}), matrix};
                          });
}
GRID(softmax_cross_entropy_backward) {
    return classification("softmax_cross_entropy_backward", true, 1e-7, 1e-15, same, true);
}
GRID(negative_log_likelihood) {
    return classification("negative_log_likelihood", false, 1e-6, 1e-13, scalar);
}
GRID(negative_log_likelihood_backward) {
    return classification("negative_log_likelihood_backward", false, 1e-7, 1e-15, same, true);
}
GRID(categorical_accuracy) {
    return classification("categorical_accuracy", false, 0, 0, scalar);
}

GRID(one_hot) {
    std::vector<Case> cases;
    for (const auto& [samples, classes] : kMatrices) {
        cases.push_back(
            {.problem = problem("one_hot", {row_major({samples}, DType::i32)},
                                {row_major({samples, classes})}, {{"classes", classes}}),
             .prepare = [count = classes](std::vector<Buffer>& buffers) {
                 draw_labels(buffers[0], count);
             }});
    }
    return cases;
}

GRID(mean_squared_error) {
    std::vector<Case> cases;
    for (const auto& [samples, classes] : kMatrices) {
        const TensorDesc matrix = row_major({samples, classes});
        cases.push_back(
            {.problem = problem("mean_squared_error", {matrix, matrix}, {row_major({})}),
             .f32_tolerance = 1e-6,
             .f64_tolerance = 1e-13});
    }
    return cases;
}

GRID(mean_squared_error_backward) {
    std::vector<Case> cases;
    for (const auto& [samples, classes] : kMatrices) {
        const TensorDesc matrix = row_major({samples, classes});
        cases.push_back(
            {.problem = problem("mean_squared_error_backward", {matrix, matrix}, {matrix}),
             .f32_tolerance = 1e-6,
             .f64_tolerance = 1e-14,
             .in_place = {{0, 0}}});
    }
    return cases;
}

GRID(softmax) {
    std::vector<Case> cases;
    for (const Dims& shape : std::vector<Dims>{
             {1, 1}, {1, 10}, {3, 2}, {7, 17}, {64, 10}, {5, 100}, {2, 5, 3, 4}, {1, 16, 2, 2}}) {
        cases.push_back({.problem = problem("softmax", {tensor(shape)}, {tensor(shape)},
                                            {{"axis", std::string("channels")}}),
                         .f32_tolerance = 2e-6,
                         .f64_tolerance = 1e-14,
                         .in_place = {{0, 0}},
                         .prepare = [](std::vector<Buffer>& buffers) {
                             for (std::int64_t i = 0; i < buffers[0].tensor().elements(); ++i) {
                                 buffers[0].set(i, buffers[0].get(i) * 60);
                             }
                         }});
    }
    return cases;
}

GRID(log_softmax) {
    std::vector<Case> cases;
    for (const Dims& shape : std::vector<Dims>{
             {1, 1}, {1, 10}, {3, 2}, {7, 17}, {64, 10}, {5, 100}, {2, 5, 3, 4}, {1, 16, 2, 2}}) {
        // Differences of several hundred: the probabilities are zeros of float.
        cases.push_back({.problem = problem("log_softmax", {tensor(shape)}, {tensor(shape)},
                                            {{"axis", std::string("channels")}}),
                         .f32_tolerance = 1e-6,
                         .f64_tolerance = 1e-14,
                         .in_place = {{0, 0}},
                         .prepare = [](std::vector<Buffer>& buffers) {
                             for (std::int64_t i = 0; i < buffers[0].tensor().elements(); ++i) {
                                 buffers[0].set(i, buffers[0].get(i) * 300);
                             }
                         }});
    }
    return cases;
}

GRID(log_softmax_backward) {
    std::vector<Case> cases;
    for (const Dims& shape : std::vector<Dims>{
             {1, 1}, {1, 10}, {3, 2}, {7, 17}, {64, 10}, {5, 100}, {2, 5, 3, 4}, {1, 16, 2, 2}}) {
        cases.push_back({.problem = problem("log_softmax_backward", {tensor(shape), tensor(shape)},
                                            {tensor(shape)}, {{"axis", std::string("channels")}}),
                         .f32_tolerance = 4e-6,
                         .f64_tolerance = 1e-14,
                         .in_place = {{0, 1}, {0, 0}},
                         .prepare = [](std::vector<Buffer>& buffers) {
                             for (std::int64_t i = 0; i < buffers[0].tensor().elements(); ++i) {
                                 buffers[0].set(i, buffers[0].get(i) * 20 - 20);
                             }
                         }});
    }
    return cases;
}

GRID(softmax_backward) {
    std::vector<Case> cases;
    for (const Dims& shape : std::vector<Dims>{
             {1, 1}, {1, 10}, {3, 2}, {7, 17}, {64, 10}, {5, 100}, {2, 5, 3, 4}, {1, 16, 2, 2}}) {
        cases.push_back({.problem = problem("softmax_backward", {tensor(shape), tensor(shape)},
                                            {tensor(shape)}, {{"axis", std::string("channels")}}),
                         .f32_tolerance = 2e-6,
                         .f64_tolerance = 1e-14,
                         .in_place = {{0, 1}},
                         .prepare = [shape](std::vector<Buffer>& buffers) {
                             make_probabilities(buffers[0], shape[1]);
                         }});
    }
    return cases;
}

}  // namespace dtnn::kernels::conformance
