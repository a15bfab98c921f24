#include "runtime/train/orthonormal.hpp"

#include <cmath>

#include "kernels/thread_team.hpp"

namespace dtnn::runtime {
namespace {

/// In eight sums, so that the compiler may use vectors; the order is fixed.
double product(const double* a, const double* b, std::int64_t length) {
    double sums[8] = {};
    std::int64_t i = 0;
    for (; i + 8 <= length; i += 8)
        for (int lane = 0; lane < 8; ++lane)
            sums[lane] += a[i + lane] * b[i + lane];
    for (; i < length; ++i)
        sums[0] += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void take_off(double* vector, const double* unit, std::int64_t length) {
    const double along = product(vector, unit, length);
    for (std::int64_t i = 0; i < length; ++i)
        vector[i] -= along * unit[i];
}

}  // namespace

void make_orthonormal(std::vector<double>& vectors, std::int64_t count, std::int64_t length,
                      kernels::ThreadTeam& team) {
    const auto vector = [&](std::int64_t i) { return vectors.data() + i * length; };
    std::vector<double> before(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
        before[std::size_t(i)] = std::sqrt(product(vector(i), vector(i), length));
    for (std::int64_t i = 0; i < count; ++i) {
        double* const unit = vector(i);
        double size = std::sqrt(product(unit, unit, length));
        if (size < 0.1 * before[std::size_t(i)]) {
            for (std::int64_t j = 0; j < i; ++j)
                take_off(unit, vector(j), length);
            size = std::sqrt(product(unit, unit, length));
        }
        for (std::int64_t k = 0; k < length; ++k)
            unit[k] /= size;
        // Every later vector loses its part along this one: each is one thread's work.
        team.for_pieces(count - i - 1, 1 + 16384 / length,
                        [&](std::int64_t begin, std::int64_t end, int) {
                            for (std::int64_t j = i + 1 + begin; j < i + 1 + end; ++j)
                                take_off(vector(j), unit, length);
                        });
    }
}

}  // namespace dtnn::runtime
