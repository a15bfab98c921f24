#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance {
namespace {

const std::vector<Dims> kImages{{1, 1, 1, 1}, {2, 3, 4, 5},  {1, 16, 7, 7}, {3, 17, 5, 3},
                                {4, 8, 1, 9}, {2, 64, 4, 4}, {9, 1, 3, 3},  {2, 33, 40, 21}};

}  // namespace

GRID(reorder) {
    std::vector<Case> cases;
    const std::vector<std::vector<int>> orders{
        {}, {0, 2, 3, 1}, {2, 3, 1, 0}, {1, 2, 0, 3}, {3, 1, 0, 2}};
    for (const Dims& dims : kImages) {
        for (const auto& from : orders) {
            for (const auto& to : orders) {
                cases.push_back({.problem = problem("reorder", {{DType::f32, dims, from}},
                                                    {{DType::f32, dims, to}})});
            }
        }
    }
    cases.push_back({.problem = problem("reorder", {{DType::f32, {7, 9}, {}}},
                                        {{DType::f32, {7, 9}, {1, 0}}})});
    const auto add = [&](const Dims& dims, const Order& from, const Order& to) {
        cases.push_back(
            {.problem = problem("reorder", {{DType::f32, dims, from}}, {{DType::f32, dims, to}})});
    };
    add({13}, {}, {});
    add({3, 17, 19}, {}, {0, 2, 1});
    add({3, 17, 19}, {2, 0, 1}, {1, 2, 0});
    add({1, 5, 3}, {}, {2, 1, 0});
    add({2, 3, 4, 5, 7}, {}, {});
    add({2, 9, 4, 5, 7}, {}, {0, 2, 3, 4, 1});
    add({2, 9, 4, 5, 7}, {4, 2, 0, 3, 1}, {1, 3, 0, 4, 2});
    add({1, 2, 1, 3, 33}, {}, {4, 3, 2, 1, 0});
    add({2, 3, 2, 3, 4, 5}, {}, {5, 3, 1, 4, 2, 0});
    return cases;
}

GRID(pack_weights) {
    std::vector<Case> cases;
    const auto add = [&](const TensorType& weights, std::int64_t axis, const TensorType& packed) {
        cases.push_back({.problem = problem("pack_weights", {weights}, {packed},
                                            {{"axis", axis}, {"block", packed.dims.back()}})});
    };
    add({DType::f32, {40, 3, 5, 7}, {2, 3, 1, 0}}, 0,
        {DType::f32, {3, 3, 5, 7, 16}, {0, 2, 3, 1, 4}});
    add({DType::f32, {48, 20, 1, 1}, {2, 3, 1, 0}}, 0,
        {DType::f32, {1, 20, 1, 1, 48}, {0, 2, 3, 1, 4}});
    add({DType::f32, {5, 2, 4, 20}, {1, 2, 0, 3}}, 3,
        {DType::f32, {3, 5, 2, 4, 8}, {0, 2, 3, 1, 4}});
    add(row_major({33, 65}), 1, row_major({3, 33, 32}));
    add(row_major({1, 1}), 1, row_major({1, 1, 4}));
    return cases;
}

GRID(cast_narrow) {
    std::vector<Case> cases;
    for (const std::int64_t count : {1, 255, 1000})
        cases.push_back({.problem = problem("cast_narrow", {tensor({count})}, {tensor({count})})});
    return cases;
}

GRID(cast_wide) {
    std::vector<Case> cases;
    for (const std::int64_t count : {1, 255, 1000})
        cases.push_back({.problem = problem("cast_wide", {tensor({count})}, {tensor({count})})});
    return cases;
}

GRID(flatten) {
    std::vector<Case> cases;
    for (const Dims& dims : kImages) {
        const TensorType flat = row_major({dims[0], dims[1] * dims[2] * dims[3]});
        cases.push_back({.problem = problem("flatten", {tensor(dims)}, {flat})});
        cases.push_back({.problem = problem("flatten", {row_major(dims)}, {flat})});
    }
    cases.push_back({.problem = problem("flatten", {row_major({3, 5, 7})}, {row_major({3, 35})})});
    cases.push_back({.problem = problem("flatten", {{DType::f32, {3, 5, 7}, {0, 2, 1}}},
                                        {row_major({3, 35})})});
    cases.push_back({.problem = problem("flatten", {{DType::f32, {2, 5, 3, 2, 7}, {0, 2, 3, 4, 1}}},
                                        {row_major({2, 210})})});
    cases.push_back({.problem = problem("flatten", {row_major({2, 3, 4})}, {row_major({6, 4})})});
    return cases;
}

GRID(unflatten) {
    std::vector<Case> cases;
    for (const Dims& dims : kImages) {
        const TensorType flat = row_major({dims[0], dims[1] * dims[2] * dims[3]});
        cases.push_back(
            {.problem = problem("unflatten", {flat}, {tensor(dims)}, {{"shape", dims}})});
        cases.push_back(
            {.problem = problem("unflatten", {flat}, {row_major(dims)}, {{"shape", dims}})});
    }
    return cases;
}

GRID(pixels_to_rows) {
    std::vector<Case> cases;
    for (const Dims& dims : kImages) {
        const TensorType rows = row_major({dims[0] * dims[2] * dims[3], dims[1]});
        cases.push_back({.problem = problem("pixels_to_rows", {tensor(dims)}, {rows})});
        cases.push_back({.problem = problem("pixels_to_rows", {row_major(dims)}, {rows})});
    }
    return cases;
}

GRID(rows_to_pixels) {
    std::vector<Case> cases;
    for (const Dims& dims : kImages) {
        const TensorType rows = row_major({dims[0] * dims[2] * dims[3], dims[1]});
        cases.push_back(
            {.problem = problem("rows_to_pixels", {rows}, {tensor(dims)}, {{"shape", dims}})});
        cases.push_back(
            {.problem = problem("rows_to_pixels", {rows}, {row_major(dims)}, {{"shape", dims}})});
    }
    return cases;
}

GRID(dropout_apply) {
    std::vector<Case> cases;
    for (const double rate : {0.0, 0.3, 0.5, 0.999}) {
        for (const TensorType& image :
             {row_major({1, 1}), row_major({3, 37}), row_major({64, 128}), tensor({2, 3, 5, 7}),
              tensor({2, 16, 8, 8}), tensor({3, 20, 9, 11}), row_major({2, 3, 5, 7}),
              row_major({37}), row_major({3, 5, 33}), row_major({2, 3, 1, 5, 7}),
              TensorType{DType::f32, {3, 6, 5}, {0, 2, 1}},
              TensorType{DType::f32, {2, 6, 3, 2, 5}, {0, 2, 3, 4, 1}}}) {
            cases.push_back(
                {.problem = problem("dropout_apply", {image, row_major({2}, DType::i64)}, {image},
                                    {{"rate", rate},
                                     {"seed", std::int64_t(1234567)},
                                     {"stream", std::int64_t(3)}}),
                 .in_place = {{0, 0}},
                 .prepare = [](std::vector<Buffer>& buffers) {
                     buffers[1].set(0, 4294967297.0);
                     buffers[1].set(1, 1000003);
                 }});
        }
    }
    return cases;
}

}  // namespace dtnn::kernels::conformance
