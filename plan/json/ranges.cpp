#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "plan/json/reading.hpp"

namespace dtnn::plan {

namespace {

// Limits that no plan of ours comes near; they bound the time and memory that a hostile text can
// take.
constexpr std::size_t kMostAxes = 8;
// The bounds of bytes and counts are so small that no sum over a plan's records overflows.
constexpr std::int64_t kMostCount = std::int64_t{1} << 41;
constexpr std::int64_t kMostBatch = std::int64_t{1} << 31;
constexpr std::int64_t kMostWorkers = 1024;
constexpr std::int64_t kMostRanks = std::int64_t{1} << 20;

void check_index(int index, std::size_t size, bool optional, const Where& where) {
    if (index >= (optional ? -1 : 0) && index < std::int64_t(size)) return;
    where.refuse(fmt::format("{} is no index into {} entries", index, size));
}

void check_count(std::int64_t value, const Where& where, std::int64_t least = 0,
                 std::int64_t most = kMostCount) {
    if (value < least) where.refuse(fmt::format("{} is less than {}", value, least));
    if (value > most) where.refuse(fmt::format("{} is more than {}", value, most));
}

void check_dims(const Dims& dims, const Order& order, DType dtype, const Where& where) {
    if (dims.size() > kMostAxes) where.refuse(fmt::format("{} axes", dims.size()));
    std::int64_t elements = 1;
    for (std::int64_t extent : dims) {
        check_count(extent, where, 1);
        if (__builtin_mul_overflow(elements, extent, &elements)) elements = kMostCount;
        if (elements > kMostCount / size_of(dtype)) where.refuse("the extents overflow");
    }
    if (order.empty()) return;
    std::vector<bool> seen(dims.size());
    bool permutation = order.size() == dims.size();
    for (int axis : order) {
        if (!permutation) break;
        permutation = axis >= 0 && axis < int(dims.size()) && !seen[axis];
        if (permutation) seen[axis] = true;
    }
    if (!permutation) where.refuse("the order is no permutation of the axes");
}

void check_step(const Plan& plan, const Program& program, const Step& step, const Where& where) {
    check_index(step.refusals, plan.refusals.size(), true, {&where, "refusals"});
    for (const auto* list : {&step.sources, &step.destinations}) {
        Where operands{&where, list == &step.sources ? "sources" : "destinations"};
        for (std::size_t i = 0; i < list->size(); ++i)
            check_index((*list)[i], program.tensors.size(), false, {&operands, nullptr, i});
    }
    check_index(step.workspace, plan.buffers.size(), true, {&where, "workspace"});
    check_index(step.layer, plan.layers.size(), true, {&where, "layer"});
    Where layers{&where, "layers"};
    for (std::size_t i = 0; i < step.layers.size(); ++i)
        check_index(step.layers[i], plan.layers.size(), false, {&layers, nullptr, i});
    if (step.flops < 0) Where{&where, "flops"}.refuse("less than 0");
    if (step.bytes < 0) Where{&where, "bytes"}.refuse("less than 0");
}

// A time or a rate: neither negative nor NaN nor infinite.
void check_amount(double value, const Where& where) {
    if (!(value >= 0) || value > std::numeric_limits<double>::max())
        where.refuse(fmt::format("{} is no amount", value));
}

void check_collective(const Plan& plan, const Program& program, const Collective& collective,
                      const Where& where) {
    check_index(collective.buffer, plan.buffers.size(), false, {&where, "buffer"});
    check_count(collective.offset, {&where, "offset"});
    check_count(collective.bytes, {&where, "bytes"}, 1);
    if (collective.dtype != DType::f32 && collective.dtype != DType::f64)
        Where{&where, "dtype"}.refuse("neither f32 nor f64");
    check_index(collective.start, program.steps.size(), false, {&where, "start"});
    check_index(collective.wait, program.steps.size(), false, {&where, "wait"});
    Where parameters{&where, "parameters"};
    for (std::size_t i = 0; i < collective.parameters.size(); ++i)
        check_index(collective.parameters[i], plan.parameters.size(), false,
                    {&parameters, nullptr, i});
    check_amount(collective.seconds, {&where, "seconds"});
    check_amount(collective.density, {&where, "density"});
    check_index(collective.residual, plan.buffers.size(), true, {&where, "residual"});
    check_index(collective.scratch, plan.buffers.size(), true, {&where, "scratch"});
}

void check_shard(const Plan& plan, const Shard& shard, const Where& where) {
    check_count(shard.part, {&where, "part"}, 1);
    for (const auto* list : {&shard.parameters, &shard.states}) {
        Where place{&where, list == &shard.states ? "states" : "parameters"};
        for (std::size_t i = 0; i < list->size(); ++i)
            check_index((*list)[i], plan.parameters.size(), false, {&place, nullptr, i});
    }
}

void check_program(const Plan& plan, const Program& program, const Where& where) {
    check_count(program.batch, {&where, "batch"}, 1);
    Where tensors{&where, "tensors"};
    for (std::size_t i = 0; i < program.tensors.size(); ++i) {
        const Tensor& tensor = program.tensors[i];
        Where place{&tensors, nullptr, i};
        check_index(tensor.buffer, plan.buffers.size(), false, {&place, "buffer"});
        check_count(tensor.offset, {&place, "offset"});
        check_dims(tensor.dims, tensor.order, tensor.dtype, {&place, "dims"});
    }
    Where prologue{&where, "prologue"}, steps{&where, "steps"};
    for (std::size_t i = 0; i < program.prologue.size(); ++i)
        check_step(plan, program, program.prologue[i], {&prologue, nullptr, i});
    for (std::size_t i = 0; i < program.steps.size(); ++i)
        check_step(plan, program, program.steps[i], {&steps, nullptr, i});
    Where collectives{&where, "collectives"};
    for (std::size_t i = 0; i < program.collectives.size(); ++i)
        check_collective(plan, program, program.collectives[i], {&collectives, nullptr, i});
    const auto check_ends = [&](const char* name, const auto& list) {
        const Where ends{&where, name};
        for (std::size_t i = 0; i < list.size(); ++i)
            check_index(list[i].tensor, program.tensors.size(), false, {&ends, nullptr, i});
    };
    check_ends("inputs", program.inputs);
    check_ends("outputs", program.outputs);
}

void check_parallel(const Parallel& parallel) {
    const Where where{nullptr, "parallel"};
    check_count(parallel.bucket_bytes, {&where, "bucket_bytes"});
    check_count(parallel.local_steps, {&where, "local_steps"});
    check_count(parallel.min_avail, {&where, "min_avail"});
    check_amount(parallel.density, {&where, "density"});
    check_amount(parallel.timeout_seconds, {&where, "timeout_seconds"});
}

void check_gpus(const Gpus& gpus) {
    const Where where{nullptr, "machine.gpus"};
    check_count(gpus.count, {&where, "count"});
    check_count(gpus.memory_bytes, {&where, "memory_bytes"});
    check_count(gpus.library_bytes, {&where, "library_bytes"});
    for (const double amount :
         {gpus.f32_rate, gpus.f64_rate, gpus.tf32_rate, gpus.bf16_rate, gpus.memory_bandwidth,
          gpus.host_bandwidth, gpus.step_overhead, gpus.latency, gpus.bandwidth})
        check_amount(amount, where);
}

void check_machine(const Machine& machine) {
    const Where where{nullptr, "machine"};
    check_gpus(machine.gpus);
    check_count(machine.nodes, {&where, "nodes"}, 1);
    check_count(machine.cores, {&where, "cores"});
    if (machine.memory_bytes < 0) Where{&where, "memory_bytes"}.refuse("less than 0");
    check_amount(machine.product_rate, {&where, "product_rate"});
    check_amount(machine.convolution_rate, {&where, "convolution_rate"});
    check_amount(machine.memory_bandwidth, {&where, "memory_bandwidth"});
    check_amount(machine.node_memory_bandwidth, {&where, "node_memory_bandwidth"});
    check_amount(machine.step_overhead, {&where, "step_overhead"});
    check_amount(machine.decode_rate, {&where, "decode_rate"});
    check_amount(machine.network_latency, {&where, "network_latency"});
    check_amount(machine.network_bandwidth, {&where, "network_bandwidth"});
    check_amount(machine.local_latency, {&where, "local_latency"});
    check_amount(machine.local_bandwidth, {&where, "local_bandwidth"});
    check_amount(machine.compute_error, {&where, "compute_error"});
    check_amount(machine.exchange_error, {&where, "exchange_error"});
}

/// As many kinds of axes as there are axes.
void check_axes(const Axes& axes, const Dims& dims, const Where& where) {
    if (axes.size() != dims.size())
        where.refuse(fmt::format("{} axes for {} extents", axes.size(), dims.size()));
}

/// A mean and a deviation for each of an input's features, or none.
void check_scale(const Feature& input, std::int64_t features, const Where& where) {
    if (input.mean.empty() && input.deviation.empty()) return;
    if (std::int64_t(input.mean.size()) != features ||
        std::int64_t(input.deviation.size()) != features)
        Where{&where, "mean"}.refuse(fmt::format("{} means and {} deviations for {} features",
                                                 input.mean.size(), input.deviation.size(),
                                                 features));
    if (std::any_of(input.deviation.begin(), input.deviation.end(),
                    [](double deviation) { return !(deviation > 0); }))
        Where{&where, "deviation"}.refuse("one that is not more than 0");
}

void check_features(const Dataset& dataset) {
    const Where where{nullptr, "dataset"}, inputs{&where, "inputs"}, targets{&where, "targets"};
    if (dataset.inputs.empty()) inputs.refuse("none");
    if (dataset.targets.size() != 1) targets.refuse("not one");
    for (const auto* list : {&dataset.inputs, &dataset.targets}) {
        const bool target = list == &dataset.targets;
        for (std::size_t i = 0; i < list->size(); ++i) {
            const Feature& feature = (*list)[i];
            const Where place{target ? &targets : &inputs, nullptr, i};
            check_dims(feature.dims, {}, DType::f64, {&place, "dims"});
            check_axes(feature.axes, feature.dims, {&place, "axes"});
            if (!feature.stored_dims.empty())
                check_axes(feature.axes, feature.stored_dims, {&place, "stored_dims"});
            for (const std::int64_t extent : feature.stored_dims)
                check_count(extent, {&place, "stored_dims"});
            check_count(feature.classes, {&place, "classes"}, target ? 1 : 0);
            // The features of an input of numbers have names; what else has some are classes.
            const bool features = !target && feature.kind == LabelKind::values;
            const int axis = feature_axis(feature.axes);
            const std::int64_t numbers = !features  ? feature.classes
                                         : axis < 0 ? 0
                                                    : feature.dims[std::size_t(axis)];
            if (const std::size_t names = feature.names.size();
                names > 0 && std::int64_t(names) != numbers)
                Where{&place, "names"}.refuse(fmt::format("{} names for {} {}", names, numbers,
                                                          features ? "features" : "classes"));
            if (!target) check_scale(feature, numbers, place);
        }
    }
}

}  // namespace

void check_ranges(const Plan& plan) {
    Where target{nullptr, "target"}, training{nullptr, "training"}, dataset{nullptr, "dataset"};
    check_count(plan.target.threads, {&target, "threads"}, 1);
    check_count(plan.target.ranks, {&target, "ranks"}, 1, kMostRanks);
    check_count(plan.target.data_workers, {&target, "data_workers"}, 1, kMostWorkers);
    if (plan.target.dtype != DType::f32 && plan.target.dtype != DType::f64)
        Where{&target, "dtype"}.refuse("neither f32 nor f64");
    if (plan.target.compute != Compute::full && plan.target.dtype != DType::f32)
        Where{&target, "compute"}.refuse("not of the dtype f32");
    check_count(plan.training.epochs, {&training, "epochs"});
    check_count(plan.training.batch_size, {&training, "batch_size"}, 1, kMostBatch);
    check_count(plan.training.steps_per_epoch, {&training, "steps_per_epoch"});
    check_count(plan.training.accumulation, {&training, "accumulation"}, 1);
    check_count(plan.training.checkpoint.every_steps, {&training, "checkpoint"});
    check_count(plan.training.checkpoint.every_epochs, {&training, "checkpoint"});
    check_count(plan.training.checkpoint.keep, {&training, "checkpoint"}, 1);
    check_features(plan.dataset);
    check_count(plan.dataset.train_samples, {&dataset, "train_samples"});
    check_count(plan.dataset.validation_samples, {&dataset, "validation_samples"});
    check_count(plan.dataset.test_samples, {&dataset, "test_samples"});
    check_count(plan.dataset.source_train_samples, {&dataset, "source_train_samples"});
    check_parallel(plan.parallel);
    check_machine(plan.machine);
    const Memory& m = plan.memory;
    for (std::int64_t bytes :
         {m.parameters, m.optimizer, m.inputs, m.transient, m.arena, m.staging, m.samples})
        check_count(bytes, {nullptr, "memory"});
    Where layers{nullptr, "layers"};
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        Where place{&layers, nullptr, i};
        if (plan.layers[i].index != int(i))
            Where{&place, "index"}.refuse("layers are not numbered from 0 without gaps");
        check_axes(plan.layers[i].output_axes, plan.layers[i].output_shape,
                   {&place, "output_axes"});
        check_count(plan.layers[i].parameters, {&place, "parameters"});
        if (plan.layers[i].forward_flops < 0) Where{&place, "forward_flops"}.refuse("less than 0");
    }
    Where shards{nullptr, "shards"};
    for (std::size_t i = 0; i < plan.shards.size(); ++i)
        check_shard(plan, plan.shards[i], {&shards, nullptr, i});
    Where parameters{nullptr, "parameters"};
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        const Parameter& parameter = plan.parameters[i];
        Where place{&parameters, nullptr, i};
        check_dims(parameter.dims, {}, parameter.dtype, {&place, "dims"});
        check_dims(parameter.physical_dims, parameter.order, parameter.dtype,
                   {&place, "physical_dims"});
        check_index(parameter.buffer, plan.buffers.size(), false, {&place, "buffer"});
        check_count(parameter.offset, {&place, "offset"});
        check_index(parameter.layer, plan.layers.size(), true, {&place, "layer"});
    }
    Where buffers{nullptr, "buffers"};
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        const Buffer& buffer = plan.buffers[i];
        Where place{&buffers, nullptr, i};
        check_count(buffer.offset, {&place, "offset"});
        check_count(buffer.bytes, {&place, "bytes"});
        check_index(buffer.program, plan.programs.size(), true, {&place, "program"});
    }
    Where refusals{nullptr, "refusals"};
    for (std::size_t i = 0; i < plan.refusals.size(); ++i) {
        Where place{&refusals, nullptr, i};
        check_amount(plan.refusals[i].seconds, {&place, "seconds"});
        for (const Refusal& refusal : plan.refusals[i].kernels)
            check_amount(refusal.seconds, {&place, "kernels"});
    }
    Where programs{nullptr, "programs"};
    for (std::size_t i = 0; i < plan.programs.size(); ++i)
        check_program(plan, plan.programs[i], {&programs, nullptr, i});
}

}  // namespace dtnn::plan
