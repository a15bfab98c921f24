// Batch norm over the batches of several ranks, put together by hand, is batch norm over the batch
// that they are together, and its gradient what central differences say.

#include <doctest/doctest.h>

#include <cmath>

#include "kernels/arguments/rank_moments.hpp"
#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance::batch_norm_ranks_test {
namespace {

using Values = std::vector<double>;

constexpr std::int64_t kChannels = 3, kHeight = 2, kWidth = 3, kOne = kHeight * kWidth;
/// The last rank has no samples in this step, whatever its memory holds.
const std::vector<std::int64_t> kBatches{3, 1, 2, 2};
constexpr std::size_t kIdle = 3;
constexpr std::int64_t kAll = 6;  ///< of the ranks that have samples

TensorType image_of(std::int64_t batch) {
    return tensor({batch, kChannels, kHeight, kWidth}, DType::f64);
}

TensorType vector_of(std::int64_t length) {
    return row_major({length}, DType::f64);
}

std::vector<Values> compute(const char* op, const std::vector<TensorType>& sources,
                            const std::vector<TensorType>& results, const Attributes& attributes,
                            const std::vector<Values>& values) {
    Problem item = problem(op, sources, results, attributes);
    item.dtype = DType::f64;
    std::vector<Buffer> from, to;
    for (std::size_t s = 0; s < values.size(); ++s) {
        from.emplace_back(sources[s]);
        REQUIRE(std::int64_t(values[s].size()) == sources[s].elements());
        for (std::size_t i = 0; i < values[s].size(); ++i)
            from[s].set(std::int64_t(i), values[s][i]);
    }
    for (const TensorType& result : results)
        to.emplace_back(result);
    run_reference(item, from, to);
    std::vector<Values> all;
    for (const Buffer& buffer : to) {
        all.emplace_back();
        for (std::int64_t i = 0; i < buffer.tensor().elements(); ++i)
            all.back().push_back(buffer.get(i));
    }
    return all;
}

Values numbers(std::int64_t count, std::uint64_t stream, double scale = 2, double shift = 0) {
    Values values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(shift + scale * (noise(stream, std::uint64_t(i)) - 0.5));
    return values;
}

/// The layer that all ranks share.
struct Layer {
    Values gamma = numbers(kChannels, 1, 1, 1), beta = numbers(kChannels, 2);
    Values running_mean = numbers(kChannels, 3, 1, 2);
    Values running_variance = numbers(kChannels, 4, 1, 1);
};

Values sum_of(const std::vector<Values>& parts) {
    Values all(parts[0].size());
    for (const Values& part : parts)
        for (std::size_t i = 0; i < part.size(); ++i)
            all[i] += part[i];
    return all;
}

struct Forward {
    std::vector<Values> dst, mean, inverse, running_mean, running_variance;  ///< by rank
};

Forward forward(const Layer& layer, const std::vector<Values>& src) {
    const TensorType channel = vector_of(kChannels), single = row_major({}, DType::f64);
    const TensorType sums = vector_of(RankMoments::elements(kChannels));
    std::vector<Values> parts;
    for (std::size_t r = 0; r < src.size(); ++r)
        parts.push_back(compute("batch_norm_sums", {image_of(kBatches[r]), single}, {sums}, {},
                                {src[r], {r == kIdle ? 0 : 0.5}})[0]);
    const Values all = sum_of(parts);
    CHECK(all.back() == double(kAll * kOne));
    Forward result;
    for (std::size_t r = 0; r < src.size(); ++r) {
        const TensorType image = image_of(kBatches[r]);
        const auto made = compute(
            "batch_norm_training", {image, channel, channel, channel, channel, sums},
            {image, channel, channel, channel, channel},
            {{"epsilon", 1e-3},
             {"momentum", 0.9},
             {"statistics", true},
             {"synchronised", true},
             {"epilogue", std::string("relu")}},
            {src[r], layer.gamma, layer.beta, layer.running_mean, layer.running_variance, all});
        result.dst.push_back(made[0]);
        result.mean.push_back(made[1]);
        result.inverse.push_back(made[2]);
        result.running_mean.push_back(made[3]);
        result.running_variance.push_back(made[4]);
    }
    return result;
}

std::vector<Values> samples(double mean = 2) {
    std::vector<Values> src;
    for (std::size_t r = 0; r < kBatches.size(); ++r)
        src.push_back(numbers(kBatches[r] * kChannels * kOne, 10 + r, 3, mean));
    return src;
}

std::vector<Values> gradients() {
    std::vector<Values> diff;
    for (std::size_t r = 0; r < kBatches.size(); ++r)
        diff.push_back(numbers(kBatches[r] * kChannels * kOne, 20 + r));
    return diff;
}

struct Backward {
    std::vector<Values> diff_src, diff_gamma, diff_beta;  ///< by rank
};

Backward backward(const Layer& layer, const std::vector<Values>& src, const Forward& of,
                  const std::vector<Values>& diff) {
    const TensorType channel = vector_of(kChannels), single = row_major({}, DType::f64);
    const TensorType sums = vector_of(2 * kChannels + 1);
    const Attributes attributes{{"epilogue", std::string("relu")}};
    Backward result;
    std::vector<Values> parts;
    const auto weight = [](std::size_t r) { return Values{r == kIdle ? 0 : 0.5}; };
    for (std::size_t r = 0; r < src.size(); ++r) {
        const TensorType image = image_of(kBatches[r]);
        const auto made = compute(
            "batch_norm_backward_sums", {image, image, channel, channel, channel, single, channel},
            {sums, channel, channel}, attributes,
            {src[r], diff[r], layer.gamma, of.mean[r], of.inverse[r], weight(r), layer.beta});
        parts.push_back(made[0]);
        result.diff_gamma.push_back(made[1]);
        result.diff_beta.push_back(made[2]);
    }
    const Values all = sum_of(parts);
    for (std::size_t r = 0; r < src.size(); ++r) {
        const TensorType image = image_of(kBatches[r]);
        result.diff_src.push_back(compute(
            "batch_norm_backward_apply",
            {image, image, channel, channel, channel, sums, single, channel}, {image}, attributes,
            {src[r], diff[r], layer.gamma, of.mean[r], of.inverse[r], all, weight(r),
             layer.beta})[0]);
    }
    return result;
}

/// The samples of the ranks that have some, one after the other.
Values joined(const std::vector<Values>& parts) {
    Values all;
    for (std::size_t r = 0; r < kIdle; ++r)
        all.insert(all.end(), parts[r].begin(), parts[r].end());
    return all;
}

void check_near(const Values& a, const Values& b, double tolerance = 1e-13) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        CHECK(std::fabs(a[i] - b[i]) <= tolerance * std::max(1.0, std::fabs(a[i])));
}

