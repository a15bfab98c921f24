/// First values: every kind of initializer over the shapes of layers, in every arrangement.

#include "runtime/train/initialize.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/thread_team.hpp"
#include "plan/initializer.hpp"
#include "runtime/base/arrangement.hpp"
#include "runtime/base/run_error.hpp"
#include "tests/unit/runtime/expect_error.hpp"

namespace dtnn::runtime::initialize_test {
namespace {

plan::Parameter parameter_of(const Dims& dims, const std::string& kind, Attributes numbers = {},
                             Order order = {}) {
    plan::Parameter parameter;
    parameter.name = "layer.weights";
    parameter.dtype = DType::f64;
    parameter.dims = parameter.physical_dims = dims;
    parameter.order = std::move(order);
    parameter.initializer = {kind, 30, 20, 5, std::move(numbers)};
    return parameter;
}

/// By logical index.
std::vector<double> values_of(const plan::Parameter& parameter, int threads = 1) {
    const std::int64_t elements = element_count(parameter.dims);
    kernels::ThreadTeam team(threads);
    std::vector<double> values(static_cast<std::size_t>(elements));
    const Arrangement arrangement(parameter.physical_dims, parameter.order);
    const auto read = [&](auto zero) {
        std::vector<decltype(zero)> stored(static_cast<std::size_t>(elements));
        make_values(parameter, 3, reinterpret_cast<std::byte*>(stored.data()), team);
        arrangement.for_each(0, elements, [&](std::int64_t i, std::int64_t place) {
            values[std::size_t(i)] = stored[std::size_t(place)];
        });
    };
    if (parameter.dtype == DType::f32)
        read(float());
    else
        read(double());
    return values;
}

struct Moments {
    double mean = 0, variance = 0, least = INFINITY, most = -INFINITY;
};

Moments moments_of(const std::vector<double>& values) {
    Moments m;
    for (const double value : values) {
        m.mean += value / double(values.size());
        m.least = std::min(m.least, value);
        m.most = std::max(m.most, value);
    }
    for (const double value : values)
        m.variance += (value - m.mean) * (value - m.mean) / double(values.size());
    return m;
}

/// The largest distance of rows times rows (or columns times columns) from gain^2 times identity.
double distance_from_orthogonal(const std::vector<double>& values, std::int64_t rows,
                                std::int64_t columns, double gain) {
    const bool by_rows = rows <= columns;
    const std::int64_t count = std::min(rows, columns), length = std::max(rows, columns);
    double largest = 0;
    for (std::int64_t a = 0; a < count; ++a)
        for (std::int64_t b = 0; b < count; ++b) {
            double sum = 0;
            for (std::int64_t k = 0; k < length; ++k)
                sum += by_rows ? values[std::size_t(a * columns + k)] *
                                     values[std::size_t(b * columns + k)]
                               : values[std::size_t(k * columns + a)] *
                                     values[std::size_t(k * columns + b)];
            largest = std::max(largest, std::fabs(sum - (a == b ? gain * gain : 0)));
        }
    return largest;
}

}  // namespace

TEST_CASE("distributions have their mean, variance and bounds") {
    struct Case {
        const char* kind;
        Attributes numbers;
        double mean, variance, least, most;
    };
    // The variance of a normal number cut off at two standard deviations is
    // 1 - 4 phi(2) / (2 Phi(2) - 1).
    const double cut = 0.87962566103423978 * 0.87962566103423978;
    const Case cases[] = {
        {"normal",
         {{"mean", 0.5}, {"deviation", 0.25}},
         0.5,
         0.0625,
         0.5 - 6.4 * 0.25,
         0.5 + 6.4 * 0.25},
        {"truncated_normal", {{"mean", -1.0}, {"deviation", 2.0}}, -1, 4 * cut, -5, 3},
        {"uniform", {{"low", -1.0}, {"high", 3.0}}, 1, 16.0 / 12, -1, 3},
    };
    // A convolution, a grouped one, a dense layer.
    for (const Dims& dims : {Dims{128, 64, 3, 3}, {256, 16, 5, 5}, {500, 300}}) {
        const double count = double(element_count(dims));
        for (const Case& test : cases) {
            CAPTURE(test.kind);
            const Moments m = moments_of(values_of(parameter_of(dims, test.kind, test.numbers)));
            CHECK(std::fabs(m.mean - test.mean) < 5 * std::sqrt(test.variance / count));
            CHECK(m.variance == doctest::Approx(test.variance).epsilon(0.02));
            CHECK(m.least >= test.least);
            CHECK(m.most <= test.most);
        }
        // The cut is used to its end, and the plain normal numbers go beyond it.
        const Moments plain = moments_of(
            values_of(parameter_of(dims, "normal", {{"mean", 0.0}, {"deviation", 1.0}})));
        CHECK(plain.most > 3.5);
        CHECK(plain.least < -3.5);
    }
    CHECK(values_of(parameter_of({3}, "constant", {{"value", -0.25}})) ==
          std::vector<double>{-0.25, -0.25, -0.25});
}

TEST_CASE("a value depends on its logical place, not on how it is stored") {
    for (const plan::InitializerKind& kind : plan::initializer_kinds()) {
        CAPTURE(kind.name);
        Attributes numbers;
        for (const std::string_view name : kind.numbers)
            numbers[std::string(name)] = name == "low" ? -0.5 : 0.5;
        const Dims dims{8, 5, 3, 7};
        const auto wanted = values_of(parameter_of(dims, std::string(kind.name), numbers));
        for (const Order& order : {Order{2, 3, 1, 0}, {0, 2, 3, 1}, {1, 2, 0, 3}, {3, 2, 1, 0}}) {
            auto stored = parameter_of(dims, std::string(kind.name), numbers, order);
            CHECK(values_of(stored) == wanted);
            CHECK(values_of(stored, 3) == wanted);
            stored.dtype = DType::f32;
            const auto rounded = values_of(stored);
            for (std::size_t i = 0; i < wanted.size(); ++i)
                CHECK(rounded[i] == double(float(wanted[i])));
        }
        // A dense layer's matrix as it is, and over the image that its flatten was absorbed from.
        const auto matrix = values_of(parameter_of({105, 8}, std::string(kind.name), numbers));
        auto absorbed = parameter_of({105, 8}, std::string(kind.name), numbers, {1, 2, 0, 3});
        absorbed.physical_dims = {5, 3, 7, 8};
        CHECK(values_of(absorbed) == matrix);
    }
}

TEST_CASE("orthogonal matrices are, by rows or by columns") {
    for (const double gain : {1.0, 1.5})
        for (const Dims& dims : {Dims{64, 16, 3, 3},
                                 {64, 4, 3, 3},
                                 {32, 32},
                                 {200, 30},
                                 {30, 200},
                                 {1, 9},
                                 {9, 1},
                                 {6}}) {
            CAPTURE(dims.size());
            const auto values = values_of(parameter_of(dims, "orthogonal", {{"gain", gain}}), 2);
            const std::int64_t rows = dims[0], columns = element_count(dims) / rows;
            CHECK(distance_from_orthogonal(values, rows, columns, gain) < 1e-12);
        }
    // Q of a matrix of random signs has them too: no entry is always positive.
    int positive = 0;
    for (std::int64_t stream = 0; stream < 200; ++stream) {
        auto parameter = parameter_of({4, 4}, "orthogonal", {{"gain", 1.0}});
        parameter.initializer.stream = stream;
        positive += values_of(parameter)[0] > 0;
    }
    CHECK(positive > 60);
    CHECK(positive < 140);
}

TEST_CASE("an initializer that cannot be used is refused") {
    auto parameter = parameter_of({4}, "normal", {{"mean", 0.0}});
    expect_error(Exit::mismatch, {"cannot be initialised", "deviation"},
                 [&] { values_of(parameter); });
    parameter.initializer.kind = "sparkles";
    expect_error(Exit::mismatch, {"cannot be initialised", "sparkles"},
                 [&] { values_of(parameter); });
}

TEST_CASE("normal numbers are right far out") {
    for (const double p : {1.2e-10, 1e-6, 1e-3, 0.999, 1 - 1e-6})
        CHECK(0.5 * std::erfc(-inverse_normal(p) / std::sqrt(2.0)) ==
              doctest::Approx(p).epsilon(1e-12));
}

}  // namespace dtnn::runtime::initialize_test
