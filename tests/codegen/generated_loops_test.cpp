/// Generated code against the interpreter, whose bits it must give, and against arithmetic of more
/// digits.

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <type_traits>

#include "kernels/dispatch.hpp"
#include "kernels/thread_team.hpp"
#include "runtime/base/plugin.hpp"
#include "runtime/device/generated_code.hpp"
#include "tests/codegen/random_loops.hpp"

namespace dtnn::codegen_test::generated_loops_test {

using namespace kernels;

namespace {

constexpr int kSources = 4;

/// Null, and the reason said, where this build has none.
const Generator* generator() {
    static const Generator* const found = []() -> const Generator* {
        const Plugin plugin = open_plugin(kCodegenLibrary);
        if (plugin.handle == nullptr) return nullptr;
        return runtime::plugin_function<Generator*()>(plugin, kCodegenOpenEntry)();
    }();
    if (found == nullptr) MESSAGE("skipped: no LLVM here (Debian: llvm-19-dev)");
    return found;
}

MachineCode loaded(const Loop& loop) {
    std::string mistake;
    auto code =
        MachineCode::load(generator()->generate(loop, CodeForm::object), kLoopSymbol, mistake);
    REQUIRE_MESSAGE(code.has_value(), mistake);
    return std::move(*code);
}

Problem problem_of(const std::string& expression, DType dtype, Isa isa, std::int64_t count) {
    Problem problem;
    problem.op = "elementwise";
    problem.dtype = dtype;
    problem.isa = isa;
    problem.threads = 2;
    for (int i = 0; i < kSources; ++i)
        problem.sources.push_back({dtype, {count}, {}});
    problem.destinations.push_back({dtype, {count}, {}});
    problem.attributes["expression"] = expression;
    return problem;
}

/// As the kernel `chunked` computes it; null where it refuses the expression.
template <class T>
std::vector<T> run(const Problem& problem, const std::vector<std::vector<T>>& operands,
                   const char* kernel = "chunked") {
    const KernelInfo& info = *find_kernel("elementwise", kernel);
    if (refusal(info, problem)) return {};
    // One in front, so that nothing is aligned to a vector.
    std::vector<std::vector<T>> aligned;
    std::vector<const void*> sources;
    for (const std::vector<T>& operand : operands)
        sources.push_back(operand.data());
    std::vector<T> results(std::size_t(problem.destinations[0].elements()), T(77));
    void* destination = results.data();
    const auto bound = bind(info, problem, sources, {&destination, 1}, {});
    REQUIRE(bound != nullptr);
    ThreadTeam team(2);
    bound->run(team);
    return results;
}

template <class T>
bool same_bits(T a, T b) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return (std::isnan(a) && std::isnan(b)) || std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

template <class T>
void compare_with_interpreter(DType dtype, int expressions, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    int compared = 0;
    for (int trial = 0; trial < expressions; ++trial) {
        const std::string text = random_expression(random, kSources);
        // Around the lengths of vectors, of four of them, and of a chunk.
        const std::int64_t counts[] = {1, 3, 16, 31, 64, 67, 517, 8201};
        const std::int64_t count = counts[std::size_t(trial) % std::size(counts)];
        std::vector<std::vector<T>> operands;
        for (int i = 0; i < kSources; ++i)
            operands.push_back(numbers<T>(random, count));
        for (const Isa isa : known_sets()) {
            CAPTURE(text);
            CAPTURE(count);
            CAPTURE(int(isa));
            Problem problem = problem_of(text, dtype, isa, count);
            const std::vector<T> interpreted = run(problem, operands);
            if (interpreted.empty()) continue;  // its stack is too deep for the kernel
            const MachineCode code = loaded(loop_of(text, dtype, isa));
            problem.loop = reinterpret_cast<LoopFunction>(code.entry());
            const std::vector<T> generated = run(problem, operands);
            for (std::size_t i = 0; i < interpreted.size(); ++i)
                if (!same_bits(interpreted[i], generated[i])) {
                    CAPTURE(i);
                    CHECK(interpreted[i] == generated[i]);
                    break;
                }
            ++compared;
        }
    }
    CHECK(compared >= expressions / 2);
}

}  // namespace

TEST_CASE("generated code gives the interpreter's bits in float") {
    if (generator() != nullptr) compare_with_interpreter<float>(DType::f32, 400, 1);
}

TEST_CASE("generated code gives the interpreter's bits in double") {
    if (generator() != nullptr) compare_with_interpreter<double>(DType::f64, 400, 2);
}

TEST_CASE("the destination may be any of the sources, and nothing beside it is touched") {
    if (generator() == nullptr) return;
    std::mt19937_64 random(3);
    for (const Isa isa : known_sets()) {
        const MachineCode code = loaded(loop_of("x0 x1 mul x0 add sigmoid", DType::f32, isa));
        const auto loop = reinterpret_cast<LoopFunction>(code.entry());
        for (const std::int64_t count : {0, 1, 5, 16, 63, 64, 65, 130}) {
            CAPTURE(count);
            std::vector<float> a = numbers<float>(random, count + 2);
            const std::vector<float> b = numbers<float>(random, count + 2);
            const std::vector<float> before = a;
            std::vector<float> apart(std::size_t(count) + 2, 7.0F);
            const void* sources[] = {a.data(), b.data()};
            const void* const* functions = vector_functions(isa, DType::f32);
            loop(apart.data() + 1, sources, 1, count + 1, functions);
            loop(a.data() + 1, sources, 1, count + 1, functions);
            CHECK(apart.front() == 7.0F);
            CHECK(apart.back() == 7.0F);
            CHECK(same_bits(a.front(), before.front()));
            CHECK(same_bits(a.back(), before.back()));
            for (std::int64_t i = 1; i <= count; ++i)
                CHECK(same_bits(a[std::size_t(i)], apart[std::size_t(i)]));
        }
    }
}

TEST_CASE("the mean of an expression is the same by generated code") {
    if (generator() == nullptr) return;
    std::mt19937_64 random(4);
    for (const Isa isa : known_sets()) {
        const std::int64_t count = 10007;
        Problem problem = problem_of("x0 x1 sub square", DType::f32, isa, count);
        problem.op = "elementwise_mean";
        problem.sources.resize(2);
        problem.destinations = {{DType::f32, {}, {}}};
        const KernelInfo& info = *find_kernel("elementwise_mean", "chunked");
        std::normal_distribution<float> ordinary;
        std::vector<float> a, b;
        for (std::int64_t i = 0; i < count; ++i)
            a.push_back(ordinary(random)), b.push_back(ordinary(random));
        const void* sources[] = {a.data(), b.data()};
        std::vector<double> workspace(std::size_t(workspace_bytes(info, problem)) / 8 + 1);
        const auto mean = [&] {
            float result = 0;
            void* destination = &result;
            const auto bound = bind(info, problem, sources, {&destination, 1},
                                    std::as_writable_bytes(std::span(workspace)));
            REQUIRE(bound != nullptr);
            ThreadTeam team(2);
            bound->run(team);
            return result;
        };
        const float interpreted = mean();
        const MachineCode code = loaded(loop_of("x0 x1 sub square", DType::f32, isa));
        problem.loop = reinterpret_cast<LoopFunction>(code.entry());
        CHECK(mean() == interpreted);
        CHECK(interpreted == doctest::Approx(2).epsilon(0.1));
    }
}

TEST_CASE("every term has its text in every form of the code") {
    if (generator() == nullptr) return;
    const Loop loop = loop_of("x0 x1 max 6 min x0 exp mul", DType::f32, Isa::avx2);
    const std::string source = generator()->generate(loop, CodeForm::source);
    CHECK(source.find("define void @dtnn_loop") != std::string::npos);
    CHECK(source.find("<8 x float>") != std::string::npos);
    const std::string assembly = generator()->generate(loop, CodeForm::assembly);
    CHECK(assembly.find("vmulps") != std::string::npos);
    CHECK(assembly.find("ymm") != std::string::npos);
    CHECK(generator()
              ->generate(loop, CodeForm::object)
              .starts_with("\x7f"
                           "ELF"));
    std::string longer = "x0";
    for (std::size_t i = 0; i < kMostGeneratedInstructions; ++i)
        longer += " neg";
    CHECK_THROWS_AS(generator()->generate(loop_of(longer, DType::f32, Isa::avx2), CodeForm::object),
                    CannotGenerate);
}

}  // namespace dtnn::codegen_test::generated_loops_test
