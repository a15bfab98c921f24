/// The functions of vectors that interpreter and generated code share, against the C library's in
/// more digits, over the numbers of float: every 4099th, with DTNN_ALL_FLOATS=1 each of them.

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>

#include "kernels/dispatch.hpp"
#include "kernels/thread_team.hpp"
#include "tests/codegen/random_loops.hpp"

namespace dtnn::codegen_test::vector_functions_test {

using namespace kernels;

namespace {

struct Function {
    const char* name;
    long double (*exact)(long double);
    double most;  ///< units in the last place
};

constexpr Function kFunctions[] = {
    {"exp", [](long double x) { return std::exp(x); }, 1},
    {"log", [](long double x) { return std::log(x); }, 2},
    {"tanh", [](long double x) { return std::tanh(x); }, 2},
    {"sigmoid",
     [](long double x) {
         const long double growth = std::exp(-x);
         return std::isinf(float(growth)) ? 0 : 1 / (1 + growth);
     },
     2.5},
    {"erf", [](long double x) { return std::erf(x); }, 2},
    {"expm1", [](long double x) { return std::expm1(x); }, 2},
    {"log1p", [](long double x) { return std::log1p(x); }, 3},
    {"atanh", [](long double x) { return std::atanh(x); }, 4},
    {"sqrt", [](long double x) { return std::sqrt(x); }, 0.501},
    {"floor", [](long double x) { return std::floor(x); }, 0},
};

/// The distance to the next float, of subnormal numbers that of the least.
double unit_of(float number) {
    using Limits = std::numeric_limits<float>;
    const float size = std::fabs(number);
    if (size < Limits::min()) return double(Limits::denorm_min());
    return std::ldexp(1.0, std::ilogb(size) - 23);
}

/// In units in the last place; infinite where one is not-a-number or infinite and the other is not.
double error_of(float got, long double exact) {
    const auto rounded = float(exact);
    if (std::isnan(got) || std::isnan(rounded))
        return std::isnan(got) && std::isnan(rounded) ? 0 : INFINITY;
    if (std::isinf(got) || std::isinf(rounded)) return got == rounded ? 0 : INFINITY;
    return double(std::fabs((long double)got - exact)) / unit_of(rounded);
}

/// The kernel's values of the expression `x0 NAME`.
void run(const Function& function, Isa isa, std::span<const float> from, std::span<float> to) {
    Problem problem;
    problem.op = "elementwise";
    problem.isa = isa;
    problem.sources = problem.destinations = {{DType::f32, {std::int64_t(from.size())}, {}}};
    problem.attributes["expression"] = std::string("x0 ") + function.name;
    const void* sources[] = {from.data()};
    void* destinations[] = {to.data()};
    const auto bound =
        bind(*find_kernel("elementwise", "chunked"), problem, sources, destinations, {});
    REQUIRE(bound != nullptr);
    ThreadTeam team(1);
    bound->run(team);
}

}  // namespace

TEST_CASE("functions of vectors are as near to the exact value as is said") {
    const bool all = std::getenv("DTNN_ALL_FLOATS") != nullptr;
    const std::uint64_t stride = all ? 1 : 4099, end = std::uint64_t(1) << 32;
    constexpr std::size_t kBlock = 1 << 16;
    for (const Isa isa : known_sets()) {
        for (const Function& function : kFunctions) {
            const std::string name = function.name;
            CAPTURE(name);
            CAPTURE(int(isa));
            double worst = 0;
            float where = 0;
            std::vector<float> from, to(kBlock);
            for (std::uint64_t bits = 0; bits < end;) {
                from.clear();
                for (; bits < end && from.size() < kBlock; bits += stride)
                    from.push_back(std::bit_cast<float>(std::uint32_t(bits)));
                run(function, isa, from, to);
                for (std::size_t i = 0; i < from.size(); ++i) {
                    const double error = error_of(to[i], function.exact((long double)from[i]));
                    if (error > worst) worst = error, where = from[i];
                }
            }
            CAPTURE(where);
            CHECK(worst <= function.most);
            if (all) MESSAGE(function.name, ": at most ", worst, " units, at ", where);
        }
    }
}

}  // namespace dtnn::codegen_test::vector_functions_test
