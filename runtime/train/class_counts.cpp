#include "runtime/train/class_counts.hpp"

namespace dtnn::runtime {
namespace {

struct Outcome {
    std::int64_t true_positives = 0, false_positives = 0, false_negatives = 0;

    bool occurs() const { return true_positives + false_positives + false_negatives > 0; }
    double at(const plan::RateWeights& rate) const {
        return rate.of(double(true_positives), double(false_positives), double(false_negatives));
    }
};

std::vector<Outcome> outcomes_of(std::span<const std::int64_t> counts, std::int64_t classes,
                                 bool multiple) {
    std::vector<Outcome> outcomes(static_cast<std::size_t>(classes));
    const auto size = outcomes.size();
    for (std::size_t label = 0; label < size; ++label) {
        if (multiple) {
            const auto row = counts.subspan(label * std::size_t(kOutcomes), std::size_t(kOutcomes));
            outcomes[label] = {row[3], row[1], row[2]};
            continue;
        }
        for (std::size_t prediction = 0; prediction < size; ++prediction) {
            const std::int64_t count = counts[label * size + prediction];
            if (label == prediction) {
                outcomes[label].true_positives += count;
            } else {
                outcomes[label].false_negatives += count;
                outcomes[prediction].false_positives += count;
            }
        }
    }
    return outcomes;
}

}  // namespace

std::vector<double> rates(std::span<const std::int64_t> counts, std::int64_t classes, bool multiple,
                          plan::RateWeights rate, Averaging averaging) {
    const std::vector<Outcome> outcomes = outcomes_of(counts, classes, multiple);
    std::vector<double> each;
    Outcome all;
    double sum = 0;
    std::int64_t averaged = 0;
    for (const Outcome& outcome : outcomes) {
        each.push_back(outcome.at(rate));
        all.true_positives += outcome.true_positives;
        all.false_positives += outcome.false_positives;
        all.false_negatives += outcome.false_negatives;
        if (!multiple && !outcome.occurs()) continue;
        sum += each.back();
        ++averaged;
    }
    if (averaging == Averaging::per_class) return each;
    if (averaging == Averaging::micro) return {all.at(rate)};
    return {averaged > 0 ? sum / double(averaged) : 0};
}

}  // namespace dtnn::runtime
