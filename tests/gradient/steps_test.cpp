/// Windows over the steps of sequences and products of two sequences, through the passes of an
/// inference, beside their formulas as plain loops.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "tests/gradient/differences.hpp"
#include "tests/gradient/interpreter.hpp"
#include "tests/graphs/parser.hpp"

namespace steps_test {

using namespace dtnn;
using namespace dtnn::compiler;
using dtnn::tests::Interpreter;
using dtnn::tests::Kernels;

namespace {

using Numbers = std::vector<double>;

/// [samples, steps, features]
struct Sequence {
    std::int64_t samples, steps, features;
    Numbers numbers;

    Sequence(std::int64_t n, std::int64_t t, std::int64_t f)
        : samples(n), steps(t), features(f), numbers(std::size_t(n * t * f)) {}
    double& at(std::int64_t n, std::int64_t t, std::int64_t f) {
        return numbers[std::size_t((n * steps + t) * features + f)];
    }
    double at(std::int64_t n, std::int64_t t, std::int64_t f) const {
        return numbers[std::size_t((n * steps + t) * features + f)];
    }
};

Sequence sequence(std::int64_t n, std::int64_t t, std::int64_t f, unsigned seed) {
    Sequence made(n, t, f);
    made.numbers =
        dtnn::tests::spaced_numbers(made.numbers.size(), 2.0 / double(made.numbers.size()), seed);
    return made;
}

struct StepWindows {
    std::int64_t kernel = 1, stride = 1, dilation = 1, before = 0, behind = 0;

