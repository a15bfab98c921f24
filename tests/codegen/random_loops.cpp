#include "tests/codegen/random_loops.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "kernels/catalogue.hpp"
#include "kernels/dispatch.hpp"

namespace dtnn::codegen_test {
namespace {

struct Known {
    const char* name;
    int operands;
};
constexpr Known kKnown[] = {
#define DTNN_TERM(name, operands, form, value) {#name, operands},
#include "base/expression/terms.def"
#undef DTNN_TERM
};

void add(std::mt19937_64& random, int sources, int levels, std::string& text) {
    const auto below = [&](std::size_t count) { return std::size_t(random() % count); };
    const auto word = [&](const std::string& one) { text += (text.empty() ? "" : " ") + one; };
    if (levels == 0 || below(7) == 0) {
        constexpr const char* kNumbers[] = {"0", "1",     "-1",    "0.5",
                                            "6", "1e-05", "-2.25", "3.4e+38"};
        return word(below(4) == 0 ? kNumbers[below(std::size(kNumbers))]
                                  : "x" + std::to_string(below(std::size_t(sources))));
    }
    const Known& known = kKnown[below(std::size(kKnown))];
    for (int i = 0; i < known.operands; ++i)
        add(random, sources, levels - 1, text);
    word(known.name);
}

}  // namespace

std::string random_expression(std::mt19937_64& random, int sources) {
    // A tree of three levels needs seven places at most.
    std::string text;
    add(random, sources, 3, text);
    return text;
}

kernels::Loop loop_of(const std::string& postfix, DType dtype, kernels::Isa isa) {
    kernels::Loop loop{{}, dtype, isa};
    const auto mistake = parse_postfix(postfix, loop.expression);
    REQUIRE_MESSAGE(!mistake, mistake->reason);
    return loop;
}

std::vector<kernels::Isa> known_sets() {
    std::vector<kernels::Isa> sets;
    for (const kernels::Isa isa :
         {kernels::Isa::baseline, kernels::Isa::avx2, kernels::Isa::avx512})
        if (kernels::is_built(isa) && isa <= kernels::host_isa()) sets.push_back(isa);
    return sets;
}

template <class T>
std::vector<T> numbers(std::mt19937_64& random, std::int64_t count) {
    using Limits = std::numeric_limits<T>;
    const T special[] = {T(0),
                         -T(0),
                         Limits::infinity(),
                         -Limits::infinity(),
                         Limits::quiet_NaN(),
                         Limits::denorm_min(),
                         -Limits::min() / 2,
                         Limits::max(),
                         Limits::lowest(),
                         T(1),
                         T(-1)};
    std::normal_distribution<double> ordinary(0, 3);
    std::vector<T> values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(random() % 3 == 0 ? special[random() % std::size(special)]
                                           : T(ordinary(random)));
    return values;
}

template std::vector<float> numbers<float>(std::mt19937_64&, std::int64_t);
template std::vector<double> numbers<double>(std::mt19937_64&, std::int64_t);

}  // namespace dtnn::codegen_test
