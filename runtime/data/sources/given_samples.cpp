#include "runtime/data/sources/given_samples.hpp"

#include "plan/rules/ignored_labels.hpp"

namespace dtnn::runtime {

void leave_target_open(const plan::Dataset& dataset, Sample& sample) {
    const plan::Feature& target = dataset.target();
    if (target.kind == plan::LabelKind::input) return;
    if (plan::are_integers(target.kind))
        sample.target().integers.assign(
            std::size_t(element_count(target.dims)),
            target.kind == plan::LabelKind::sequence ? plan::kIgnoredLabel : 0);
    else
        sample.target().doubles.assign(std::size_t(target.classes), 0.0);
}

void GivenSamples::take(std::vector<GivenArray> arrays) {
    arrays_->take(std::move(arrays));
}

void GivenSamples::load(Split, std::int64_t index, Sample& sample) const {
    arrays_->load(Split::train, index, sample);
    leave_target_open(dataset_, sample);
}

std::int64_t GivenSamples::size(Split split) const {
    return split == Split::test ? arrays_->size(Split::train) : 0;
}

std::string GivenSamples::name_of(Split, std::int64_t index) const {
    return arrays_->name_of(Split::train, index);
}

}  // namespace dtnn::runtime