    std::int64_t results(std::int64_t steps) const {
        std::int64_t count = 0;
        // The last step of a window is within the padding.
        while (count * stride - before + dilation * (kernel - 1) < steps + behind)
            ++count;
        return count;
    }
    /// The step that place k of window t has; nothing: padding.
    std::optional<std::int64_t> step(std::int64_t t, std::int64_t k, std::int64_t steps) const {
        const std::int64_t at = t * stride + k * dilation - before;
        return at >= 0 && at < steps ? std::optional(at) : std::nullopt;
    }
};

/// weights [filters, features/groups, kernel].
Sequence convolved(const Sequence& x, const Numbers& weights, const Numbers& bias,
                   std::int64_t filters, std::int64_t groups, const StepWindows& w) {
    Sequence y(x.samples, w.results(x.steps), filters);
    const std::int64_t each = x.features / groups;
    for (std::int64_t n = 0; n < y.samples; ++n)
        for (std::int64_t t = 0; t < y.steps; ++t)
            for (std::int64_t f = 0; f < filters; ++f) {
                double sum = bias.empty() ? 0 : bias[std::size_t(f)];
                for (std::int64_t c = 0; c < each; ++c)
                    for (std::int64_t k = 0; k < w.kernel; ++k)
                        if (const auto step = w.step(t, k, x.steps))
                            sum += x.at(n, *step, f / (filters / groups) * each + c) *
                                   weights[std::size_t((f * each + c) * w.kernel + k)];
                y.at(n, t, f) = sum;
            }
    return y;
}

enum class Pool { largest, mean, mean_of_all };

Sequence pooled(const Sequence& x, Pool pool, const StepWindows& w) {
    Sequence y(x.samples, w.results(x.steps), x.features);
    for (std::int64_t n = 0; n < y.samples; ++n)
        for (std::int64_t t = 0; t < y.steps; ++t)
            for (std::int64_t f = 0; f < y.features; ++f) {
                double sum = 0, largest = -std::numeric_limits<double>::infinity();
                std::int64_t count = 0;
                for (std::int64_t k = 0; k < w.kernel; ++k)
                    if (const auto step = w.step(t, k, x.steps)) {
                        sum += x.at(n, *step, f);
                        largest = std::max(largest, x.at(n, *step, f));
                        ++count;
                    }
                y.at(n, t, f) = pool == Pool::largest ? largest
                                : pool == Pool::mean  ? sum / double(count)
                                                      : sum / double(w.kernel);
            }
    return y;
}

/// The graph's result `y`, by inputs and parameters by name; each has the numbers of its own type,
/// row by row.
void check(const std::string& text, const std::map<std::string, Numbers>& given,
           const Sequence& wanted) {
    CAPTURE(text);
    for (const bool optional_passes : {true, false}) {
        PassContext context;
        context.program = dtnn::plan::ProgramKind::predict;
        PipelineOptions options;
        if (!optional_passes)
            for (const PassInfo& pass : all_passes())
                if (pass.optional) options.disabled.insert(std::string(pass.name));
        const Graph graph = run_pipeline(parse_graph(text, infer_types), context, options);
        for (const Kernels kernels : {Kernels::reference, Kernels::first}) {
            Interpreter run(graph, kernels);
            for (const ValueId id : graph.inputs)
                run.set(id, given.at(graph.value(id).name));
            for (const Parameter& parameter : graph.parameters)
                run.set(parameter.value, given.at(parameter.name));
            run.run();
            const Numbers got = run.get(graph.outputs[0].value);
            REQUIRE(got.size() == wanted.numbers.size());
            for (std::size_t i = 0; i < got.size(); ++i) {
                CAPTURE(i);
                CHECK(got[i] == doctest::Approx(wanted.numbers[i]).epsilon(1e-12));
            }
        }
    }
}

}  // namespace

TEST_CASE("convolutions along steps are their formula") {
    struct Case {
        std::int64_t steps, features, filters, groups;
        StepWindows windows;
        const char* padding;
    };
    const Case cases[] = {
        {7, 3, 4, 1, {3, 1, 1, 0, 0}, "valid"},     {7, 3, 4, 1, {3, 1, 1, 1, 1}, "same"},
        {8, 2, 5, 1, {4, 1, 1, 1, 2}, "same"},      {9, 2, 3, 1, {3, 2, 1, 1, 1}, "same"},
        {10, 4, 6, 2, {3, 3, 2, 0, 0}, "valid"},    {6, 3, 2, 1, {3, 1, 2, 4, 0}, "causal"},
        {6, 3, 2, 1, {2, 2, 3, 3, 0}, "causal"},    {5, 2, 3, 1, {3, 1, 1, 2, 1}, "[2,1]"},
        {40, 17, 33, 1, {5, 1, 1, 4, 0}, "causal"}, {64, 16, 16, 1, {3, 1, 8, 8, 8}, "same"},
        {1, 3, 4, 1, {2, 1, 1, 1, 0}, "causal"},    {12, 6, 6, 3, {1, 1, 1, 0, 0}, "valid"},
        {30, 8, 8, 1, {7, 2, 1, 3, 3}, "[3,3]"},
    };
    for (const Case& c : cases) {
        const StepWindows& w = c.windows;
        const Sequence x = sequence(2, c.steps, c.features, 3);
        const std::int64_t each = c.features / c.groups;
        const Numbers weights = dtnn::tests::spaced_numbers(
            std::size_t(c.filters * each * w.kernel), 2.0 / double(c.filters * each * w.kernel), 5);
        const Numbers bias = dtnn::tests::spaced_numbers(std::size_t(c.filters), 0.3, 7);
        check(fmt::format("graph @g(%x: f64[2,{},{}], @w: f64[{},{},1,{}] of [{},{},{}], @b: "
                          "f64[{}]) {{ %y = conv1d(%x, @w, @b) {{bias=true, stride={}, "
                          "dilation={}, groups={}, padding={}}} return predictions=%y }}",
                          c.steps, c.features, c.filters, each, w.kernel, c.filters, each, w.kernel,
                          c.filters, w.stride, w.dilation, c.groups, c.padding),
              {{"x", x.numbers}, {"w", weights}, {"b", bias}},
              convolved(x, weights, bias, c.filters, c.groups, w));
    }
}

TEST_CASE("convolutions of each feature are their formula") {
    for (const std::int64_t multiplier : {1, 3}) {
        const StepWindows w{3, 1, 2, 4, 0};
        const Sequence x = sequence(2, 11, 5, 3);
        const std::int64_t filters = 5 * multiplier;
        const Numbers weights = dtnn::tests::spaced_numbers(std::size_t(filters * 3), 0.05, 5);
        check(fmt::format("graph @g(%x: f64[2,11,5], @w: f64[{},1,1,3] of [{},1,3]) {{ %y = "
                          "depthwise_conv1d(%x, @w) {{dilation=2, padding=causal}} return "
                          "predictions=%y }}",
                          filters, filters),
              {{"x", x.numbers}, {"w", weights}}, convolved(x, weights, {}, filters, 5, w));
    }
}

TEST_CASE("a convolution, its batch norm, an activation and what it read are their formulas") {
    const StepWindows w{3, 1, 1, 1, 1};
    const Sequence x = sequence(2, 9, 4, 3);
    const Numbers weights = dtnn::tests::spaced_numbers(4 * 4 * 3, 0.04, 5);
    const Numbers gamma{1.5, -0.5, 2, 1}, beta{0.1, 0.2, -0.3, 0}, mean{0.2, 0, -0.1, 0.3},
        variance{0.5, 1, 2, 0.25};
    Sequence y = convolved(x, weights, {}, 4, 1, w);
    for (std::int64_t n = 0; n < 2; ++n)
        for (std::int64_t t = 0; t < 9; ++t)
            for (std::int64_t f = 0; f < 4; ++f) {
                const auto at = std::size_t(f);
                const double normal =
                    (y.at(n, t, f) - mean[at]) / std::sqrt(variance[at] + 1e-5) * gamma[at] +
                    beta[at];
                y.at(n, t, f) = std::max(normal + x.at(n, t, f), 0.0);
            }
    check(
        "graph @g(%x: f64[2,9,4], @w: f64[4,4,1,3] of [4,4,3], @g: f64[4], @b: f64[4], @m: "
        "f64[4] frozen, @v: f64[4] frozen) { %c = conv1d(%x, @w) {padding=same} %n = "
        "batch_norm(%c, @g, @b, @m, @v) %s = add(%n, %x) %y = relu(%s) return predictions=%y }",
        {{"x", x.numbers}, {"w", weights}, {"g", gamma}, {"b", beta}, {"m", mean}, {"v", variance}},
        y);
}

TEST_CASE("pools along steps are their formula") {
    const Sequence x = sequence(2, 10, 5, 3);
    const auto of = [&](const char* layer) {
        return fmt::format("graph @g(%x: f64[2,10,5]) {{ %y = {} return predictions=%y }}", layer);
    };
    const std::map<std::string, Numbers> given{{"x", x.numbers}};
    check(of("max_pool1d(%x) {kernel=3}"), given, pooled(x, Pool::largest, {3, 3, 1, 0, 0}));
    check(of("max_pool1d(%x) {kernel=3, stride=2, padding=same, dilation=2}"), given,
          pooled(x, Pool::largest, {3, 2, 2, 1, 2}));
    check(of("max_pool1d(%x) {kernel=4, stride=1, padding=causal}"), given,
          pooled(x, Pool::largest, {4, 1, 1, 3, 0}));
    check(of("avg_pool1d(%x) {kernel=2}"), given, pooled(x, Pool::mean, {2, 2, 1, 0, 0}));
    check(of("avg_pool1d(%x) {kernel=3, stride=2, padding=[1,1]}"), given,
          pooled(x, Pool::mean, {3, 2, 1, 1, 1}));
    check(of("avg_pool1d(%x) {kernel=3, stride=1, padding=[2,1], count_include_pad=true}"), given,
          pooled(x, Pool::mean_of_all, {3, 1, 1, 2, 1}));
    check(of("global_max_pool1d(%x)"), given, pooled(x, Pool::largest, {10, 10, 1, 0, 0}));
    const Sequence many = sequence(1, 300, 3, 3);
    check("graph @g(%x: f64[1,300,3]) { %y = global_max_pool1d(%x) return predictions=%y }",
          {{"x", many.numbers}}, pooled(many, Pool::largest, {300, 300, 1, 0, 0}));
}

TEST_CASE("products of two sequences are their formula") {
    for (const bool first : {false, true})
        for (const bool second : {false, true}) {
            const Sequence a = first ? sequence(2, 6, 5, 3) : sequence(2, 5, 6, 3);
            const Sequence b = second ? sequence(2, 7, 6, 5) : sequence(2, 6, 7, 5);
            Sequence y(2, 5, 7);
            for (std::int64_t n = 0; n < 2; ++n)
                for (std::int64_t i = 0; i < 5; ++i)
                    for (std::int64_t j = 0; j < 7; ++j)
                        for (std::int64_t k = 0; k < 6; ++k)
                            y.at(n, i, j) += 0.25 * (first ? a.at(n, k, i) : a.at(n, i, k)) *
                                             (second ? b.at(n, j, k) : b.at(n, k, j));
            check(fmt::format("graph @g(%a: f64[2,{},{}], %b: f64[2,{},{}]) {{ %y = matmul(%a, %b) "
                              "{{transpose_first={}, transpose_second={}, scale=0.25}} return "
                              "predictions=%y }}",
                              a.steps, a.features, b.steps, b.features, first, second),
                  {{"a", a.numbers}, {"b", b.numbers}}, y);
        }
}

}  // namespace steps_test
