#pragma once
/// Random expressions over a few sources, and how they are run.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/codegen/loop.hpp"

namespace dtnn::codegen_test {

/// Postfix text over x0 .. x{sources - 1}, whose stack is never deeper than a kernel of the CPU has
/// room for.
std::string random_expression(std::mt19937_64& random, int sources);

kernels::Loop loop_of(const std::string& postfix, DType dtype, kernels::Isa isa);

/// Instruction sets that this build has and this machine runs.
std::vector<kernels::Isa> known_sets();

/// Zeros of both signs, infinities, not-a-number, subnormal and huge numbers, and ordinary ones.
template <class T>
std::vector<T> numbers(std::mt19937_64& random, std::int64_t count);

}  // namespace dtnn::codegen_test
