#pragma once
/// The arithmetic of expressions. Signs: + - * / // % **, the quotient of // rounded down, % with
/// the sign of the divisor, as in Python.

#include <cstdint>
#include <optional>
#include <string>

namespace dtnn::compiler {

/// Of every sign but `/`; b is not 0 under // and %, and not negative under **. Nothing: the result
/// does not fit 64 bits.
std::optional<std::int64_t> integer_result(const std::string& sign, std::int64_t a, std::int64_t b);

/// May be infinite or no number.
double real_result(const std::string& sign, double a, double b);

}  // namespace dtnn::compiler
