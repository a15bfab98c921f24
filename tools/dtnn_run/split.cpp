#include "tools/dtnn_run/split.hpp"

#include <fmt/format.h>

#include "runtime/base/run_error.hpp"

namespace dtnn {

// The words of the option are compared in this file alone: `validation` is a split of the samplers
// only where it has samples of its own.
bool is_split(const std::string& word) {
    return word == "train" || word == "validation" || word == "test";
}

void require_split(const plan::Plan& plan, const std::string& word) {
    const plan::Dataset& dataset = plan.dataset;
    const std::int64_t samples = word == "validation" ? dataset.validation_samples
                                 : word == "test"     ? dataset.test_samples
                                                      : dataset.train_samples;
    if (samples > 0) return;
    throw runtime::RunError(
        runtime::Exit::usage,
        fmt::format("the plan's dataset `{}` has no {} samples", dataset.name, word),
        word == "validation" ? "compile the job with training.validation_split, "
                               "dataset.validation_folder or dataset.test_as_validation"
                             : "name another split: train, validation, test");
}

SplitSamples samples_of(const runtime::Sampler& sampler, const std::string& word) {
    if (word == "train") return {runtime::Split::train, sampler.train()};
    if (word == "validation") return {sampler.validation_split(), sampler.validation()};
    return {runtime::Split::test, sampler.test()};
}

}  // namespace dtnn