double sum_of_products(const Values& a, const Values& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += a[i] * b[i];
    return sum;
}

}  // namespace

TEST_CASE("batch norm over the batches of ranks is that of one batch") {
    const Layer layer;
    const std::vector<Values> src = samples(), diff = gradients();
    const Forward of_ranks = forward(layer, src);
    const TensorType channel = vector_of(kChannels), image = image_of(kAll);
    const auto whole =
        compute("batch_norm_training", {image, channel, channel, channel, channel},
                {image, channel, channel, channel, channel},
                {{"epsilon", 1e-3}, {"momentum", 0.9}, {"epilogue", std::string("relu")}},
                {joined(src), layer.gamma, layer.beta, layer.running_mean, layer.running_variance});
    check_near(whole[0], joined(of_ranks.dst));
    for (std::size_t r = 0; r < src.size(); ++r) {  // those of the idle rank too
        check_near(whole[1], of_ranks.mean[r]);
        check_near(whole[2], of_ranks.inverse[r]);
        check_near(whole[3], of_ranks.running_mean[r]);
        check_near(whole[4], of_ranks.running_variance[r]);
    }
    const auto gradient =
        compute("batch_norm_backward", {image, image, channel, channel, channel, channel},
                {image, channel, channel}, {{"epilogue", std::string("relu")}},
                {joined(src), joined(diff), layer.gamma, whole[1], whole[2], layer.beta});
    std::vector<Values> weighted = diff;
    weighted[kIdle].assign(diff[kIdle].size(), 0.0);
    const Backward back = backward(layer, src, of_ranks, weighted);
    check_near(gradient[0], joined(back.diff_src));
    check_near(gradient[1], sum_of(back.diff_gamma));
    check_near(gradient[2], sum_of(back.diff_beta));
    // Its samples are no part of the statistics, so nothing is to be learned from them.
    check_near(back.diff_src[kIdle], Values(back.diff_src[kIdle].size()));
}

