#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance {
namespace {

Case elementwise(std::int64_t count, std::string expression, int sources, double f32_tolerance = 0,
                 double f64_tolerance = 0) {
    Case item;
    item.problem =
        problem("elementwise", std::vector<TensorDesc>(std::size_t(sources), row_major({count})),
                {row_major({count})}, {{"expression", std::move(expression)}});
    item.f32_tolerance = f32_tolerance;
    item.f64_tolerance = f64_tolerance;
    for (int source = 0; source < sources; ++source)
        item.in_place.emplace_back(0, source);
    return item;
}

}  // namespace

GRID(elementwise) {
    std::vector<Case> cases;
    for (const std::int64_t count : {1, 7, 16, 33, 1000, 4097, 10007}) {
        cases.push_back(elementwise(count, "x0 0 max", 1));
        cases.push_back(elementwise(count, "x1 0 gt x0 0 select", 2));
        cases.push_back(elementwise(count, "x0 x1 add", 2));
        cases.push_back(elementwise(count, "x0 x1 add 0 max", 2));
        cases.push_back(elementwise(count, "x0 x1 add x2 sub x3 mul", 4));
    }
    for (const std::int64_t count : {5, 2051}) {
        cases.push_back(elementwise(count, "x0", 1));
        cases.push_back(elementwise(count, "2.5", 1));
        cases.push_back(elementwise(count, "x0 neg abs x1 min -0.25 max", 2));
        cases.push_back(elementwise(count, "x0 x1 x2 x3 x4 x5 x6 x7 add add add add add add add", 8,
                                    1e-6, 1e-14));
        cases.push_back(
            elementwise(count, "x0 abs 0.5 add log x1 exp mul x2 tanh div", 3, 4e-5, 1e-12));
        cases.push_back(elementwise(count, "x0 80 mul exp", 1, 1e-6, 1e-14));
        cases.push_back(elementwise(count, "x0 200 mul exp 1 min", 1, 1e-6, 1e-14));
        cases.push_back(elementwise(count, "x0 120 mul sigmoid x1 2 mul tanh add", 2, 1e-6, 1e-14));
        cases.push_back(
            elementwise(count, "x0 sigmoid 1 x0 sigmoid sub mul x0 abs sqrt sub", 1, 2e-6, 1e-14));
    }
    return cases;
}

}  // namespace dtnn::kernels::conformance
