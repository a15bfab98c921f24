#include "runtime/train/private_data.hpp"

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <string>

#include "plan/rules/local_steps.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

std::unique_ptr<SampleSource> open_private_data(plan::Plan& plan, int rank) {
    plan::Dataset& dataset = plan.dataset;
    Attributes attributes = dataset.attributes;
    for (const auto& [name, value] : dataset.attributes)
        if (const auto* path = std::get_if<std::string>(&value))
            attributes[name] = plan::path_of_rank(*path, rank);
    dataset.attributes = attributes;
    std::unique_ptr<SampleSource> source = open_source(dataset, Counts::at_most, plan.target.dtype);
    dataset.train_samples = dataset.source_train_samples = source->size(Split::train);
    dataset.test_samples = source->size(Split::test);
    static_cast<void>(plan::split_dataset(plan.training, dataset));
    if (dataset.train_samples < plan.training.batch_size) {
        throw RunError(Exit::mismatch,
                       fmt::format("the dataset of rank {} has {} samples to train on, less than a "
                                   "batch of {}",
                                   rank, dataset.train_samples, plan.training.batch_size),
                       "ranks with data of their own train on whole batches: compile the job with "
                       "a smaller training.batch_size, or leave the rank out");
    }
    return source;
}

std::vector<std::int64_t> share_sample_counts(plan::Plan& plan, Communicator& communicator) {
    const std::int64_t mine = plan.dataset.train_samples;
    std::vector<std::int64_t> samples;
    for (const std::vector<std::byte>& one :
         communicator.all_gather(std::as_bytes(std::span(&mine, 1)), "the samples of every rank"))
        std::memcpy(&samples.emplace_back(), one.data(), sizeof mine);
    plan.training.steps_per_epoch = plan::LocalSteps(plan, samples).steps();
    plan.training.whole_epochs = false;
    return samples;
}

}  // namespace dtnn::runtime
