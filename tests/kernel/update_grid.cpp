#include <cmath>
#include <limits>

#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance {
namespace {

constexpr std::int64_t kCounts[] = {1, 5, 64, 1003, 9001};

/// The settings of every optimizer's update besides its own formula.
const Attributes kSettings[] = {
    {},
    {{"weight_decay", 1e-2}},
    {{"weight_decay", 1e-2}, {"decoupled_weight_decay", true}, {"learning_rate_scale", 0.5}},
    {{"clip_value", 0.25}, {"weight_decay", 1e-2}},
    {{"scaled", true}, {"clip_value", 0.25}},
    {{"scaled", true}, {"clip_value", 0.25}, {"skips", true}},
    {{"scaled", true}, {"skips", true}},
};

enum class Operand { state, number, update };

/// An update of `count` weights with the operands `others` behind the learning rate. `prepare` may
/// fill them further.
Case update_case(const char* op, std::int64_t count, const std::vector<Operand>& others,
                 Attributes attributes, double step = 3,
                 const std::function<void(std::vector<Buffer>&)>& prepare = {}) {
    const TensorType weights = row_major({count}), one = row_major({});
    std::vector<TensorType> sources{weights, weights, one}, results{weights};
    Case item;
    item.in_place = {{0, 0}};
    std::size_t counter = 0;
    for (const Operand operand : others) {
        if (operand == Operand::update) {
            counter = sources.size();
            sources.push_back(row_major({}, DType::i64));
            continue;
        }
        item.in_place.emplace_back(results.size(), sources.size());
        sources.push_back(operand == Operand::state ? weights : one);
        results.push_back(sources.back());
    }
    const auto scaled = attributes.find("scaled");
    const bool has_scale = scaled != attributes.end();
    // One of the two that may be skipped is.
    const bool skipped = attributes.contains("skips") && !attributes.contains("clip_value");
    if (has_scale) sources.push_back(one);
    attributes.emplace("weight_decay", 0.0);
    item.problem = problem(op, sources, results, std::move(attributes));
    item.f32_tolerance = 4e-6;
    item.f64_tolerance = 1e-13;
    item.prepare = [=](std::vector<Buffer>& buffers) {
        buffers[2].set(0, 0.05);
        if (counter > 0) buffers[counter].set(0, step);
        if (has_scale)
            buffers.back().set(0, skipped ? std::numeric_limits<double>::quiet_NaN() : 0.375);
        if (prepare) prepare(buffers);
    };
    return item;
}

/// A first moment larger than the root of the second is none that an optimizer could have made.
void make_second_moment(std::vector<Buffer>& buffers, std::size_t second, std::size_t first,
                        double more = 0.01) {
    for (std::int64_t i = 0; i < buffers[second].tensor().elements(); ++i)
        buffers[second].set(i, buffers[first].get(i) * buffers[first].get(i) + more);
}

void make_positive(std::vector<Buffer>& buffers, std::size_t which) {
    for (std::int64_t i = 0; i < buffers[which].tensor().elements(); ++i)
        buffers[which].set(i, std::fabs(buffers[which].get(i)) + 0.01);
}

Attributes merged(Attributes attributes, const Attributes& more) {
    attributes.insert(more.begin(), more.end());
    return attributes;
}

}  // namespace

GRID(sgd_update) {
    std::vector<Case> cases;
    for (const std::int64_t count : kCounts) {
        for (const Attributes& settings : kSettings) {
            for (const double momentum : {0.0, 0.9}) {
                for (const bool nesterov : {false, true}) {
                    if (nesterov && momentum == 0) continue;
                    std::vector<Operand> others;
                    if (momentum > 0) others.push_back(Operand::state);
                    cases.push_back(update_case(
                        "sgd_update", count, others,
                        merged({{"momentum", momentum}, {"nesterov", nesterov}}, settings)));
                }
            }
        }
    }
    return cases;
}

GRID(rmsprop_update) {
    std::vector<Case> cases;
    for (const std::int64_t count : kCounts) {
        for (const Attributes& settings : kSettings) {
            for (const bool centered : {false, true}) {
                for (const double momentum : {0.0, 0.9}) {
                    for (const bool inside : {false, true}) {
                        std::vector<Operand> others{Operand::state};
                        if (centered) others.push_back(Operand::state);
                        if (momentum > 0) others.push_back(Operand::state);
                        const Attributes own{{"rho", 0.9},
                                             {"epsilon", 1e-4},
                                             {"epsilon_inside_root", inside},
                                             {"centered", centered},
                                             {"momentum", momentum}};
                        cases.push_back(update_case("rmsprop_update", count, others,
                                                    merged(own, settings), 0,
                                                    [centered](std::vector<Buffer>& buffers) {
                                                        // The difference keeps its digits in float.
                                                        if (centered)
                                                            make_second_moment(buffers, 3, 4, 0.5);
                                                        else
                                                            make_positive(buffers, 3);
                                                    }));
                    }
                }
            }
        }
    }
    return cases;
}

