#pragma once
/// Gradients by central differences, and how far another gradient is from them.

#include <functional>
#include <vector>

namespace dtnn::tests {

/// The gradient of `f` at `x`, element by element: (8(f(x+h) - f(x-h)) - (f(x+2h) - f(x-2h))) /
/// 12h, whose error is of order h^4. `f` must be smooth within 2h of x along every axis.
std::vector<double> central_differences(const std::function<double(const std::vector<double>&)>& f,
                                        std::vector<double> x, double h);

/// The largest |a - b| / max(|a|, |b|) over elements; elements below 1/1000 of the largest count as
/// that large, since what is subtracted there is rounding.
double relative_error(const std::vector<double>& a, const std::vector<double>& b);

/// `count` distinct numbers in a fixed random order, `spacing` apart and symmetric about 0, so that
/// none is 0 and no two are nearer than `spacing`: differences never cross a kink of relu or of max
/// pooling.
std::vector<double> spaced_numbers(std::size_t count, double spacing, unsigned seed);

}  // namespace dtnn::tests
