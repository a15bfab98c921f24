// Times kernels of the catalogue on problems of real networks, channels last, batch 64.
//
//     kernels-bench --benchmark_filter=batch_norm        names are operator/kernel/instruction
//     set/problem OMP_NUM_THREADS=2 kernels-bench
//
// The rate in bytes counts every operand once.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/dispatch.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels {
namespace {

struct Item {
    std::string name;
    Problem problem;
};

TensorType image(Dims dims, DType dtype = DType::f32) {
    TensorType tensor{dtype, std::move(dims), {}};
    if (tensor.dims.size() == 4) tensor.order = {0, 2, 3, 1};
    return tensor;
}
TensorType plain(Dims dims, DType dtype = DType::f32) {
    return {dtype, std::move(dims), {}};
}
TensorType filters(Dims dims) {
    return {DType::f32, std::move(dims), {2, 3, 1, 0}};
}

using Pair = std::vector<std::int64_t>;

void add_convolutions(std::vector<Item>& items) {
    struct Shape {
        const char* name;
        std::int64_t channels, size, filters, kernel, stride;
    };
    for (const Shape& s :
         {Shape{"mnist1", 1, 28, 4, 3, 1}, Shape{"mnist2", 4, 28, 8, 3, 1},
          Shape{"vgg1", 3, 32, 64, 3, 1}, Shape{"vgg2", 64, 32, 64, 3, 1},
          Shape{"vgg4", 128, 16, 128, 3, 1}, Shape{"vgg8", 512, 4, 512, 3, 1},
          Shape{"resnet_1x1", 64, 16, 256, 1, 1}, Shape{"resnet_down", 16, 32, 32, 3, 2}}) {
        const std::int64_t pad = s.kernel / 2, out = (s.size + 2 * pad - s.kernel) / s.stride + 1;
        const Dims src{64, s.channels, s.size, s.size}, dst{64, s.filters, out, out};
        const Dims weights{s.filters, s.channels, s.kernel, s.kernel};
        const Attributes attributes{{"stride", Pair{s.stride, s.stride}},
                                    {"padding", Pair{pad, pad, pad, pad}},
                                    {"dilation", Pair{1, 1}},
                                    {"groups", std::int64_t(1)},
                                    {"kernel", Pair{s.kernel, s.kernel}},
                                    {"source_shape", src},
                                    {"epilogue", std::string("none")}};
        const auto add = [&](const char* op, std::vector<TensorType> from, TensorType to) {
            items.push_back(
                {s.name, {op, DType::f32, std::move(from), {std::move(to)}, attributes}});
        };
        add("conv2d", {image(src), filters(weights)}, image(dst));
        add("conv2d_backward_data", {image(dst), filters(weights)}, image(src));
        add("conv2d_backward_weights", {image(src), image(dst)}, filters(weights));
    }
    for (const auto& [name, inputs, units] :
         {std::tuple{"simplecnn", std::int64_t(1568), std::int64_t(128)},
          std::tuple{"vgg", std::int64_t(512), std::int64_t(512)}}) {
        const TensorType src = plain({64, inputs}), dst = plain({64, units});
        const TensorType weights = plain({inputs, units});
        const Attributes attributes{{"epilogue", std::string("none")},
                                    {"source_shape", src.dims},
                                    {"weights_shape", weights.dims}};
        items.push_back({name, {"dense", DType::f32, {src, weights}, {dst}, attributes}});
        items.push_back(
            {name, {"dense_backward_data", DType::f32, {dst, weights}, {src}, attributes}});
        items.push_back(
            {name, {"dense_backward_weights", DType::f32, {src, dst}, {weights}, attributes}});
    }
}

void add_images(std::vector<Item>& items) {
    for (const Dims& dims : {Dims{64, 8, 28, 28}, Dims{64, 64, 32, 32}, Dims{64, 512, 4, 4}}) {
        const std::string name = "c" + std::to_string(dims[1]);
        const TensorType src = image(dims), flat = plain({src.elements()});
        const Dims half{dims[0], dims[1], dims[2] / 2, dims[3] / 2};
        const TensorType dst = image(half), indices = image(half, DType::u8);
        const TensorType channel = plain({dims[1]}), pixel = image({dims[0], dims[1], 1, 1});
        const TensorType mask = plain({(src.elements() + 7) / 8}, DType::u8);
        const Attributes pool{
            {"kernel", Pair{2, 2}},   {"stride", Pair{2, 2}}, {"padding", Pair{0, 0, 0, 0}},
            {"dilation", Pair{1, 1}}, {"indices", true},      {"source_shape", dims}};
        const auto add = [&](const char* op, std::vector<TensorType> from,
                             std::vector<TensorType> to, Attributes attributes = {}) {
            items.push_back(
                {name, {op, DType::f32, std::move(from), std::move(to), std::move(attributes)}});
        };
        const auto expression = [](const char* text) {
            return Attributes{{"expression", std::string(text)}};
        };
        add("elementwise", {flat}, {flat}, expression("x0 0 max"));
        add("elementwise", {flat, flat}, {flat}, expression("x1 0 gt x0 0 select"));
        add("elementwise", {flat, flat}, {flat}, expression("x0 x1 add"));
        add("elementwise", {flat, flat}, {flat}, expression("x0 x1 add 0 max"));
        add("elementwise", {flat, flat}, {flat}, expression("x0 x1 mul x0 add"));
        add("elementwise", {flat}, {flat}, expression("x0 sigmoid"));
        add("elementwise", {flat}, {flat}, expression("x0 tanh"));
        add("max_pool2d", {src}, {dst, indices}, pool);
        add("max_pool2d_backward", {dst, indices}, {src}, pool);
        add("avg_pool2d", {src}, {dst}, pool);
        add("avg_pool2d_backward", {dst}, {src}, pool);
        add("global_avg_pool2d", {src}, {pixel});
        add("global_avg_pool2d_backward", {pixel}, {src}, pool);
        const Attributes relu{{"epsilon", 1e-5},
                              {"momentum", 0.9},
                              {"epilogue", std::string("relu")},
                              {"mask", true}};
        add("batch_norm_training", {src, channel, channel, channel, channel},
            {src, channel, channel, channel, channel, mask}, relu);
        add("batch_norm_backward", {src, src, channel, channel, channel, mask},
            {src, channel, channel}, relu);
        add("batch_norm_inference", {src, channel, channel, channel, channel}, {src},
            {{"epsilon", 1e-5}, {"epilogue", std::string("relu")}});
        const TensorType number = image({1, dims[1], dims[2], dims[3]});
        const TensorType sample = plain({dims[0]}), group = plain({dims[0], 8});
        const TensorType every_pixel = plain({dims[0] * dims[2] * dims[3]});
        Attributes samples{{"epsilon", 1e-5}, {"affine", true}, {"statistics", true}};
        Attributes pixels = samples, groups = samples;
        samples["axis"] = std::string("features");
        pixels["axis"] = std::string("channels");
        groups["groups"] = std::int64_t(8);
        add("layer_norm", {src, number, number}, {src, sample, sample}, samples);
        add("layer_norm_backward", {src, src, sample, sample, number}, {src, number, number},
            samples);
        add("layer_norm", {src, channel, channel}, {src, every_pixel, every_pixel}, pixels);
        add("layer_norm_backward", {src, src, every_pixel, every_pixel, channel},
            {src, channel, channel}, pixels);
        add("group_norm", {src, channel, channel}, {src, group, group}, groups);
        add("group_norm_backward", {src, src, group, group, channel}, {src, channel, channel},
            groups);
        const Attributes response{
            {"size", std::int64_t(5)}, {"alpha", 1e-4}, {"beta", 0.75}, {"k", 1.0}};
        add("local_response_norm", {src}, {src}, response);
        add("local_response_norm_backward", {src, src}, {src}, response);
        add("reorder", {plain(dims)}, {src});
        add("concat", {dst, dst}, {image({half[0], 2 * half[1], half[2], half[3]})});
        const TensorType twice = image({dims[0], dims[1], 2 * dims[2], 2 * dims[3]});
        Attributes size{{"size", Pair{twice.dims[2], twice.dims[3]}}};
        size["mode"] = std::string("bilinear");
        add("upsample2d", {src}, {twice}, size);
        add("upsample2d_backward", {twice}, {src}, size);
        const TensorType uneven = image({dims[0], dims[1], dims[2] / 2 + 1, dims[3] / 2 + 1});
        const Attributes windows{{"size", Pair{uneven.dims[2], uneven.dims[3]}}};
        add("adaptive_avg_pool2d", {src}, {uneven}, windows);
        add("adaptive_avg_pool2d_backward", {uneven}, {src}, windows);
        add("channel_sums", {src}, {channel});
        add("slice", {src}, {image({dims[0], dims[1] / 2, dims[2], dims[3]})},
            {{"axis", std::string("channels")}, {"begin", std::int64_t(0)}, {"end", dims[1] / 2}});
        add("dropout_apply", {flat, plain({1}, DType::i64)}, {flat},
            {{"rate", 0.5}, {"seed", std::int64_t(1)}, {"stream", std::int64_t(0)}});
    }
}

void add_rows(std::vector<Item>& items) {
    const TensorType scores = plain({64, 10}), labels = plain({64}, DType::i32), one = plain({});
    items.push_back({"64x10", {"softmax", DType::f32, {scores}, {scores}, {}}});
    items.push_back(
        {"64x10", {"softmax_cross_entropy", DType::f32, {scores, labels}, {one, scores}, {}}});
    items.push_back(
        {"64x10", {"softmax_cross_entropy_backward", DType::f32, {scores, labels}, {scores}, {}}});
    items.push_back({"64x10", {"log_softmax", DType::f32, {scores}, {scores}, {}}});
    items.push_back(
        {"64x10", {"log_softmax_backward", DType::f32, {scores, scores}, {scores}, {}}});
    const TensorType sum = plain({}, DType::f64);
    items.push_back({"64x10", {"categorical_accuracy", DType::f32, {scores, labels}, {sum}, {}}});
    items.push_back(
        {"64x10", {"class_pairs", DType::f32, {scores, labels}, {plain({64, 2}, DType::i32)}, {}}});
    items.push_back({"64x10",
                     {"elementwise_mean",
                      DType::f32,
                      {scores, scores},
                      {one},
                      {{"expression", std::string("x0 x1 sub x0 x1 sub mul")}}}});
    for (const std::int64_t count : {200000, 15000000}) {
        const TensorType w = plain({count});
        items.push_back({std::to_string(count),
                         {"sgd_update",
                          DType::f32,
                          {w, w, one, w},
                          {w, w},
                          {{"momentum", 0.9}, {"weight_decay", 0.0}}}});
        const TensorType update = plain({}, DType::i64);
        const auto add = [&](const char* op, std::vector<TensorType> sources,
                             std::vector<TensorType> results, Attributes attributes = {}) {
            items.push_back(
                {std::to_string(count),
                 {op, DType::f32, std::move(sources), std::move(results), std::move(attributes)}});
        };
        const Attributes root{{"epsilon", 1e-8}, {"weight_decay", 0.0}};
        const auto with = [](Attributes attributes, const Attributes& more) {
            attributes.insert(more.begin(), more.end());
            return attributes;
        };
        const Attributes adam = with(root, {{"beta1", 0.9}, {"beta2", 0.999}});
        add("rmsprop_update", {w, w, one, w}, {w, w},
            with(root, {{"rho", 0.99}, {"momentum", 0.0}}));
        add("adam_update", {w, w, one, update, w, w}, {w, w, w}, adam);
        add("nadam_update", {w, w, one, update, w, w, one}, {w, w, w, one},
            with(adam, {{"variant", std::string("dozat")}, {"momentum_decay", 0.004}}));
        add("adagrad_update", {w, w, one, update, w}, {w, w},
            with(root, {{"learning_rate_decay", 0.0}}));
        add("lars_update", {w, w, one, w}, {w, w},
            with(root, {{"momentum", 0.9}, {"trust_coefficient", 1e-3}, {"adaptive", true}}));
        add("lamb_update", {w, w, one, update, w, w}, {w, w, w}, with(adam, {{"adaptive", true}}));
        add("gradient_square_sum", {w}, {plain({}, DType::f64)});
        add("accumulate_gradient", {w, w, one}, {w});
        add("take_gradient_sum", {w, w, one}, {w, w});
        add("weigh_gradient", {w, one}, {w});
        add("moving_average", {w, w}, {w}, {{"decay", 0.999}});
    }
}

struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
};
using Block = std::unique_ptr<std::byte[], Free>;