GRID(adam_update) {
    std::vector<Case> cases;
    for (const std::int64_t count : kCounts) {
        for (const Attributes& settings : kSettings) {
            for (const double step : {0.0, 7.0, 100000.0}) {
                for (const bool amsgrad : {false, true}) {
                    for (const bool inside : {false, true}) {
                        std::vector<Operand> others{Operand::update, Operand::state,
                                                    Operand::state};
                        if (amsgrad) others.push_back(Operand::state);
                        const Attributes own{{"beta1", 0.9},
                                             {"beta2", 0.999},
                                             {"epsilon", 1e-8},
                                             {"amsgrad", amsgrad},
                                             {"epsilon_inside_root", inside}};
                        cases.push_back(update_case("adam_update", count, others,
                                                    merged(own, settings), step,
                                                    [amsgrad](std::vector<Buffer>& buffers) {
                                                        make_second_moment(buffers, 5, 4);
                                                        if (amsgrad) make_positive(buffers, 6);
                                                    }));
                    }
                }
            }
        }
    }
    return cases;
}

GRID(nadam_update) {
    std::vector<Case> cases;
    for (const std::int64_t count : kCounts) {
        for (const Attributes& settings : kSettings) {
            for (const double step : {0.0, 7.0, 100000.0}) {
                for (const char* variant : {"dozat", "pydtnn"}) {
                    const bool dozat = std::string(variant) == "dozat";
                    std::vector<Operand> others{Operand::update, Operand::state, Operand::state};
                    if (dozat) others.push_back(Operand::number);
                    const Attributes own{{"beta1", 0.9},
                                         {"beta2", 0.999},
                                         {"epsilon", 1e-8},
                                         {"epsilon_inside_root", !dozat},
                                         {"variant", std::string(variant)},
                                         {"momentum_decay", 0.004}};
                    cases.push_back(update_case("nadam_update", count, others,
                                                merged(own, settings), step,
                                                [dozat](std::vector<Buffer>& buffers) {
                                                    make_second_moment(buffers, 5, 4);
                                                    if (dozat) buffers[6].set(0, 0.4);
                                                }));
                }
            }
        }
    }
    return cases;
}

GRID(adagrad_update) {
    std::vector<Case> cases;
    for (const std::int64_t count : kCounts) {
        for (const Attributes& settings : kSettings) {
            for (const double decay : {0.0, 0.1}) {
                for (const bool inside : {false, true}) {
                    const Attributes own{{"epsilon", 1e-6},
                                         {"learning_rate_decay", decay},
                                         {"epsilon_inside_root", inside}};
                    cases.push_back(update_case(
                        "adagrad_update", count, {Operand::update, Operand::state},
                        merged(own, settings), 5,
                        [](std::vector<Buffer>& buffers) { make_positive(buffers, 4); }));
                }
            }
        }
    }
    return cases;
}

GRID(lars_update) {
    std::vector<Case> cases;
    for (const std::int64_t count : kCounts) {
        for (const Attributes& settings : kSettings) {
            if (settings.contains("decoupled_weight_decay")) continue;
            for (const bool adaptive : {false, true}) {
                for (const bool zero : {false, true}) {
                    const Attributes own{{"momentum", 0.9},
                                         {"trust_coefficient", 0.3},
                                         {"epsilon", 0.0},
                                         {"adaptive", adaptive}};
                    Case item = update_case(
                        "lars_update", count, {Operand::state}, merged(own, settings), 0,
                        [zero](std::vector<Buffer>& buffers) {
                            if (!zero) return;
                            for (std::int64_t i = 0; i < buffers[0].tensor().elements(); ++i)
                                buffers[0].set(i, 0);
                        });
                    cases.push_back(std::move(item));
                }
            }
        }
    }
    return cases;
}