TEST_CASE("the variance of all ranks is exact whatever the mean") {
    for (const double mean : {0.0, 1e3, 1e6, 1e7, -1e10, 1e12}) {
        CAPTURE(mean);
        Layer layer;
        layer.running_mean.assign(kChannels, 0.0);
        const std::vector<Values> src = samples(mean);
        const Forward of_ranks = forward(layer, src);
        const Values all = joined(src);
        for (std::int64_t c = 0; c < kChannels; ++c) {
            // Distances from the first element are exact, or nearly: the means are alike.
            const double origin = all[std::size_t(c)];  // channels lie side by side
            double sum = 0, squares = 0;
            for (std::int64_t i = 0; i < std::int64_t(all.size()); ++i)
                if (i % kChannels == c) sum += all[std::size_t(i)] - origin;
            const double offset = sum / double(kAll * kOne);
            for (std::int64_t i = 0; i < std::int64_t(all.size()); ++i) {
                if (i % kChannels != c) continue;
                const double distance = all[std::size_t(i)] - origin - offset;
                squares += distance * distance;
            }
            const double variance = squares / double(kAll * kOne);
            const double moved = of_ranks.running_variance[0][std::size_t(c)] -
                                 0.9 * layer.running_variance[std::size_t(c)];
            // A rank's mean is a double: what it is rounded by is a part of the distance.
            const double rounded = 1e-15 * std::fabs(mean);
            CHECK(std::fabs(moved / 0.1 - variance) <= (1e-13 + rounded) * 10);
            CHECK(std::fabs(of_ranks.mean[0][std::size_t(c)] - (origin + offset)) <=
                  1e-15 + rounded);
        }
    }
}

TEST_CASE("sums of ranks are the same bits in every order") {
    constexpr std::int64_t kRanks = 1000;
    std::vector<double> up(RankMoments::elements(1)), down = up, one = up;
    const auto add = [&](std::vector<double>& to, std::int64_t rank) {
        const double mean = 1e7 + 3 * noise(1, std::uint64_t(rank));
        RankMoments{one.data(), 1}.write(double(17 + rank % 3), mean, 0, 0);
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] += one[i];
    };
    for (std::int64_t rank = 0; rank < kRanks; ++rank) {
        add(up, rank);
        add(down, kRanks - 1 - rank);
    }
    for (const int part : {0, 1, 3, 4})
        CHECK(up[std::size_t(part)] == down[std::size_t(part)]);
}

TEST_CASE("batch norm over the batches of ranks has the gradient of central differences") {
    const Layer layer;
    std::vector<Values> src = samples(), diff = gradients();
    diff[kIdle].assign(diff[kIdle].size(), 0.0);
    const Backward back = backward(layer, src, forward(layer, src), diff);
    const auto loss = [&] {
        const Forward result = forward(layer, src);
        double sum = 0;
        for (std::size_t r = 0; r < kIdle; ++r)
            sum += sum_of_products(result.dst[r], diff[r]);
        return sum;
    };
    constexpr double kStep = 1e-6;
    for (std::size_t r = 0; r < src.size(); ++r) {
        CAPTURE(r);
        for (std::size_t i = 0; i < src[r].size(); ++i) {
            const double before = src[r][i];
            src[r][i] = before + kStep;
            const double above = loss();
            src[r][i] = before - kStep;
            const double below = loss();
            src[r][i] = before;
            CHECK(back.diff_src[r][i] ==
                  doctest::Approx((above - below) / (2 * kStep)).epsilon(1e-6));
        }
    }
}

}  // namespace dtnn::kernels::conformance::batch_norm_ranks_test
