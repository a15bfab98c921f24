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

std::vector<Outcome> outcomes_of(const ClassCounts& counts) {
    std::vector<Outcome> outcomes(static_cast<std::size_t>(counts.classes));
    const auto size = outcomes.size(), columns = std::size_t(counts.columns());
    for (std::size_t label = 0; label < size; ++label) {
        const auto* row = &counts.numbers[label * columns];
        if (counts.form != plan::CountForm::matrix) {
            const auto* last = row + columns;
            outcomes[label] = {last[-1], last[-3], last[-2]};
            continue;
        }
        for (std::size_t prediction = 0; prediction < size; ++prediction) {
            if (label == prediction) {
                outcomes[label].true_positives += row[prediction];
            } else {
                outcomes[label].false_negatives += row[prediction];
                outcomes[prediction].false_positives += row[prediction];
            }
        }
    }
    return outcomes;
}

}  // namespace

ClassCounts::ClassCounts(plan::CountForm how, std::int64_t of)
    : form(how), classes(of), numbers(std::size_t(of * plan::count_columns(how, of))) {}

void ClassCounts::add(std::int64_t label, std::int64_t prediction) {
    if (label < 0 || label >= classes || prediction < 0 || prediction >= classes) return;
    if (form == plan::CountForm::matrix) {
        ++numbers[std::size_t(label * classes + prediction)];
        return;
    }
    enum { kFalsePositive, kFalseNegative, kTruePositive, kNumbers };
    const auto count = [&](std::int64_t of, int what) {
        ++numbers[std::size_t(of * kNumbers + what)];
    };
    if (label == prediction) return count(label, kTruePositive);
    count(label, kFalseNegative);
    count(prediction, kFalsePositive);
}

std::vector<double> rates(const ClassCounts& counts, plan::RateWeights rate, Averaging averaging) {
    const std::vector<Outcome> outcomes = outcomes_of(counts);
    const bool every_class = counts.form == plan::CountForm::all_outcomes;
    std::vector<double> each;
    Outcome all;
    double sum = 0;
    std::int64_t averaged = 0;
    for (const Outcome& outcome : outcomes) {
        each.push_back(outcome.at(rate));
        all.true_positives += outcome.true_positives;
        all.false_positives += outcome.false_positives;
        all.false_negatives += outcome.false_negatives;
        if (!every_class && !outcome.occurs()) continue;
        sum += each.back();
        ++averaged;
    }
    if (averaging == Averaging::per_class) return each;
    if (averaging == Averaging::micro) return {all.at(rate)};
    return {averaged > 0 ? sum / double(averaged) : 0};
}

}  // namespace dtnn::runtime