GRID(lamb_update) {
    std::vector<Case> cases;
    for (const std::int64_t count : kCounts) {
        for (const Attributes& settings : kSettings) {
            if (settings.contains("decoupled_weight_decay")) continue;
            for (const bool adaptive : {false, true}) {
                const Attributes own{
                    {"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-6}, {"adaptive", adaptive}};
                cases.push_back(update_case(
                    "lamb_update", count, {Operand::update, Operand::state, Operand::state},
                    merged(own, settings), 4,
                    [](std::vector<Buffer>& buffers) { make_second_moment(buffers, 5, 4); }));
            }
        }
    }
    return cases;
}

GRID(gradient_square_sum) {
    std::vector<Case> cases;
    for (const std::int64_t count : {1, 5, 64, 1003, 9001, 70001}) {
        Case item;
        item.problem =
            problem("gradient_square_sum", {row_major({count})}, {row_major({}, DType::f64)});
        // The sum is in double in both types.
        item.f32_tolerance = item.f64_tolerance = 1e-12;
        cases.push_back(std::move(item));
    }
    return cases;
}

GRID(gradient_scale) {
    std::vector<Case> cases;
    for (const std::size_t count : {1, 3, 60}) {
        Case item;
        item.problem =
            problem("gradient_scale", std::vector<TensorType>(count, row_major({}, DType::f64)),
                    {row_major({})}, {{"clip_norm", 0.5}});
        item.f32_tolerance = 1e-6;
        item.f64_tolerance = 1e-14;
        cases.push_back(std::move(item));
    }
    const TensorType sum = row_major({}, DType::f64), shares = row_major({1});
    for (const Attributes& attributes :
         {Attributes{{"shared", true}}, Attributes{{"shared", true}, {"clip_norm", 0.5}}}) {
        Case item;
        std::vector<TensorType> sources{shares};
        if (attributes.contains("clip_norm")) sources.insert(sources.begin(), {sum, sum});
        item.problem = problem("gradient_scale", sources, {row_major({})}, attributes);
        item.f32_tolerance = 1e-6;
        item.f64_tolerance = 1e-14;
        cases.push_back(std::move(item));
    }
    // Behind a scaled loss, of which one has become infinite.
    for (const double square : {9.0, std::numeric_limits<double>::infinity()})
        for (const Attributes& attributes :
             {Attributes{{"loss_scaled", true}},
              Attributes{{"loss_scaled", true}, {"shared", true}, {"clip_norm", 0.5}}}) {
            Case item;
            std::vector<TensorType> sources{sum, sum, shares};
            if (attributes.contains("shared")) sources.push_back(shares);
            item.problem = problem("gradient_scale", sources, {row_major({})}, attributes);
            item.f32_tolerance = 1e-6;
            item.f64_tolerance = 1e-14;
            item.prepare = [=](std::vector<Buffer>& buffers) {
                buffers[0].set(0, square);
                buffers[1].set(0, 16);
                buffers.back().set(0, 256);
            };
            cases.push_back(std::move(item));
        }
    return cases;
}

GRID(adapt_loss_scale) {
    std::vector<Case> cases;
    const TensorType one = row_major({});
    const double none = std::numeric_limits<double>::quiet_NaN();
    struct Numbers {
        double scale, updates, factor;
    };
    for (const Numbers numbers :
         {Numbers{1024, 3, 0.5}, {1024, 4, 0.5}, {1024, 3, none}, {1, 0, none}, {16777216, 4, 1}}) {
        Case item;
        item.problem = problem("adapt_loss_scale", {one, one, one}, {one, one},
                               {{"growth_interval", std::int64_t{5}}});
        item.in_place = {{0, 0}, {1, 1}};
        item.prepare = [=](std::vector<Buffer>& buffers) {
            buffers[0].set(0, numbers.scale);
            buffers[1].set(0, numbers.updates);
            buffers[2].set(0, numbers.factor);
        };
        cases.push_back(std::move(item));
    }
    return cases;
}

GRID(accumulate_gradient) {
    std::vector<Case> cases;
    for (const std::int64_t count : kCounts) {
        const TensorType sum = row_major({count});
        Case item;
        item.problem = problem("accumulate_gradient", {sum, sum}, {sum});
        item.in_place = {{0, 0}};
        item.f32_tolerance = 1e-6;
        item.f64_tolerance = 1e-15;
        cases.push_back(std::move(item));
    }
    return cases;
}

GRID(take_gradient_sum) {
    std::vector<Case> cases;
    for (const std::int64_t count : kCounts) {
        const TensorType sum = row_major({count});
        Case item;
        item.problem = problem("take_gradient_sum", {sum, sum}, {sum, sum});
        item.in_place = {{0, 0}, {1, 1}};
        item.f32_tolerance = 1e-6;
        item.f64_tolerance = 1e-15;
        cases.push_back(std::move(item));
    }
    return cases;
}

GRID(weigh_gradient) {
    std::vector<Case> cases;
    for (const std::int64_t count : kCounts) {
        const TensorType diff = row_major({count});
        Case item;
        item.problem = problem("weigh_gradient", {diff, row_major({})}, {diff});
        item.in_place = {{0, 0}};
        item.f32_tolerance = 1e-6;
        item.f64_tolerance = 1e-15;
        cases.push_back(std::move(item));
    }
    return cases;
}

GRID(moving_average) {
    std::vector<Case> cases;
    for (const std::int64_t count : kCounts) {
        const TensorType average = row_major({count});
        Case item;
        item.problem = problem("moving_average", {average, average}, {average}, {{"decay", 0.99}});
        item.in_place = {{0, 0}};
        item.f32_tolerance = 1e-6;
        item.f64_tolerance = 1e-15;
        cases.push_back(std::move(item));
    }
    return cases;
}

}  // namespace dtnn::kernels::conformance
