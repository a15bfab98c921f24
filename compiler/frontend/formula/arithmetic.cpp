#include "compiler/frontend/formula/arithmetic.hpp"

#include <cmath>

namespace dtnn::compiler {
namespace {

/// a ** b, b not negative.
std::optional<std::int64_t> integer_power(std::int64_t a, std::int64_t b) {
    std::int64_t result = 1;
    // Of -1, 0 and 1 every power fits; of others none beyond the 63rd.
    if (a == 0 || a == 1) return b == 0 ? 1 : a;
    if (a == -1) return b % 2 == 0 ? 1 : -1;
    for (; b > 0; --b)
        if (__builtin_mul_overflow(result, a, &result)) return std::nullopt;
    return result;
}

}  // namespace

std::optional<std::int64_t> integer_result(const std::string& sign, std::int64_t a,
                                           std::int64_t b) {
    std::int64_t result = 0;
    bool overflow = false;
    if (sign == "**") return integer_power(a, b);
    if (sign == "+")
        overflow = __builtin_add_overflow(a, b, &result);
    else if (sign == "-")
        overflow = __builtin_sub_overflow(a, b, &result);
    else if (sign == "*")
        overflow = __builtin_mul_overflow(a, b, &result);
    else if (b == -1)  // the smallest integer has no counterpart
        overflow = sign == "//" && __builtin_sub_overflow(std::int64_t{0}, a, &result);
    else if (sign == "//")
        result = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
    else
        result = a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
    if (overflow) return std::nullopt;
    return result;
}

double real_result(const std::string& sign, double a, double b) {
    if (sign == "+") return a + b;
    if (sign == "-") return a - b;
    if (sign == "*") return a * b;
    if (sign == "/") return a / b;
    if (sign == "//") return std::floor(a / b);
    if (sign == "**") return std::pow(a, b);
    return a - b * std::floor(a / b);
}

}  // namespace dtnn::compiler
