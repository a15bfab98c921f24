/// Operators over sequences of labels: samples of several lengths, of no labels, of equal ones side
/// by side, and of more than their steps have room for.

#include <algorithm>
#include <cmath>

#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance {
namespace {

struct LabelledSteps {
    std::int64_t samples, steps, room, classes;
};

/// The last has more states than a group of a device has threads.
constexpr LabelledSteps kLabelledSteps[] = {{1, 1, 1, 2},   {3, 7, 3, 4},     {2, 40, 12, 30},
                                            {5, 9, 4, 2},   {7, 5, 5, 1},     {4, 130, 60, 5},
                                            {33, 12, 2, 6}, {2, 300, 140, 40}};

/// The labels of sample n: some that are drawn, and behind them what is none. Where `all` have a
/// path there are so few that the shortest sample has steps for them.
void draw_sequences(Buffer& labels, const LabelledSteps& s, std::int64_t blank, bool all) {
    for (std::int64_t n = 0; n < s.samples; ++n) {
        std::int64_t count = s.classes > 1 ? (3 * n + s.room) % (s.room + 1) : 0;
        if (all) count = std::min(count, (s.steps + 1) / 4);
        for (std::int64_t u = 0; u < s.room; ++u) {
            const auto place = std::uint64_t(n * s.room + u);
            std::int64_t label = std::int64_t(std::floor(noise(41, place) * double(s.classes)));
            if (label == blank) label = (label + 1) % s.classes;
            // What ends a sequence is a number of no class, or the blank.
            const std::int64_t none = n % 3 == 0 ? -1 : n % 3 == 1 ? 1'000'000 : blank;
            labels.set(std::int64_t(place), double(u < count ? label : none));
        }
    }
}

/// How the predictions are spread, and what else a case is made of.
struct Spread {
    double factor;     ///< of logarithms of probabilities
    bool ties;         ///< few different numbers
    bool all, padded;  ///< all samples have a path; their lengths differ
};

Case sequence_case(const char* op, const LabelledSteps& s, const Spread& spread, bool last_blank,
                   Attributes attributes, TensorType result) {
    const std::int64_t blank = last_blank ? s.classes - 1 : 0;
    attributes["steps"] = s.steps;
    attributes["blank"] = blank;
    std::vector<TensorType> sources = {row_major({s.samples * s.steps, s.classes}),
                                       row_major({s.samples * s.room}, DType::i32)};
    if (spread.padded) {
        attributes["padded"] = true;
        sources.push_back(row_major({s.samples, 1}, DType::i32));
    }
    Case item{.problem =
                  problem(op, std::move(sources), {std::move(result)}, std::move(attributes))};
    item.prepare = [=](std::vector<Buffer>& buffers) {
        for (std::int64_t i = 0; i < buffers[0].tensor().elements(); ++i) {
            const double number = noise(40, std::uint64_t(i));
            buffers[0].set(i, spread.ties ? std::floor(number * 4) / 4 : -spread.factor * number);
        }
        draw_sequences(buffers[1], s, blank, spread.all);
        if (!spread.padded) return;
        // The shortest have half of the steps, or, where not all have a path, none and too many.
        for (std::int64_t n = 0; n < s.samples; ++n)
            buffers[2].set(n, double(spread.all ? s.steps - n * 5 % (s.steps / 2 + 1)
                                                : s.steps - n * 7 % (s.steps + 2) + n % 2));
    };
    return item;
}

std::vector<Case> losses(const char* op, bool backward) {
    std::vector<Case> cases;
    for (const LabelledSteps& s : kLabelledSteps)
        for (const bool padded : {false, true})
            for (const bool all : {true, false})
                for (const double factor : {4.0, 400.0}) {
                    const bool by_label = padded == all;
                    const TensorType matrix = row_major({s.samples * s.steps, s.classes});
                    Case item = sequence_case(op, s, {factor, false, all, padded}, factor > 4,
                                              {{"per", std::string(by_label ? "label" : "sample")}},
                                              backward ? matrix : row_major({}));
                    item.f32_tolerance = 1e-6;
                    // Logarithms of far smaller probabilities are off by more.
                    item.f64_tolerance = factor > 4 ? 1e-9 : 1e-11;
                    cases.push_back(std::move(item));
                }
    return cases;
}

}  // namespace

GRID(ctc) {
    return losses("ctc", false);
}
GRID(ctc_backward) {
    return losses("ctc_backward", true);
}

GRID(label_error_rate) {
    std::vector<Case> cases;
    for (const LabelledSteps& s : kLabelledSteps)
        for (const bool padded : {false, true})
            for (const bool ties : {false, true})
                cases.push_back(sequence_case("label_error_rate", s, {4, ties, false, padded}, ties,
                                              {}, row_major({}, DType::f64)));
    return cases;
}

}  // namespace dtnn::kernels::conformance
