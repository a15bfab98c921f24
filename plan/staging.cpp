#include "plan/staging.hpp"

#include <algorithm>
#include <variant>

namespace dtnn::plan {

bool mixes_samples(const Dataset& dataset) {
    return std::any_of(dataset.augmentations.begin(), dataset.augmentations.end(),
                       [](const Component& one) { return one.type == "mixup"; });
}

StagedSample staged_sample(const Plan& plan) {
    const std::int64_t real = size_of(plan.target.dtype);
    const bool classes = plan.dataset.label_kind == LabelKind::classes;
    StagedSample sample;
    sample.pixels = element_count(plan.dataset.shape) * real;
    if (classes) sample.labels = element_count(plan.dataset.label_shape) * size_of(DType::i32);
    if (!classes || mixes_samples(plan.dataset)) sample.targets = plan.dataset.classes * real;
    return sample;
}

std::int64_t largest_sample(const Dataset& dataset) {
    Dims stored = dataset.stored_shape.empty() ? dataset.shape : dataset.stored_shape;
    std::int64_t largest = std::max(element_count(stored), element_count(dataset.shape));
    const std::int64_t channels =
        std::max(stored.empty() ? 1 : stored[0], dataset.shape.empty() ? 1 : dataset.shape[0]);
    for (const std::vector<Component>* list : {&dataset.transforms, &dataset.augmentations}) {
        for (const Component& one : *list) {
            const auto size = one.attributes.find("size");
            if (size == one.attributes.end()) continue;
            if (const auto* extents = std::get_if<std::vector<std::int64_t>>(&size->second))
                largest = std::max(largest, channels * element_count(*extents));
        }
    }
    return largest;
}

std::int64_t order_bytes(const Dataset& dataset) {
    const std::int64_t kept = dataset.test_as_validation ? 0 : dataset.validation_samples;
    const std::int64_t pool = dataset.source_train_samples - kept;
    std::int64_t elements =
        pool + dataset.validation_samples + dataset.test_samples + dataset.train_samples;
    // What an epoch draws from the pool besides whole rounds of it.
    if (pool > 0 && dataset.train_samples % pool != 0) elements += pool;
    return elements * std::int64_t(sizeof(std::int64_t));
}

std::int64_t staging_bytes(const Plan& plan) {
    const std::int64_t workers = std::max(1, plan.target.data_workers);
    return kStagedBatches * plan.training.batch_size * staged_sample(plan).bytes() +
           order_bytes(plan.dataset) +
           workers *
               (2 * largest_sample(plan.dataset) * std::int64_t(sizeof(float)) + kWorkerBytes);
}

}  // namespace dtnn::plan
