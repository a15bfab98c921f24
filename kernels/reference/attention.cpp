#include "kernels/arguments/attention.hpp"

#include <cmath>
#include <vector>

#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

template <class T>
double dot(const T* a, const T* b, std::int64_t width) {
    double sum = 0;
    for (std::int64_t u = 0; u < width; ++u)
        sum += double(a[u]) * double(b[u]);
    return sum;
}

/// Calls visit(n, h, g, t) for every query of every head h, which reads keys and values g.
template <class Visit>
void for_queries(const AttentionSizes& a, Visit visit) {
    for (std::int64_t n = 0; n < a.batch; ++n) {
        for (std::int64_t h = 0; h < a.heads; ++h) {
            for (std::int64_t t = 0; t < a.queries; ++t)
                visit(n, h, h / a.sharing(), t);
        }
    }
}

template <class Arguments>
std::vector<double> scores(const Arguments& a, std::int64_t n, std::int64_t h, std::int64_t g,
                           std::int64_t t) {
    std::vector<double> s;
    for (std::int64_t j = 0; j < a.seen(n, t); ++j)
        s.push_back(a.scale * dot(a.query.row(n, h, t), a.key.row(n, g, j), a.width));
    return s;
}

}  // namespace

DTNN_REFERENCE(attention, AttentionArguments) {
    for_queries(a, [&](auto n, auto h, auto g, auto t) {
        std::vector<double> p = scores(a, n, h, g, t);
        double largest = p[0], sum = 0;
        for (const double s : p)
            largest = s > largest ? s : largest;
        for (double& s : p)
            sum += s = std::exp(s - largest);
        std::vector<double> weights;
        for (std::size_t j = 0; j < p.size(); ++j)
            weights.push_back(a.dropout.weight(a, n, h, t, std::int64_t(j)));
        T* const row = a.dst.row(n, h, t);
        for (std::int64_t u = 0; u < a.width; ++u) {
            double result = 0;
            for (std::size_t j = 0; j < p.size(); ++j)
                result += p[j] * weights[j] * double(a.value.row(n, g, std::int64_t(j))[u]);
            row[u] = T(result / sum);
        }
        if (a.logsumexp != nullptr)
            a.logsumexp[(n * a.heads + h) * a.queries + t] = T(largest + std::log(sum));
    });
}

DTNN_REFERENCE(attention_backward, AttentionBackwardArguments) {
    const std::int64_t of_sample = a.key_value_heads * a.keys * a.width;
    std::vector<double> keys(std::size_t(a.batch * of_sample)), values(keys.size());
    for_queries(a, [&](auto n, auto h, auto g, auto t) {
        const T* const diff = a.diff_dst.row(n, h, t);
        const double delta = dot(diff, a.dst.row(n, h, t), a.width);
        const double log_sum = double(a.logsumexp[(n * a.heads + h) * a.queries + t]);
        std::vector<double> query(static_cast<std::size_t>(a.width));
        const std::vector<double> s = scores(a, n, h, g, t);
        for (std::size_t at = 0; at < s.size(); ++at) {
            const auto j = std::int64_t(at);
            const double p = std::exp(s[at] - log_sum);
            const double weight = a.dropout.weight(a, n, h, t, j);
            const double ds =
                a.scale * p * (weight * dot(diff, a.value.row(n, g, j), a.width) - delta);
            const auto place = std::size_t(((n * a.key_value_heads + g) * a.keys + j) * a.width);
            for (std::size_t u = 0; u < query.size(); ++u) {
                query[u] += ds * double(a.key.row(n, g, j)[u]);
                keys[place + u] += ds * double(a.query.row(n, h, t)[u]);
                values[place + u] += weight * p * double(diff[u]);
            }
        }
        for (std::size_t u = 0; u < query.size(); ++u)
            a.diff_query.row(n, h, t)[u] = T(query[u]);
    });
    for (std::int64_t n = 0; n < a.batch; ++n) {
        for (std::int64_t g = 0; g < a.key_value_heads; ++g) {
            for (std::int64_t j = 0; j < a.keys; ++j) {
                const auto place =
                    std::size_t(((n * a.key_value_heads + g) * a.keys + j) * a.width);
                for (std::int64_t u = 0; u < a.width; ++u) {
                    a.diff_key.row(n, g, j)[u] = T(keys[place + std::size_t(u)]);
                    a.diff_value.row(n, g, j)[u] = T(values[place + std::size_t(u)]);
                }
            }
        }
    }
}

}  // namespace dtnn::kernels::reference
