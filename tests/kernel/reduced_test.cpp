/// Numbers of 16 bits, all of them.

#include "kernels/reduced.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace dtnn::kernels::reduced_test {
namespace {

template <class T>
T of_bits(std::uint32_t bits) {
    T value;
    value.bits = std::uint16_t(bits);
    return value;
}

/// `infinity`: the bits of infinity, behind those of all finite numbers.
template <class T>
void check_all(std::uint32_t infinity) {
    constexpr float kEndless = std::numeric_limits<float>::infinity();
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < infinity; ++bits) {
        const T low = of_bits<T>(bits), high = of_bits<T>(bits + 1);
        const T minus = of_bits<T>(bits | 0x8000U);
        wrong += T(float(low)).bits != bits;
        wrong += T(float(minus)).bits != (bits | 0x8000U) || float(minus) != -float(low);
        // The largest number rounds up where the next one would be.
        const float next =
            bits + 1 < infinity
                ? float(high)
                : float(2 * double(float(low)) - double(float(of_bits<T>(bits - 1))));
        if (std::isinf(next)) continue;  // of bfloat16: no float lies between
        const auto middle = float((double(float(low)) + double(next)) / 2);
        wrong += T(middle).bits != (bits % 2 == 0 ? bits : bits + 1);
        wrong += T(std::nextafter(middle, 0.0F)).bits != bits;
        wrong += T(std::nextafter(middle, kEndless)).bits != bits + 1;
    }
    CHECK(wrong == 0);
    CHECK(T(kEndless).bits == infinity);
    CHECK(T(-kEndless).bits == (infinity | 0x8000U));
    CHECK(std::isinf(float(of_bits<T>(infinity))));
    for (std::uint32_t bits = infinity + 1; bits < 0x8000U; ++bits)
        wrong +=
            !std::isnan(float(of_bits<T>(bits))) || !std::isnan(float(T(float(of_bits<T>(bits)))));
    CHECK(wrong == 0);
    CHECK(std::isnan(float(T(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("float16 holds what IEEE 754 says, and rounds to the nearest, ties to even") {
    check_all<Float16>(0x7C00U);
    CHECK(float(of_bits<Float16>(1)) == std::ldexp(1.0F, -24));
    CHECK(float(of_bits<Float16>(0x7BFFU)) == 65504.0F);
    CHECK(float(of_bits<Float16>(0x3C00U)) == 1.0F);
    CHECK(Float16(1e9F).bits == 0x7C00U);
    CHECK(Float16(1e-9F).bits == 0);
}

TEST_CASE("bfloat16 holds the upper half of a float, and rounds to the nearest, ties to even") {
    check_all<BFloat16>(0x7F80U);
    CHECK(float(of_bits<BFloat16>(0x3F80U)) == 1.0F);
    CHECK(BFloat16(std::numeric_limits<float>::max()).bits == 0x7F80U);
}

}  // namespace
}  // namespace dtnn::kernels::reduced_test
