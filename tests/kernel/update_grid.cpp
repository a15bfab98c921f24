#include <cmath>

#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance {

GRID(sgd_update) {
    std::vector<Case> cases;
    for (const std::int64_t count : {1, 5, 64, 1003, 9001}) {
        for (const double momentum : {0.0, 0.9}) {
            for (const double decay : {0.0, 1e-2}) {
                for (const bool nesterov : {false, true}) {
                    if (nesterov && momentum == 0) continue;
                    const TensorDesc weights = row_major({count}), one = row_major({});
                    std::vector<TensorDesc> sources{weights, weights, one}, results{weights};
                    Case item;
                    item.in_place = {{0, 0}};
                    if (momentum > 0) {
                        sources.push_back(weights);
                        results.push_back(weights);
                        item.in_place.emplace_back(1, 3);
                    }
                    item.problem = problem(
                        "sgd_update", sources, results,
                        {{"momentum", momentum}, {"nesterov", nesterov}, {"weight_decay", decay}});
                    item.f32_tolerance = 1e-6;
                    item.f64_tolerance = 1e-14;
                    item.prepare = [](std::vector<Buffer>& buffers) { buffers[2].set(0, 0.1); };
                    cases.push_back(item);
                }
            }
        }
    }
    return cases;
}

GRID(adam_update) {
    std::vector<Case> cases;
    for (const std::int64_t count : {1, 5, 64, 1003, 9001}) {
        for (const double decay : {0.0, 1e-2}) {
            for (const double step : {0.0, 7.0, 100000.0}) {
                const TensorDesc weights = row_major({count}), one = row_major({});
                Case item;
                item.problem = problem(
                    "adam_update",
                    {weights, weights, one, row_major({}, DType::i64), weights, weights},
                    {weights, weights, weights},
                    {{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-8}, {"weight_decay", decay}});
                item.f32_tolerance = 2e-6;
                item.f64_tolerance = 1e-13;
                item.in_place = {{0, 0}, {1, 4}, {2, 5}};
                item.prepare = [step](std::vector<Buffer>& buffers) {
                    buffers[2].set(0, 0.01);
                    buffers[3].set(0, step);
                    for (std::int64_t i = 0; i < buffers[5].tensor().elements(); ++i) {
                        // A first moment larger than the root of the second is none that Adam could
                        // have made.
                        buffers[5].set(i, buffers[4].get(i) * buffers[4].get(i) + 0.01);
                    }
                };
                cases.push_back(item);
            }
        }
    }
    return cases;
}

}  // namespace dtnn::kernels::conformance
