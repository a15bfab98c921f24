#include "runtime/data/transforms/sample_chain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plan/normalization.hpp"
#include "plan/rules/ignored_labels.hpp"
#include "runtime/base/component_fields.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

Normalization normalization_of(const plan::Component& component, std::int64_t channels) {
    const ComponentFields fields(component);
    Normalization result;
    if (fields.has("constants")) {
        const std::string name = fields.word("constants");
        const auto* const constants = plan::find_normalization_constants(name);
        if (constants == nullptr) {
            throw RunError(Exit::mismatch,
                           fmt::format("the plan's `normalize` names the constants of `{}`, which "
                                       "are unknown",
                                       name),
                           "compile the job again with the dtnnc of this version");
        }
        result = {constants->mean, constants->deviation};
    } else {
        result = {fields.reals("mean"), fields.reals("deviation")};
    }
    if (std::any_of(result.standard_deviation.begin(), result.standard_deviation.end(),
                    [](double number) { return !(number > 0); })) {
        throw RunError(Exit::mismatch,
                       "the plan's `normalize` divides by a `deviation` that is not positive",
                       "compile the job again with the dtnnc of this version");
    }
    for (std::vector<double>* list : {&result.mean, &result.standard_deviation}) {
        if (list->size() == 1) list->assign(std::size_t(channels), list->front());
        if (std::int64_t(list->size()) == channels) continue;
        throw RunError(Exit::mismatch,
                       fmt::format("the plan's `normalize` has {} numbers for {} channels",
                                   list->size(), channels),
                       "compile the job again with the dtnnc of this version");
    }
    return result;
}

SampleChain::SampleChain(const plan::Plan& plan)
    : fill_label_(plan::ignored_value(plan.dataset) ? plan::kIgnoredLabel : 0) {
    for (const plan::Component& one : plan.dataset.transforms) {
        if (auto step = make_transform(one)) {
            transforms_.push_back(std::move(step));
        } else if (one.type == "normalize") {
            normalizations_.push_back(normalization_of(one, plan.dataset.input().dims.front()));
        }
    }
    // An augmentation draws by its place, so that one more behind it changes nothing before.
    for (std::size_t place = 0; place < plan.dataset.augmentations.size(); ++place) {
        if (auto step = make_augmentation(plan.dataset.augmentations[place]))
            augmentations_.push_back({Draws::key(plan.training.seed, place), std::move(step)});
    }
}

void SampleChain::transform(Sample& sample, SampleScratch& scratch) const {
    for (const auto& step : transforms_) {
        Draws none(0, {});
        step->apply({sample, fill_label_}, scratch, none);
    }
}

void SampleChain::augment(Sample& sample, SampleScratch& scratch, const Sighting& sighting) const {
    for (const Augmentation& one : augmentations_) {
        Draws draws(one.key, sighting);
        one.step->apply({sample, fill_label_}, scratch, draws);
    }
}

void SampleChain::leave_plain(Sample& sample, SampleScratch& scratch) const {
    for (const Augmentation& one : augmentations_)
        one.step->apply_plain({sample, fill_label_}, scratch);
}

}  // namespace dtnn::runtime
