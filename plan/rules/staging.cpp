#include "plan/rules/staging.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "base/saturating.hpp"

namespace dtnn::plan {

bool mixes_samples(const Dataset& dataset) {
    return std::any_of(dataset.augmentations.begin(), dataset.augmentations.end(),
                       [](const Component& one) { return mixes_samples(one); });
}

bool mixes_samples(const Component& augmentation) {
    return augmentation.type == "mixup";  // The name stands in the front end's table besides.
}

std::int64_t StagedSample::bytes() const {
    std::int64_t all = saturating_sum({labels, targets});
    for (const std::int64_t input : inputs)
        all = saturating_sum({all, input});
    return all;
}

StagedSample staged_sample(const Plan& plan) {
    const std::int64_t real = size_of(plan.target.dtype);
    const LabelKind kind = plan.dataset.target().kind;
    StagedSample sample;
    for (const Feature& input : plan.dataset.inputs)
        sample.inputs.push_back(
            saturating_product({element_count(input.dims),
                                input.kind == LabelKind::classes ? size_of(DType::i32) : real}));
    if (are_integers(kind))
        sample.labels =
            saturating_product({element_count(plan.dataset.target().dims), size_of(DType::i32)});
    // A sample that is its own label is mixed with it.
    const bool mixed = kind == LabelKind::classes && mixes_samples(plan.dataset);
    if (mixed || (kind != LabelKind::input && !are_integers(kind)))
        sample.targets = saturating_product({plan.dataset.target().classes, real});
    return sample;
}

namespace {

/// The most channels of a sample on its way through the transforms.
std::int64_t most_channels(const Dataset& dataset) {
    std::int64_t most = 1;
    for (const Dims* shape : {&dataset.input().stored_dims, &dataset.input().dims})
        if (!shape->empty()) most = std::max(most, shape->front());
    return most;
}

}  // namespace

std::int64_t largest_sample(const Dataset& dataset) {
    Dims stored =
        dataset.input().stored_dims.empty() ? dataset.input().dims : dataset.input().stored_dims;
    std::int64_t largest = std::max(element_count(stored), element_count(dataset.input().dims));
    const std::int64_t channels = most_channels(dataset);
    for (const std::vector<Component>* list : {&dataset.transforms, &dataset.augmentations}) {
        for (const Component& one : *list) {
            const auto size = one.attributes.find("size");
            if (size == one.attributes.end()) continue;
            if (const auto* extents = std::get_if<std::vector<std::int64_t>>(&size->second))
                largest =
                    std::max(largest, saturating_product({channels, element_count(*extents)}));
        }
    }
    return largest;
}

std::int64_t order_bytes(const Dataset& dataset) {
    const std::int64_t kept = dataset.test_as_validation ? 0 : dataset.validation_samples;
    const std::int64_t pool = dataset.source_train_samples - kept;
    // The samples that an epoch draws from the pool besides whole rounds of it.
    const std::int64_t part = pool > 0 && dataset.train_samples % pool != 0 ? pool : 0;
    return saturating_product({saturating_sum({pool, dataset.validation_samples,
                                               dataset.test_samples, dataset.train_samples, part}),
                               std::int64_t(sizeof(std::int64_t))});
}

namespace {

/// Of the passes of evaluation, whose samples lie in lanes, too: the longest of them has a list.
std::int64_t lanes_bytes(const Plan& plan) {
    if (!plan.training.carry_state) return 0;
    const Dataset& dataset = plan.dataset;
    return saturating_product(
        {std::max({dataset.source_train_samples, dataset.validation_samples, dataset.test_samples}),
         std::int64_t(sizeof(std::int64_t))});
}

}  // namespace

std::int64_t staged_samples(const Plan& plan) {
    const std::int64_t batches = saturating_product({kStagedBatches, plan.training.batch_size});
    const std::int64_t workers = std::max(1, plan.target.data_workers);
    return mixes_samples(plan.dataset) ? saturating_sum({batches, workers}) : batches;
}

Stretch input_stretch(const Plan& plan) {
    const std::int64_t arena = plan.memory.arena;
    std::int64_t first = arena, end = 0;
    for (const Buffer& buffer : plan.buffers) {
        if (buffer.role != BufferRole::input) continue;
        // One that ends outside is no input of a sound plan.
        if (buffer.offset > arena || buffer.bytes > arena - buffer.offset) continue;
        first = std::min(first, buffer.offset);
        end = std::max(end, buffer.offset + buffer.bytes);
    }
    if (end <= first) return {};
    return {first, (end - first + kAlignment - 1) / kAlignment * kAlignment};
}

std::int64_t staging_bytes(const Plan& plan) {
    const std::int64_t workers = std::max(1, plan.target.data_workers);
    const StagedSample sample = staged_sample(plan);
    const std::int64_t elements = largest_sample(plan.dataset);
    // Labels of pixels move along.
    const LabelKind kind = plan.dataset.target().kind;
    const bool labelled = are_integers(kind) && !plan.dataset.target().dims.empty();
    const std::int64_t labels = !labelled ? 0
                                : has_image(plan.dataset) && kind == LabelKind::classes
                                    ? elements / most_channels(plan.dataset)
                                    : element_count(plan.dataset.target().dims);
    const std::int64_t largest = saturating_product(
        {2, saturating_sum({saturating_product({elements, size_of(DType::f32)}),
                            saturating_product({labels, size_of(DType::i32)})})});
    std::int64_t arrays = 0;
    for (std::size_t i = has_image(plan.dataset) ? 1 : 0; i < plan.dataset.inputs.size(); ++i)
        arrays =
            saturating_sum({arrays, saturating_product({element_count(plan.dataset.inputs[i].dims),
                                                        std::int64_t(sizeof(double))})});
    return saturating_sum(
        {saturating_product({staged_samples(plan), sample.bytes()}), order_bytes(plan.dataset),
         lanes_bytes(plan),
         saturating_product({workers, saturating_sum({largest, arrays, kWorkerBytes})})});
}

std::int64_t gathered_bytes(const Plan& plan) {
    std::vector<bool> in_parts(plan.parameters.size());
    for (const Shard& shard : plan.shards)
        for (const int state : shard.states)
            in_parts[std::size_t(state)] = true;
    const std::int64_t ranks = plan.target.ranks;
    std::int64_t total = 0;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        const Parameter& parameter = plan.parameters[i];
        if (!parameter.by_rank) continue;
        const std::int64_t own =
            saturating_product({element_count(parameter.dims), size_of(parameter.dtype)});
        total = saturating_sum({total, saturating_product({own, in_parts[i] ? ranks : ranks - 1})});
    }
    for (const Tensor* state : carried_states(plan))
        total = saturating_sum({total, saturating_product({element_count(state->dims),
                                                           size_of(state->dtype), ranks})});
    return total;
}

std::vector<const Tensor*> carried_states(const Plan& plan) {
    std::vector<const Tensor*> states;
    if (const Program* whole = find_program(plan, ProgramKind::train))
        for (const Input& input : whole->inputs)
            if (input.role == InputRole::carried_state)
                states.push_back(&whole->tensors[std::size_t(input.tensor)]);
    return states;
}

}  // namespace dtnn::plan
