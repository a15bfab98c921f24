#pragma once
/// Means and variances over the samples of all ranks from one sum over the ranks, by the formula of
/// Chan, Golub and LeVeque ("Updating Formulae and a Pairwise Algorithm for Computing Sample
/// Variances", 1979). Of a channel's n_r elements on rank r, their mean m_r, and the sum M_r of the
/// squares of their distances from it:
///
///     n = sum n_r      mean = sum n_r m_r / n
///     variance = (sum M_r + (sum n_r m_r^2 - (sum n_r m_r)^2 / n)) / n
///
/// Where the mean is large beside the deviation nothing would be left of the difference in doubles.
/// So n_r m_r and n_r m_r^2 travel as numbers of twice as many digits (Dekker, "A Floating-Point
/// Technique for Extending the Available Precision", 1971), each in three parts, of which the first
/// two are multiples of a unit that the number's exponent decides: their sums over up to 2^20 ranks
/// are exact, in whatever order they are added up. Ranks whose exponents are further apart than
/// that allows have means so unlike that nothing cancels.

#include <cmath>
#include <cstdint>

#include "base/device.hpp"

namespace dtnn::kernels {

/// The number high + low, with |low| at most half a unit of high's last digit.
struct TwoDoubles {
    double high = 0, low = 0;
};

DTNN_DEVICE inline TwoDoubles exact_sum(double a, double b) {
    const double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

DTNN_DEVICE inline TwoDoubles exact_product(double a, double b) {
    const double product = a * b;
    return {product, std::fma(a, b, -product)};
}

DTNN_DEVICE inline TwoDoubles product(const TwoDoubles& a, const TwoDoubles& b) {
    const TwoDoubles high = exact_product(a.high, b.high);
    return exact_sum(high.high, high.low + (a.high * b.low + a.low * b.high));
}

DTNN_DEVICE inline TwoDoubles quotient(const TwoDoubles& a, double b) {
    const double first = a.high / b;
    const TwoDoubles back = exact_product(first, b);
    return exact_sum(first, (((a.high - back.high) - back.low) + a.low) / b);
}

DTNN_DEVICE inline double difference(const TwoDoubles& a, const TwoDoubles& b) {
    const TwoDoubles high = exact_sum(a.high, -b.high);
    return high.high + (high.low + (a.low - b.low));
}

/// The nearest multiple of 2^power: behind the point of the larger number there is no digit left.
DTNN_DEVICE inline double multiple_of(int power, double number) {
    constexpr int kDigitsBehindFirst = 52;
    const double large = std::ldexp(1.5, power + kDigitsBehindFirst);
    return (number + large) - large;
}

/// The sums of a channel that ranks add up, `channels` apart.
struct RankMoments {
    static constexpr int kParts = 3;
    static constexpr int kNumbers = 2 * kParts + 1;

    /// Numbers of a tensor of so many channels, with the count of elements behind those of
    /// channels.
    static DTNN_DEVICE std::int64_t elements(std::int64_t channels) {
        return kNumbers * channels + 1;
    }

    double* sums;  ///< of the channel
    std::int64_t channels;

    /// What a rank adds: of the sum of its elements' distances from `origin` and of their squares.
    DTNN_DEVICE void write(double count, double origin, double sum, double squares) const {
        const double offset = sum / count, mean = origin + offset;
        const double spread = squares - sum * offset;
        const TwoDoubles squared = exact_product(mean, mean);
        TwoDoubles times = exact_product(squared.high, count);
        times = exact_sum(times.high, times.low + squared.low * count);
        write_parts(0, exact_product(mean, count));
        write_parts(kParts, times);
        sums[2 * kParts * channels] = spread < 0 ? 0 : spread;  // keeps what is not a number
    }
    DTNN_DEVICE void clear() const {
        for (int i = 0; i < kNumbers; ++i)
            sums[i * channels] = 0;
    }

  private:
    DTNN_DEVICE void write_parts(int from, const TwoDoubles& number) const {
        constexpr int kDigits = 31;
        // No multiple of anything: infinite, not a number, or so large that its square is.
        constexpr double kMost = 1e300;
        double first = number.high, second = 0, third = 0;
        if (std::fabs(first) < kMost) {
            int exponent = 0;
            static_cast<void>(std::frexp(number.high, &exponent));
            first = multiple_of(exponent - kDigits, number.high);
            const TwoDoubles rest = exact_sum(number.high - first, number.low);
            second = multiple_of(exponent - 2 * kDigits, rest.high);
            third = (rest.high - second) + rest.low;
        }
        sums[from * channels] = first;
        sums[(from + 1) * channels] = second;
        sums[(from + 2) * channels] = third;
    }
};

struct Moments {
    double mean = 0, variance = 0;
};

/// Of what all ranks have added up for a channel; `count` is of their elements.
DTNN_DEVICE inline Moments moments_of_ranks(const double* sums, std::int64_t channels,
                                            double count) {
    const auto joined = [=](int from) {
        const TwoDoubles two = exact_sum(sums[from * channels], sums[(from + 1) * channels]);
        return exact_sum(two.high, two.low + sums[(from + 2) * channels]);
    };
    const TwoDoubles sum = joined(0), squares = joined(RankMoments::kParts);
    const TwoDoubles mean = quotient(sum, count);
    const double between = difference(squares, product(sum, mean));
    const double within = sums[2 * RankMoments::kParts * channels];
    const double variance = ((between < 0 ? 0 : between) + within) / count;
    return {mean.high, variance};
}

}  // namespace dtnn::kernels