Block block_of(std::int64_t bytes) {
    const auto size = std::size_t((bytes + 127) / 64 * 64);
    Block block(static_cast<std::byte*>(std::aligned_alloc(64, size)));
    std::memset(block.get(), 0, size);
    return block;
}

void time(benchmark::State& state, const KernelInfo& kernel, const Problem& problem) {
    ThreadTeam team(problem.threads);
    std::vector<Block> blocks;
    std::vector<const void*> sources;
    std::vector<void*> destinations;
    std::int64_t bytes = 0;
    for (const TensorType& tensor : problem.sources) {
        blocks.push_back(block_of(tensor.bytes()));
        bytes += tensor.bytes();
        sources.push_back(blocks.back().get());
        if (tensor.dtype != DType::f32) continue;
        auto* numbers = reinterpret_cast<float*>(blocks.back().get());
        for (std::int64_t i = 0; i < tensor.elements(); ++i) {
            numbers[i] = float(i * 7919 % 1000) / 500.0f - 1.0f;
        }
    }
    for (const TensorType& tensor : problem.destinations) {
        blocks.push_back(block_of(tensor.bytes()));
        bytes += tensor.bytes();
        destinations.push_back(blocks.back().get());
    }
    const std::int64_t scratch = workspace_bytes(kernel, problem);
    blocks.push_back(block_of(scratch));
    const auto bound = kernels::bind(kernel, problem, sources, destinations,
                                     {blocks.back().get(), std::size_t(scratch)});
    if (!bound) {
        state.SkipWithError("cannot be bound");
        return;
    }
    for ([[maybe_unused]] auto _ : state)
        bound->run(team);
    state.SetBytesProcessed(std::int64_t(state.iterations()) * bytes);
}

void register_all() {
    const char* threads = std::getenv("OMP_NUM_THREADS");
    std::vector<Item> items;
    add_convolutions(items);
    add_images(items);
    add_rows(items);
    for (Item& item : items) {
        item.problem.isa = host_isa();
        item.problem.threads = threads != nullptr ? std::max(1, std::atoi(threads)) : 1;
        for (const KernelInfo& kernel : kernels_of(item.problem.op)) {
            if (refusal(kernel, item.problem)) continue;
            const std::string name = item.problem.op + "/" + std::string(kernel.name) + "/" +
                                     std::string(name_of(item.problem.isa)) + "/" + item.name +
                                     "/" + item.problem.text("expression");
            benchmark::RegisterBenchmark(
                name.c_str(), [&kernel, problem = item.problem](benchmark::State& state) {
                    time(state, kernel, problem);
                });
        }
    }
}

}  // namespace
}  // namespace dtnn::kernels

int main(int argc, char** argv) {
    dtnn::kernels::register_all();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
