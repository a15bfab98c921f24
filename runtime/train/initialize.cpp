#include "runtime/train/initialize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "kernels/philox.hpp"
#include "kernels/thread_team.hpp"
#include "plan/initializer.hpp"
#include "runtime/base/arrangement.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/train/orthonormal.hpp"

namespace dtnn::runtime {
namespace {

namespace philox = kernels::philox;

using Values = plan::InitializerKind::Values;

/// The distribution function of the normal distribution at -2, and the standard deviation of what
/// is left between -2 and 2.
constexpr double kBelowMinusTwo = 0.022750131948179207;
constexpr double kTruncatedStandardDeviation = 0.87962566103423978;

double polynomial(std::span<const double> coefficients, double x) {
    double value = 0;
    for (std::size_t i = coefficients.size(); i-- > 0;)
        value = value * x + coefficients[i];
    return value;
}

/// The distributions over a number that is uniform in (0, 1): shift + scale * the quantile.
struct Draw {
    enum class Shape { uniform, normal, truncated } shape = Shape::uniform;
    double shift = 0, scale = 1;

    double at(double u) const {
        switch (shape) {
            case Shape::uniform:
                return shift + scale * (2 * u - 1);
            case Shape::normal:
                return shift + scale * inverse_normal(u);
            case Shape::truncated:
                return shift +
                       scale * inverse_normal(kBelowMinusTwo + u * (1 - 2 * kBelowMinusTwo));
        }
        return 0;
    }
};

double number(const plan::Initializer& initializer, const char* name) {
    return std::get<double>(initializer.numbers.at(name));
}

Draw draw_of(const plan::Initializer& initializer) {
    const plan::InitializerKind& kind = *plan::find_initializer(initializer.kind);
    const double fan = double(
        std::max<std::int64_t>(1, initializer.fan_in + (kind.with_out ? initializer.fan_out : 0)));
    const double deviation = std::sqrt(kind.gain / fan);
    switch (kind.values) {
        case Values::uniform: {
            const double low = number(initializer, "low"), high = number(initializer, "high");
            return {Draw::Shape::uniform, (low + high) / 2, (high - low) / 2};
        }
        case Values::normal:
            return {Draw::Shape::normal, number(initializer, "mean"),
                    number(initializer, "deviation")};
        case Values::truncated:
            return {Draw::Shape::truncated, number(initializer, "mean"),
                    number(initializer, "deviation")};
        case Values::scaled_uniform:
            return {Draw::Shape::uniform, 0, deviation * std::sqrt(3.0)};
        case Values::scaled_truncated:
            return {Draw::Shape::truncated, 0, deviation / kTruncatedStandardDeviation};
        case Values::orthogonal:
        case Values::constant:
            break;
    }
    return {Draw::Shape::normal};
}

/// Calls visit(logical, physical, value) for every element, in parallel.
template <class Visit>
void draw_all(const plan::Initializer& initializer, std::uint64_t seed,
              const Arrangement& arrangement, kernels::ThreadTeam& team, Visit visit) {
    const Draw draw = draw_of(initializer);
    const std::uint64_t key =
        philox::key_of(seed, philox::Purpose::initialise, std::uint64_t(initializer.stream));
    team.for_pieces(arrangement.elements(), 4096, [&](std::int64_t begin, std::int64_t end, int) {
        philox::Block block{};
        std::int64_t drawn = -1;
        arrangement.for_each(begin, end, [&](std::int64_t i, std::int64_t place) {
            if (i / 4 != drawn) {
                drawn = i / 4;
                block = philox::block(key, 0, std::uint64_t(drawn));
            }
            visit(i, place, draw.at((double(block[std::size_t(i % 4)]) + 0.5) * 0x1p-32));
        });
    });
}

template <class T>
void fill(const plan::Parameter& parameter, std::uint64_t seed, T* values,
          kernels::ThreadTeam& team) {
    const Arrangement arrangement(parameter.physical_dims, parameter.order);
    const plan::Initializer& initializer = parameter.initializer;
    const plan::InitializerKind& kind = *plan::find_initializer(initializer.kind);
    if (kind.values == Values::constant) {
        const double value = kind.numbers.empty() ? kind.constant : number(initializer, "value");
        std::fill_n(values, arrangement.elements(), T(value));
        return;
    }
    if (kind.values != Values::orthogonal) {
        draw_all(initializer, seed, arrangement, team,
                 [&](std::int64_t, std::int64_t place, double value) { values[place] = T(value); });
        return;
    }
    const std::int64_t elements = arrangement.elements();
    const std::int64_t first = parameter.dims.empty() ? 1 : parameter.dims[0];
    const std::int64_t rest = elements / std::max<std::int64_t>(1, first);
    // Rows of the matrix, or columns where they are fewer, one after another.
    const std::int64_t count = std::min(first, rest), length = std::max(first, rest);
    const auto place_of = [&](std::int64_t i) {
        return first <= rest ? i : i % rest * length + i / rest;
    };
    std::vector<double> vectors(static_cast<std::size_t>(elements));
    draw_all(initializer, seed, arrangement, team, [&](std::int64_t i, std::int64_t, double value) {
        vectors[std::size_t(place_of(i))] = value;
    });
    make_orthonormal(vectors, count, length, team);
    const double gain = number(initializer, "gain");
    arrangement.for_each(0, elements, [&](std::int64_t i, std::int64_t place) {
        values[place] = T(gain * vectors[std::size_t(place_of(i))]);
    });
}

}  // namespace

double inverse_normal(double p) {
    static constexpr double kA[] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                    1.9715909503065514427e3, 1.3731693765509461125e4,
                                    4.5921953931549871457e4, 6.7265770927008700853e4,
                                    3.3430575583588128105e4, 2.5090809287301226727e3};
    static constexpr double kB[] = {1.0,
                                    4.2313330701600911252e1,
                                    6.8718700749205790830e2,
                                    5.3941960214247511077e3,
                                    2.1213794301586595867e4,
                                    3.9307895800092710610e4,
                                    2.8729085735721942674e4,
                                    5.2264952788528545610e3};
    static constexpr double kC[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                    5.76949722146069140550e0,  3.64784832476320460504e0,
                                    1.27045825245236838258e0,  2.41780725177450611770e-1,
                                    2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static constexpr double kD[] = {1.0,
                                    2.05319162663775882187e0,
                                    1.67638483018380384940e0,
                                    6.89767334985100004550e-1,
                                    1.48103976427480074590e-1,
                                    1.51986665636164571966e-2,
                                    5.47593808499534494600e-4,
                                    1.05075007164441684324e-9};
    const double q = p - 0.5;
    if (std::fabs(q) <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * polynomial(kA, r) / polynomial(kB, r);
    }
    const double r = std::sqrt(-std::log(q < 0 ? p : 1 - p)) - 1.6;
    const double value = polynomial(kC, r) / polynomial(kD, r);
    return q < 0 ? -value : value;
}

void make_values(const plan::Parameter& parameter, std::uint64_t seed, std::byte* memory,
                 kernels::ThreadTeam& team) {
    if (const auto mistake = plan::mistake_of(parameter.initializer)) {
        throw RunError(
            Exit::mismatch,
            fmt::format("the parameter `{}` cannot be initialised: {}", parameter.name, *mistake),
            "compile the job again with the dtnnc of this version");
    }
    if (parameter.dtype == DType::f32) {
        fill(parameter, seed, reinterpret_cast<float*>(memory), team);
    } else {
        fill(parameter, seed, reinterpret_cast<double*>(memory), team);
    }
}

namespace {

void initialize_one(Executor& executor, std::size_t i) {
    const plan::Plan& plan = executor.plan();
    const HostView view = executor.parameter_view(i, HostView::Access::write);
    make_values(plan.parameters[i], plan.training.seed, view.bytes().data(), executor.team());
}

}  // namespace

void initialize(Executor& executor) {
    for (std::size_t i = 0; i < executor.plan().parameters.size(); ++i)
        initialize_one(executor, i);
}

void initialize(Executor& executor, const std::vector<std::string>& names) {
    const std::unordered_set<std::string_view> wanted(names.begin(), names.end());
    const auto& parameters = executor.plan().parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        if (wanted.contains(parameters[i].name)) initialize_one(executor, i);
}

}  // namespace dtnn::runtime
