#include "tests/gradient/differences.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace dtnn::tests {

std::vector<double> central_differences(const std::function<double(const std::vector<double>&)>& f,
                                        std::vector<double> x, double h) {
    std::vector<double> gradient(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double at = x[i];
        const auto moved = [&](double by) {
            x[i] = at + by;
            return f(x);
        };
        gradient[i] = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
        x[i] = at;
    }
    return gradient;
}

double relative_error(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return INFINITY;
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max({largest, std::fabs(a[i]), std::fabs(b[i])});
    double error = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double scale = std::max({std::fabs(a[i]), std::fabs(b[i]), 1e-3 * largest, 1e-12});
        const double here = std::fabs(a[i] - b[i]) / scale;
        if (std::isnan(here)) return INFINITY;
        error = std::max(error, here);
    }
    return error;
}

std::vector<double> spaced_numbers(std::size_t count, double spacing, unsigned seed) {
    std::vector<double> numbers(count);
    for (std::size_t i = 0; i < count; ++i)
        numbers[i] = (double(i) - double(count) / 2 + 0.25) * spacing;
    // Shuffled by hand: std::shuffle differs between standard libraries.
    std::mt19937 random(seed);
    for (std::size_t i = count; i > 1; --i)
        std::swap(numbers[i - 1], numbers[random() % i]);
    return numbers;
}

}  // namespace dtnn::tests
