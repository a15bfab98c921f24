#include "kernels/cpu/vector_math.hpp"

#include <cmath>

#include "kernels/cpu/exponential.hpp"
#include "kernels/cpu/logarithm.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// The C library's, lane by lane.
template <class T, class Function>
DTNN_INLINE NativeVector<T> by_lane(NativeVector<T> x, Function function) {
    NativeVector<T> result;
    for (int lane = 0; lane < NativeLanes<T>::kLanes; ++lane)
        result[lane] = function(x[lane]);
    return result;
}

template <class T>
struct VectorMath {
    using Vector = NativeVector<T>;
    static constexpr bool kIsFloat = sizeof(T) == sizeof(float);

    static Vector exp(Vector x) { return exponential(NativeLanes<T>{}, x); }
    static Vector expm1(Vector x) { return exponential_less_1(NativeLanes<T>{}, x); }
    static Vector log(Vector x) { return logarithm(NativeLanes<T>{}, x); }
    static Vector log1p(Vector x) { return logarithm_of_1_plus(NativeLanes<T>{}, x); }
    static Vector atanh(Vector x) { return inverse_tangent(NativeLanes<T>{}, x); }
    static Vector sigmoid(Vector x) { return DTNN_ISA::sigmoid(NativeLanes<T>{}, x); }
    static Vector tanh(Vector x) {
        if constexpr (kIsFloat) {
            return hyperbolic_tangent(NativeLanes<T>{}, x);
        } else {
            return by_lane<T>(x, [](T v) { return std::tanh(v); });
        }
    }
    static Vector erf(Vector x) {
        if constexpr (kIsFloat) {
            return error_function(NativeLanes<T>{}, x);
        } else {
            return by_lane<T>(x, [](T v) { return std::erf(v); });
        }
    }
    static Vector floor(Vector x) {
        return by_lane<T>(x, [](T v) { return std::floor(v); });
    }
    static Vector pow(Vector x, Vector y) {
        Vector result;
        for (int lane = 0; lane < NativeLanes<T>::kLanes; ++lane)
            result[lane] = T(std::pow(double(x[lane]), double(y[lane])));
        return result;
    }
};

constexpr std::size_t kTerms = 2  // input, number
#define DTNN_TERM(name, operands, form, value) +1
#include "base/expression/terms.def"
#undef DTNN_TERM
    ;

}  // namespace

template <class T>
const void* const* vector_functions() {
    using Math = VectorMath<T>;
    struct Table {
        const void* of[kTerms];
    };
    static const Table table = [] {
        Table all{};
        const auto set = [&](Term term, auto* function) {
            all.of[std::size_t(term)] = reinterpret_cast<const void*>(function);
        };
        set(Term::exp, &Math::exp);
        set(Term::expm1, &Math::expm1);
        set(Term::log, &Math::log);
        set(Term::log1p, &Math::log1p);
        set(Term::tanh, &Math::tanh);
        set(Term::atanh, &Math::atanh);
        set(Term::sigmoid, &Math::sigmoid);
        set(Term::erf, &Math::erf);
        set(Term::floor, &Math::floor);
        set(Term::pow, &Math::pow);
        return all;
    }();
    return table.of;
}

template const void* const* vector_functions<float>();
template const void* const* vector_functions<double>();

}  // namespace dtnn::kernels::DTNN_ISA
