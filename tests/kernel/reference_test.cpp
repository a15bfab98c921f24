// The reference kernels are what every other kernel is measured by; here they are measured by hand.

#include <doctest/doctest.h>

#include <cmath>

#include "kernels/arguments/elementwise.hpp"
#include "kernels/layout.hpp"
#include "kernels/philox.hpp"
#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance::reference_test {
namespace {

TensorType f64(Dims dims) {
    return row_major(std::move(dims), DType::f64);
}

/// Runs the reference in double; `values` fill the sources element by element.
std::vector<std::vector<double>> compute(Problem problem, std::vector<std::vector<double>> values) {
    problem.dtype = DType::f64;
    std::vector<Buffer> sources, destinations;
    for (std::size_t s = 0; s < values.size(); ++s) {
        sources.emplace_back(problem.sources[s]);
        for (std::size_t i = 0; i < values[s].size(); ++i) {
            sources[s].set(std::int64_t(i), values[s][i]);
        }
    }
    for (const TensorType& tensor : problem.destinations)
        destinations.emplace_back(tensor);
    run_reference(problem, sources, destinations);
    std::vector<std::vector<double>> results;
    for (Buffer& destination : destinations) {
        results.emplace_back();
        for (std::int64_t i = 0; i < destination.tensor().elements(); ++i) {
            results.back().push_back(destination.get(i));
        }
    }
    return results;
}

using Pair = std::vector<std::int64_t>;
using Values = std::vector<double>;

TEST_CASE("max pooling takes the first largest and leaves padding out") {
    const Attributes attributes{{"kernel", Pair{2, 2}},
                                {"stride", Pair{2, 2}},
                                {"padding", Pair{1, 0, 0, 0}},
                                {"indices", true}};
    const auto results =
        compute(problem("max_pool2d", {f64({1, 1, 3, 4})},
                        {f64({1, 1, 2, 2}), row_major({1, 1, 2, 2}, DType::u8)}, attributes),
                {{-1, -2, -3, -3,  //
                  5, 7, 1, 9,      //
                  7, 7, 9, 9}});
    CHECK(results[0] == Values{-1, -3, 7, 9});
    // The first row of windows begins in the padding: its cells are the second row of the window.
    CHECK(results[1] == Values{2, 2, 1, 1});
}

TEST_CASE("average pooling divides by the cells that exist") {
    const auto results = compute(
        problem("avg_pool2d", {f64({1, 1, 2, 2})}, {f64({1, 1, 2, 2})},
                {{"kernel", Pair{2, 2}}, {"stride", Pair{1, 1}}, {"padding", Pair{1, 0, 1, 0}}}),
        {{1, 2, 3, 6}});
    CHECK(results[0] == Values{1, 1.5, 2, 3});
    const auto counted = compute(problem("avg_pool2d", {f64({1, 1, 2, 2})}, {f64({1, 1, 2, 2})},
                                         {{"kernel", Pair{2, 2}},
                                          {"stride", Pair{1, 1}},
                                          {"padding", Pair{1, 0, 1, 0}},
                                          {"count_include_pad", true}}),
                                 {{1, 2, 3, 6}});
    CHECK(counted[0] == Values{0.25, 0.75, 1, 3});
}

TEST_CASE("batch norm of two samples") {
    const TensorType matrix = f64({2, 1}), one = f64({1});
    const auto results =
        compute(problem("batch_norm_training", {matrix, one, one, one, one},
                        {matrix, one, one, one, one}, {{"epsilon", 0.0}, {"momentum", 0.75}}),
                {{1, 5}, {3}, {10}, {4}, {8}});
    CHECK(results[0] == Values{7, 13});  // mean 3, biased variance 4
    CHECK(results[1] == Values{3});
    CHECK(results[2] == Values{0.5});
    CHECK(results[3] == Values{3.75});
    CHECK(results[4] == Values{7});
}

TEST_CASE("the cross entropy of equal logits is the logarithm of the classes") {
    const TensorType matrix = f64({2, 4});
    const auto results = compute(
        problem("softmax_cross_entropy", {matrix, row_major({2}, DType::i32)}, {f64({}), matrix}),
        {Values(8, 1000.0), {3, 0}});
    CHECK(results[0][0] == doctest::Approx(std::log(4.0)));
    CHECK(results[1] == Values(8, 0.25));
}

TEST_CASE("accuracy counts the first largest only") {
    const auto results = compute(
        problem("categorical_accuracy", {f64({4, 2}), row_major({4}, DType::i32)}, {f64({})}),
        {{1, 1, 2, 2, 0, 1, 1, 0}, {0, 1, 1, 1}});
    CHECK(results[0] == Values{2});
}

TEST_CASE("the first step of adam is the learning rate, whatever the gradient") {
    const TensorType w = f64({2}), one = f64({});
    const auto results = compute(
        problem("adam_update", {w, w, one, row_major({}, DType::i64), w, w}, {w, w, w},
                {{"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 0.0}, {"weight_decay", 0.0}}),
        {{1, 1}, {0.001, -50}, {0.01}, {0}, {0, 0}, {0, 0}});
    CHECK(results[0][0] == doctest::Approx(0.99));
    CHECK(results[0][1] == doctest::Approx(1.01));
}

TEST_CASE("two steps of sgd with momentum, plain and nesterov") {
    const TensorType w = f64({1}), one = f64({});
    for (const bool nesterov : {false, true}) {
        const Problem step =
            problem("sgd_update", {w, w, one, w}, {w, w},
                    {{"momentum", 0.5}, {"nesterov", nesterov}, {"weight_decay", 0.0}});
        const auto first = compute(step, {{1}, {2}, {0.1}, {0}});
        CHECK(first[1] == Values{2});
        CHECK(first[0][0] == doctest::Approx(nesterov ? 0.7 : 0.8));
        const auto second = compute(step, {first[0], {2}, {0.1}, first[1]});
        CHECK(second[1] == Values{3});
        CHECK(second[0][0] == doctest::Approx(nesterov ? 0.35 : 0.5));
    }
}

TEST_CASE("a convolution with batch norm folded into it") {
    const TensorType weights = f64({2, 1, 1, 1}), channel = f64({2});
    const auto results =
        compute(problem("fold_batch_norm", {weights, channel, channel, channel, channel, channel},
                        {weights, channel}, {{"epsilon", 0.0}, {"bias", true}}),
                {{2, 3}, {1, 4}, {10, 20}, {5, 6}, {4, 16}, {1, 2}});
    CHECK(results[0] == Values{1, 3});
    CHECK(results[1] == Values{8, 16});
}

TEST_CASE("flatten of an image stored channels last is in the order of channels, rows, columns") {
    TensorType image = tensor({1, 2, 1, 3}, DType::f64);
    const auto results =
        compute(problem("flatten", {image}, {f64({1, 6})}), {{1, 10, 2, 20, 3, 30}});
    CHECK(results[0] == Values{1, 2, 3, 10, 20, 30});
}

/// Words by hand from the published generator: the sequence (key_of(seed, dropout, stream), epoch),
/// word p * E + e for element e of the sample at place p.
TEST_CASE("what a sample drops depends on its place in the epoch, not on the batch it is in") {
    const TensorType six = f64({6, 3}), two = f64({2, 3}), position = row_major({2}, DType::i64);
    const Attributes attributes = {
        {"rate", 0.5}, {"seed", std::int64_t(9)}, {"stream", std::int64_t(4)}};
    const std::uint64_t key = philox::key_of(9, philox::Purpose::dropout, 4);
    Values expected;
    for (std::uint64_t word = 30; word < 48; ++word)  // places 10 to 15 of epoch 3
        expected.push_back(philox::word(key, 3, word) >= 0x80000000u ? 2.0 : 0.0);
    const auto whole = compute(problem("dropout_apply", {six, position}, {six}, attributes),
                               {Values(18, 1.0), {3, 10}})[0];
    CHECK(whole == expected);
    CHECK(whole == Values{0, 0, 2, 2, 2, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 0, 2, 2});
    Values parts;
    for (const double place : {10.0, 12.0, 14.0}) {
        const Values part = compute(problem("dropout_apply", {two, position}, {two}, attributes),
                                    {Values(6, 1.0), {3, place}})[0];
        parts.insert(parts.end(), part.begin(), part.end());
    }
    CHECK(parts == whole);
    CHECK(compute(problem("dropout_apply", {six, position}, {six}, attributes),
                  {Values(18, 1.0), {4, 10}})[0] != whole);
}

TEST_CASE("whole channels are dropped by the place of their sample") {
    const TensorType four = f64({4, 3, 2, 1}), one = f64({1, 3, 2, 1});
    const TensorType position = row_major({2}, DType::i64);
    const Attributes attributes = {
        {"rate", 0.5}, {"seed", std::int64_t(9)}, {"stream", std::int64_t(4)}};
    const auto whole =
        compute(problem("spatial_dropout2d_apply", {four, position}, {four}, attributes),
                {Values(24, 1.0), {3, 10}})[0];
    Values parts;
    for (const double place : {10.0, 11.0, 12.0, 13.0}) {
        const Values part =
            compute(problem("spatial_dropout2d_apply", {one, position}, {one}, attributes),
                    {Values(6, 1.0), {3, place}})[0];
        parts.insert(parts.end(), part.begin(), part.end());
    }
    CHECK(parts == whole);
    const std::uint64_t key = philox::key_of(9, philox::Purpose::dropout, 4);
    for (std::uint64_t channel = 0; channel < 12; ++channel)
        CHECK((whole[2 * channel] != 0) == (philox::word(key, 3, 30 + channel) >= 0x80000000u));
}

TEST_CASE("dropout keeps about what the rate says, and its gradient the same elements") {
    const TensorType x = f64({10000});
    const Problem apply =
        problem("dropout_apply", {x, row_major({2}, DType::i64)}, {x},
                {{"rate", 0.25}, {"seed", std::int64_t(5)}, {"stream", std::int64_t(0)}});
    const auto forward = compute(apply, {Values(10000, 3.0), {7, 0}});
    const auto backward = compute(apply, {Values(10000, 1.0), {7, 0}});
    const auto later = compute(apply, {Values(10000, 3.0), {8, 0}});
    int kept = 0, same = 0;
    for (std::size_t i = 0; i < 10000; ++i) {
        if (forward[0][i] != 0) {
            ++kept;
            REQUIRE(forward[0][i] == doctest::Approx(4.0));
        }
        REQUIRE((forward[0][i] == 0) == (backward[0][i] == 0));
        if ((forward[0][i] == 0) == (later[0][i] == 0)) ++same;
    }
    CHECK(std::abs(kept - 7500) < 200);  // the standard deviation is 43
    CHECK(same < 7000);                  // 0.75^2 + 0.25^2 of them agree by chance
}

TEST_CASE("a problem that a kernel does not do is refused with a reason, and not bound") {
    const KernelInfo* fast = find_kernel("max_pool2d", "channels_last");
    REQUIRE(fast != nullptr);
    Problem other = problem("max_pool2d", {row_major({1, 2, 4, 4})}, {row_major({1, 2, 2, 2})},
                            {{"kernel", Pair{2, 2}}, {"stride", Pair{2, 2}}});
    CHECK(refusal(*fast, other).value_or("") == "source 0 is not stored channels last");
    other.dtype = DType::i32;
    CHECK(refusal(*fast, other).value_or("") == "it has no version for i32");
    other.op = "avg_pool2d";
    CHECK(refusal(*fast, other).value_or("") == "it computes max_pool2d, not avg_pool2d");
    CHECK(kernels::bind(*fast, other, {}, {}, {}) == nullptr);
    CHECK(find_kernel("max_pool2d", "no_such_kernel") == nullptr);
    CHECK(kernels_of("no_such_operator").empty());
}

TEST_CASE("strict numerics do without kernels that transform") {
    int transforming = 0;
    Problem item =
        problem("conv2d", {tensor({8, 64, 16, 16}), {DType::f32, {64, 64, 3, 3}, {2, 3, 1, 0}}},
                {tensor({8, 64, 16, 16})},
                {{"stride", Pair{1, 1}},
                 {"padding", std::vector<std::int64_t>(4, 1)},
                 {"dilation", Pair{1, 1}},
                 {"groups", std::int64_t(1)}});
    for (const KernelInfo& kernel : kernels_of("conv2d")) {
        if (!kernel.transforms) continue;
        ++transforming;
        item.strict = false;
        CHECK(refusal(kernel, item) == std::nullopt);
        item.strict = true;
        CHECK(refusal(kernel, item).value_or("") ==
              "`numerics: strict` asks for sums of the products themselves");
    }
    CHECK(transforming > 0);
}

TEST_CASE("a missing attribute is named, not replaced") {
    const TensorType x = row_major({1, 4, 2, 2});
    const Attributes all{{"size", std::int64_t(5)}, {"alpha", 1e-4}, {"beta", 0.75}, {"k", 1.0}};
    for (const auto& [name, value] : all) {
        Problem item = problem("local_response_norm", {x}, {x}, all);
        item.attributes.erase(name);
        const std::string mistake = "local_response_norm lacks its attribute `" + name + "`";
        std::vector<float> numbers(16);
        const void* const from = numbers.data();
        void* const to = numbers.data();
        CHECK_THROWS_WITH_AS(
            kernels::bind(*find_kernel(item.op, "reference"), item, {&from, 1}, {&to, 1}, {}),
            mistake.c_str(), MissingAttribute);
        if (name == "size") CHECK(operand_mistake(item) == mistake);
    }
}

TEST_CASE("instruction sets are read as they are written") {
    for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
        Isa read = Isa::baseline;
        CHECK(parse_name(name_of(isa), read));
        CHECK(read == isa);
    }
    Isa read = Isa::avx2;
    CHECK_FALSE(parse_name("sse9", read));
}

}  // namespace
}  // namespace dtnn::kernels::conformance::reference_test
