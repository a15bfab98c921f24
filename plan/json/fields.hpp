#pragma once
/// The fields of every record of a plan, in the order they are written. Writer and reader both walk
/// these lists, so they cannot disagree. Internal to the JSON form.
///
/// A visitor has: operator()(key, field) for a value on the record's own line, lines(key, vector)
/// for a list of records with a line each, and block(key, string) for a long text.

#include <concepts>
#include <type_traits>

#include "plan/plan.hpp"

namespace dtnn::plan {

template <class T, class Record>
concept is_record = std::same_as<std::remove_const_t<T>, Record>;

void visit_fields(auto& v, is_record<Target> auto& r) {
    v("device", r.device), v("dtype", r.dtype), v("compute", r.compute), v("numerics", r.numerics),
        v("isa", r.isa), v("threads", r.threads);
    v("ranks", r.ranks), v("data_workers", r.data_workers), v("pin_threads", r.pin_threads);
}

void visit_fields(auto& v, is_record<Component> auto& r) {
    v("type", r.type), v("attributes", r.attributes);
}

void visit_fields(auto& v, is_record<Metric> auto& r) {
    v("name", r.name), v("type", r.type), v("attributes", r.attributes), v("output", r.output);
}

void visit_fields(auto& v, is_record<ParameterGroup> auto& r) {
    v("pattern", r.pattern), v("attributes", r.attributes);
}

void visit_fields(auto& v, is_record<CheckpointRule> auto& r) {
    v("every_steps", r.every_steps), v("every_seconds", r.every_seconds);
    v("every_epochs", r.every_epochs), v("keep", r.keep);
}

void visit_fields(auto& v, is_record<Training> auto& r) {
#define TRAINING_MEMBER(type, name, ...) v(#name, r.name);
#include "plan/training.def"
#undef TRAINING_MEMBER
}

void visit_fields(auto& v, is_record<Feature> auto& r) {
    v("name", r.name), v("dtype", r.dtype), v("dims", r.dims), v("axes", r.axes);
    v("stored_dims", r.stored_dims), v("kind", r.kind), v("classes", r.classes),
        v("names", r.names);
    v("mean", r.mean), v("deviation", r.deviation);
}

void visit_fields(auto& v, is_record<FeatureColumn> auto& r) {
    v("name", r.name), v("place", r.place), v("category", r.category), v("values", r.values);
    v("one_hot", r.one_hot), v("filled", r.filled), v("fill", r.fill);
    v("indicator", r.indicator);
}

void visit_fields(auto& v, is_record<Dataset> auto& r) {
    v("name", r.name), v("type", r.type), v("inputs", r.inputs), v("targets", r.targets);
    for (const DatasetTexts& one : kDatasetTexts)
        v(one.name, r.*one.member);
    v("columns", r.columns);
    v("train_samples", r.train_samples), v("validation_samples", r.validation_samples);
    v("test_samples", r.test_samples), v("source_train_samples", r.source_train_samples);
    v("test_as_validation", r.test_as_validation), v("validation_files", r.validation_files);
    v("transforms", r.transforms), v("augmentations", r.augmentations);
    v("attributes", r.attributes);
}

void visit_fields(auto& v, is_record<Parallel> auto& r) {
    v("data", r.data), v("any_ranks", r.any_ranks), v("reduction", r.reduction);
    v("batch_statistics", r.batch_statistics);
    v("learning_rate_scaling", r.learning_rate_scaling), v("bucket_bytes", r.bucket_bytes);
    v("timeout_seconds", r.timeout_seconds), v("optimizer", r.optimizer), v("wire", r.compression);
    v("density", r.density), v("local_steps", r.local_steps), v("average", r.average);
    v("participation", r.participation), v("min_avail", r.min_avail);
    v("private_data", r.private_data);
}

void visit_fields(auto& v, is_record<Gpus> auto& r) {
    v("model", r.model), v("count", r.count), v("memory_bytes", r.memory_bytes);
    v("library_bytes", r.library_bytes), v("f32_rate", r.f32_rate), v("f64_rate", r.f64_rate);
    v("tf32_rate", r.tf32_rate), v("bf16_rate", r.bf16_rate);
    v("memory_bandwidth", r.memory_bandwidth), v("host_bandwidth", r.host_bandwidth);
    v("step_overhead", r.step_overhead), v("latency", r.latency), v("bandwidth", r.bandwidth);
}

void visit_fields(auto& v, is_record<Machine> auto& r) {
    v("name", r.name), v("nodes", r.nodes), v("cores", r.cores);
    v("memory_bytes", r.memory_bytes), v("isa", r.isa), v("product_rate", r.product_rate);
    v("convolution_rate", r.convolution_rate), v("memory_bandwidth", r.memory_bandwidth);
    v("node_memory_bandwidth", r.node_memory_bandwidth), v("step_overhead", r.step_overhead);
    v("decode_rate", r.decode_rate), v("network_latency", r.network_latency);
    v("network_bandwidth", r.network_bandwidth), v("local_latency", r.local_latency);
    v("local_bandwidth", r.local_bandwidth), v("thread_efficiency", r.thread_efficiency);
    v("kernels", r.kernels), v("compute_error", r.compute_error);
    v("exchange_error", r.exchange_error), v("gpus", r.gpus), v("slurm", r.slurm);
}

void visit_fields(auto& v, is_record<Collective> auto& r) {
    v("name", r.name), v("kind", r.kind), v("buffer", r.buffer), v("offset", r.offset);
    v("bytes", r.bytes), v("dtype", r.dtype), v("start", r.start), v("wait", r.wait);
    v("parameters", r.parameters), v("seconds", r.seconds), v("wire", r.compression);
    v("density", r.density), v("residual", r.residual), v("scratch", r.scratch);
}

void visit_fields(auto& v, is_record<Shard> auto& r) {
    v("name", r.name), v("parameters", r.parameters), v("part", r.part), v("states", r.states);
}

void visit_fields(auto& v, is_record<Memory> auto& r) {
    v("parameters", r.parameters), v("optimizer", r.optimizer), v("inputs", r.inputs);
    v("transient", r.transient), v("arena", r.arena), v("staging", r.staging);
    v("samples", r.samples);
}

void visit_fields(auto& v, is_record<Layer> auto& r) {
    v("index", r.index), v("name", r.name), v("type", r.type), v("output_shape", r.output_shape);
    v("output_axes", r.output_axes), v("weights_shape", r.weights_shape);
    v("parameters", r.parameters), v("trainable", r.trainable), v("attributes", r.attributes),
        v("from", r.from);
    v("forward_flops", r.forward_flops), v("place", r.place);
}

void visit_fields(auto& v, is_record<Initializer> auto& r) {
    v("kind", r.kind), v("fan_in", r.fan_in), v("fan_out", r.fan_out), v("stream", r.stream);
    v("numbers", r.numbers);
}

void visit_fields(auto& v, is_record<Parameter> auto& r) {
    v("name", r.name), v("role", r.role), v("kind", r.kind);
    v("trainable", r.trainable);
    v("optimizer_state", r.optimizer_state), v("dtype", r.dtype), v("dims", r.dims);
    v("physical_dims", r.physical_dims), v("order", r.order), v("buffer", r.buffer);
    v("offset", r.offset), v.mark("by_rank", r.by_rank);
    v("initializer", r.initializer), v("layer", r.layer), v("place", r.place);
}

void visit_fields(auto& v, is_record<Buffer> auto& r) {
    v("name", r.name), v("role", r.role), v("offset", r.offset), v("bytes", r.bytes);
    v("program", r.program), v("first_step", r.first_step), v("last_step", r.last_step);
}

void visit_fields(auto& v, is_record<Tensor> auto& r) {
    v("name", r.name), v("buffer", r.buffer), v("offset", r.offset), v("dtype", r.dtype);
    v("dims", r.dims), v("order", r.order), v.mark("by_rank", r.by_rank);
}

void visit_fields(auto& v, is_record<Refusal> auto& r) {
    v("kernel", r.kernel), v("reason", r.reason), v.known("seconds", r.seconds);
}

void visit_fields(auto& v, is_record<Refusals> auto& r) {
    v("kernels", r.kernels), v.known("seconds", r.seconds);
}

void visit_fields(auto& v, is_record<Step> auto& r) {
    v("name", r.name), v("op", r.op), v("kernel", r.kernel);
    v("kernel_class", r.kernel_class), v("phase", r.phase);
    v("sources", r.sources), v("destinations", r.destinations), v("workspace", r.workspace);
    v("attributes", r.attributes), v("flops", r.flops), v("bytes", r.bytes), v("layer", r.layer);
    v("layers", r.layers), v("place", r.place), v("refusals", r.refusals);
}

void visit_fields(auto& v, is_record<Output> auto& r) {
    v("name", r.name), v("tensor", r.tensor);
}

void visit_fields(auto& v, is_record<Input> auto& r) {
    v("role", r.role), v("index", r.index), v("tensor", r.tensor);
}

void visit_fields(auto& v, is_record<Program> auto& r) {
    v("name", r.name), v("kind", r.kind), v("phase", r.phase), v("batch", r.batch);
    v("inputs", r.inputs), v("outputs", r.outputs);
    v.lines("tensors", r.tensors), v.lines("prologue", r.prologue), v.lines("steps", r.steps);
    v.lines("collectives", r.collectives);
}

void visit_fields(auto& v, is_record<ResolvedValue> auto& r) {
    v("path", r.path), v("value", r.value), v("origin", r.origin), v("place", r.place);
    v("meaning", r.meaning), v("reason", r.reason);
}

void visit_fields(auto& v, is_record<Plan> auto& r) {
    v.line("generator", r.generator), v.line("name", r.name), v.line("model", r.model);
    v.line("target", r.target), v.line("training", r.training), v.line("dataset", r.dataset);
    v.line("parallel", r.parallel), v.line("machine", r.machine);
    v.line("memory", r.memory), v.line("passes", r.passes);
    v.line("prediction", r.prediction);
    v.lines("layers", r.layers), v.lines("parameters", r.parameters);
    v.lines("buffers", r.buffers), v.lines("shards", r.shards), v.lines("refusals", r.refusals);
    v.lines("programs", r.programs), v.lines("values", r.values);
    v.line("resolved_spec", r.resolved_spec);
}

}  // namespace dtnn::plan
