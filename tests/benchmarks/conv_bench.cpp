/// The speed of every convolution and dense kernel on the layers of known networks, fp32,
/// next to BLIS on the matrix product of the lowered layer. Prints one line a kernel: microseconds
/// a sample and GFLOP/s, counting every multiply-add of the definition, those with padding
/// included, so that skipping work shows as speed.
///
///   conv_bench [MODEL [THREADS]]     MODEL: simplecnn, narrow (few channels), simplemlp, alexnet
///   (dense only), vgg16,
///                                resnet20, resnet50, densenet,
///                                mobilenet_v2, mobilenet (depthwise only), all (default)
///   conv_bench - [THREADS]       the layers of standard input, a line each: CHANNELS SIZE FILTERS
///                                KERNEL STRIDE PADDING GROUPS BATCH BIAS FIRST; prints for each
///                                direction OPERATOR KERNEL SECONDS, of the kernel that is chosen
///
/// CONV_BENCH_ISA=avx2 takes the kernels of another instruction set; CONV_BENCH_ALL=1 times those
/// that are expected to be slower than one behind them, too.

#include <blis.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/blis_kernels.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/thread_team.hpp"

namespace {

using namespace dtnn;
using namespace dtnn::kernels;

struct Layer {
    const char* model;
    const char* name;
    std::int64_t channels, size, filters, kernel, stride, padding;  ///< kernel 0: dense
    int count;
    bool first;  ///< needs no gradient to its source
    bool bias = true;
    bool fused = true;  ///< with relu forward, with its mask in the gradient of the source
    std::int64_t groups = 1;
    std::int64_t batch = 64;
};

const Layer kLayers[] = {
    {"simplecnn", "1->4 28", 1, 28, 4, 3, 1, 1, 1, true},
    {"simplecnn", "4->8 28", 4, 28, 8, 3, 1, 1, 1, false},
    {"simplecnn", "dense 1568->128", 1568, 1, 128, 0, 1, 0, 1, false},
    {"simplecnn", "dense 128->10", 128, 1, 10, 0, 1, 0, 1, false},
    {"narrow", "1->8 28 5x5", 1, 28, 8, 5, 1, 2, 1, true},
    {"narrow", "3->8 32", 3, 32, 8, 3, 1, 1, 1, true},
    {"narrow", "8->8 32", 8, 32, 8, 3, 1, 1, 1, false},
    {"narrow", "8->8 8", 8, 8, 8, 3, 1, 1, 1, false},
    {"narrow", "16->8 14", 16, 14, 8, 3, 1, 1, 1, false},
    {"narrow", "8->16 14", 8, 14, 16, 3, 1, 1, 1, false},
    {"narrow", "16->1 64", 16, 64, 1, 3, 1, 1, 1, false},
    {"narrow", "2->2 64", 2, 64, 2, 3, 1, 1, 1, false},
    {"simplemlp", "dense 784->512", 784, 1, 512, 0, 1, 0, 1, true},
    {"alexnet", "dense 1024->4096", 1024, 1, 4096, 0, 1, 0, 1, false},
    {"alexnet", "dense 4096->4096", 4096, 1, 4096, 0, 1, 0, 1, false},
    {"vgg16", "3->64 32", 3, 32, 64, 3, 1, 1, 1, true},
    {"vgg16", "64->64 32", 64, 32, 64, 3, 1, 1, 1, false},
    {"vgg16", "64->128 16", 64, 16, 128, 3, 1, 1, 1, false},
    {"vgg16", "128->128 16", 128, 16, 128, 3, 1, 1, 1, false},
    {"vgg16", "128->256 8", 128, 8, 256, 3, 1, 1, 1, false},
    {"vgg16", "256->256 8", 256, 8, 256, 3, 1, 1, 2, false},
    {"vgg16", "256->512 4", 256, 4, 512, 3, 1, 1, 1, false},
    {"vgg16", "512->512 4", 512, 4, 512, 3, 1, 1, 2, false},
    {"vgg16", "512->512 2", 512, 2, 512, 3, 1, 1, 3, false},
    {"vgg16", "dense 512->512", 512, 1, 512, 0, 1, 0, 1, false},
    {"resnet20", "3->16 32", 3, 32, 16, 3, 1, 1, 1, true},
    {"resnet20", "16->16 32", 16, 32, 16, 3, 1, 1, 6, false},
    {"resnet20", "16->32 32/2", 16, 32, 32, 3, 2, 1, 1, false},
    {"resnet20", "32->32 16", 32, 16, 32, 3, 1, 1, 5, false},
    {"resnet20", "32->64 16/2", 32, 16, 64, 3, 2, 1, 1, false},
    {"resnet20", "64->64 8", 64, 8, 64, 3, 1, 1, 5, false},
    {"resnet50", "3->64 224/2 7x7", 3, 224, 64, 7, 2, 3, 1, true, true, true, 1, 16},
    {"resnet50", "64->64 56 1x1", 64, 56, 64, 1, 1, 0, 1, false, true, true, 1, 16},
    {"resnet50", "64->64 56 3x3", 64, 56, 64, 3, 1, 1, 3, false, true, true, 1, 16},
    {"resnet50", "64->256 56 1x1", 64, 56, 256, 1, 1, 0, 4, false, true, true, 1, 16},
    {"resnet50", "256->64 56 1x1", 256, 56, 64, 1, 1, 0, 2, false, true, true, 1, 16},
    {"resnet50", "256->128 56 1x1", 256, 56, 128, 1, 1, 0, 1, false, true, true, 1, 16},
    {"resnet50", "128->128 56/2 3x3", 128, 56, 128, 3, 2, 1, 1, false, true, true, 1, 16},
    {"resnet50", "128->512 28 1x1", 128, 28, 512, 1, 1, 0, 4, false, true, true, 1, 16},
    {"resnet50", "256->512 56/2 1x1", 256, 56, 512, 1, 2, 0, 1, false, true, true, 1, 16},
    {"resnet50", "512->128 28 1x1", 512, 28, 128, 1, 1, 0, 3, false, true, true, 1, 16},
    {"resnet50", "128->128 28 3x3", 128, 28, 128, 3, 1, 1, 3, false, true, true, 1, 16},
    {"resnet50", "512->256 28 1x1", 512, 28, 256, 1, 1, 0, 1, false, true, true, 1, 16},
    {"resnet50", "256->256 28/2 3x3", 256, 28, 256, 3, 2, 1, 1, false, true, true, 1, 16},
    {"resnet50", "256->1024 14 1x1", 256, 14, 1024, 1, 1, 0, 6, false, true, true, 1, 16},
    {"resnet50", "512->1024 28/2 1x1", 512, 28, 1024, 1, 2, 0, 1, false, true, true, 1, 16},
    {"resnet50", "1024->256 14 1x1", 1024, 14, 256, 1, 1, 0, 5, false, true, true, 1, 16},
    {"resnet50", "256->256 14 3x3", 256, 14, 256, 3, 1, 1, 5, false, true, true, 1, 16},
    {"resnet50", "1024->512 14 1x1", 1024, 14, 512, 1, 1, 0, 1, false, true, true, 1, 16},
    {"resnet50", "512->512 14/2 3x3", 512, 14, 512, 3, 2, 1, 1, false, true, true, 1, 16},
    {"resnet50", "512->2048 7 1x1", 512, 7, 2048, 1, 1, 0, 3, false, true, true, 1, 16},
    {"resnet50", "1024->2048 14/2 1x1", 1024, 14, 2048, 1, 2, 0, 1, false, true, true, 1, 16},
    {"resnet50", "2048->512 7 1x1", 2048, 7, 512, 1, 1, 0, 2, false, true, true, 1, 16},
    {"resnet50", "512->512 7 3x3", 512, 7, 512, 3, 1, 1, 2, false, true, true, 1, 16},
    {"densenet", "84->48 32 1x1", 84, 32, 48, 1, 1, 0, 6, false, true, true, 1, 64},
    {"densenet", "48->12 32 3x3", 48, 32, 12, 3, 1, 1, 6, false, true, true, 1, 64},
    {"densenet", "120->48 16 1x1", 120, 16, 48, 1, 1, 0, 12, false, true, true, 1, 64},
    {"densenet", "48->12 16 3x3", 48, 16, 12, 3, 1, 1, 12, false, true, true, 1, 64},
    {"densenet", "200->48 8 1x1", 200, 8, 48, 1, 1, 0, 24, false, true, true, 1, 64},
    {"densenet", "48->12 8 3x3", 48, 8, 12, 3, 1, 1, 24, false, true, true, 1, 64},
    {"densenet", "300->48 4 1x1", 300, 4, 48, 1, 1, 0, 16, false, true, true, 1, 64},
    {"densenet", "48->12 4 3x3", 48, 4, 12, 3, 1, 1, 16, false, true, true, 1, 64},
    {"mobilenet_v2", "3->32 224/2 3x3", 3, 224, 32, 3, 2, 1, 1, true, true, true, 1, 16},
    {"mobilenet_v2", "32->16 112 1x1", 32, 112, 16, 1, 1, 0, 1, false, true, true, 1, 16},
    {"mobilenet_v2", "16->96 112 1x1", 16, 112, 96, 1, 1, 0, 1, false, true, true, 1, 16},
    {"mobilenet_v2", "96->24 56 1x1", 96, 56, 24, 1, 1, 0, 1, false, true, true, 1, 16},
    {"mobilenet_v2", "24->144 56 1x1", 24, 56, 144, 1, 1, 0, 2, false, true, true, 1, 16},
    {"mobilenet_v2", "144->24 56 1x1", 144, 56, 24, 1, 1, 0, 1, false, true, true, 1, 16},
    {"mobilenet_v2", "144->32 28 1x1", 144, 28, 32, 1, 1, 0, 1, false, true, true, 1, 16},
    {"mobilenet_v2", "32->192 28 1x1", 32, 28, 192, 1, 1, 0, 3, false, true, true, 1, 16},
    {"mobilenet_v2", "192->32 28 1x1", 192, 28, 32, 1, 1, 0, 2, false, true, true, 1, 16},
    {"mobilenet_v2", "192->64 14 1x1", 192, 14, 64, 1, 1, 0, 1, false, true, true, 1, 16},
    {"mobilenet_v2", "64->384 14 1x1", 64, 14, 384, 1, 1, 0, 4, false, true, true, 1, 16},
    {"mobilenet_v2", "384->64 14 1x1", 384, 14, 64, 1, 1, 0, 3, false, true, true, 1, 16},
    {"mobilenet_v2", "384->96 14 1x1", 384, 14, 96, 1, 1, 0, 1, false, true, true, 1, 16},
    {"mobilenet_v2", "96->576 14 1x1", 96, 14, 576, 1, 1, 0, 3, false, true, true, 1, 16},
    {"mobilenet_v2", "576->96 14 1x1", 576, 14, 96, 1, 1, 0, 2, false, true, true, 1, 16},
    {"mobilenet_v2", "576->160 7 1x1", 576, 7, 160, 1, 1, 0, 1, false, true, true, 1, 16},
    {"mobilenet_v2", "160->960 7 1x1", 160, 7, 960, 1, 1, 0, 3, false, true, true, 1, 16},
    {"mobilenet_v2", "960->160 7 1x1", 960, 7, 160, 1, 1, 0, 2, false, true, true, 1, 16},
    {"mobilenet_v2", "960->320 7 1x1", 960, 7, 320, 1, 1, 0, 1, false, true, true, 1, 16},
    {"mobilenet_v2", "320->1280 7 1x1", 320, 7, 1280, 1, 1, 0, 1, false, true, true, 1, 16},
    {"mobilenet", "32 112", 32, 112, 32, 3, 1, 1, 1, false, true, true, 32},
    {"mobilenet", "64 112/2", 64, 112, 64, 3, 2, 1, 1, false, true, true, 64},
    {"mobilenet", "128 56", 128, 56, 128, 3, 1, 1, 1, false, true, true, 128},
    {"mobilenet", "128 56/2", 128, 56, 128, 3, 2, 1, 1, false, true, true, 128},
    {"mobilenet", "256 28", 256, 28, 256, 3, 1, 1, 1, false, true, true, 256},
    {"mobilenet", "256 28/2", 256, 28, 256, 3, 2, 1, 1, false, true, true, 256},
    {"mobilenet", "512 14", 512, 14, 512, 3, 1, 1, 5, false, true, true, 512},
    {"mobilenet", "512 14/2", 512, 14, 512, 3, 2, 1, 1, false, true, true, 512},
    {"mobilenet", "1024 7", 1024, 7, 1024, 3, 1, 1, 1, false, true, true, 1024},
};

struct Memory {
    explicit Memory(std::int64_t bytes) {
        const std::size_t whole = (std::size_t(bytes) + 4096) / 64 * 64;
        data = std::aligned_alloc(64, whole);
        auto* values = static_cast<float*>(data);
        for (std::size_t i = 0; i < whole / sizeof(float); ++i) {
            values[i] = float(i % 17) / 16 - 0.5f;
        }
        size = whole;
    }
    ~Memory() { std::free(data); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    void* data;
    std::size_t size;
};

template <class Run>
double seconds(Run&& run) {
    using Clock = std::chrono::steady_clock;
    double best = 1e30;
    double total = 0;
    for (int i = 0; i < 60 && (i < 4 || total < 0.15); ++i) {
        const auto start = Clock::now();
        run();
        const double taken = std::chrono::duration<double>(Clock::now() - start).count();
        best = std::min(best, taken);
        total += taken;
    }
    return best;
}

double time_kernel(const KernelInfo& kernel, const Problem& problem, ThreadTeam& team) {
    std::vector<std::unique_ptr<Memory>> memory;
    std::vector<const void*> sources;
    std::vector<void*> destinations;
    for (const TensorType& desc : problem.sources) {
        sources.push_back(memory.emplace_back(std::make_unique<Memory>(desc.bytes()))->data);
    }
    for (const TensorType& desc : problem.destinations) {
        destinations.push_back(memory.emplace_back(std::make_unique<Memory>(desc.bytes()))->data);
    }
    Memory workspace(workspace_bytes(kernel, problem));
    const auto bound = bind(kernel, problem, sources, destinations,
                            {static_cast<std::byte*>(workspace.data), workspace.size});
    if (!bound) return 0;
    return seconds([&] { bound->run(team); });
}

double time_blis(std::int64_t m, std::int64_t n, std::int64_t k, Isa isa, int threads) {
    Memory a(m * k * 4);
    Memory b(k * n * 4);
    Memory c(m * n * 4);
    rntm_t runtime;
    bli_rntm_init(&runtime);
    bli_rntm_set_num_threads(threads, &runtime);
    float one = 1;
    float zero = 0;
    const int vector_bytes = isa >= Isa::avx512 ? 64 : isa == Isa::avx2 ? 32 : 16;
    auto* context = static_cast<cntx_t*>(blis_kernels(vector_bytes, false).context);
    return seconds([&] {
        bli_sgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, m, n, k, &one,
                     static_cast<float*>(a.data), k, 1, static_cast<float*>(b.data), n, 1, &zero,
                     static_cast<float*>(c.data), n, 1, context, &runtime);
    });
}

std::vector<Problem> problems(const Layer& layer, int threads) {
    const Order image{0, 2, 3, 1};
    std::vector<Problem> result(3);
    const bool dense = layer.kernel == 0;
    const std::int64_t out =
        dense ? 1 : (layer.size + 2 * layer.padding - layer.kernel) / layer.stride + 1;
    const TensorType src =
        dense
            ? TensorType{DType::f32, {layer.batch, layer.channels}, {}}
            : TensorType{DType::f32, {layer.batch, layer.channels, layer.size, layer.size}, image};
    const TensorType dst =
        dense ? TensorType{DType::f32, {layer.batch, layer.filters}, {}}
              : TensorType{DType::f32, {layer.batch, layer.filters, out, out}, image};
    const TensorType weights =
        dense
            ? TensorType{DType::f32, {layer.channels, layer.filters}, {}}
            : TensorType{DType::f32,
                         {layer.filters, layer.channels / layer.groups, layer.kernel, layer.kernel},
                         {2, 3, 1, 0}};
    const TensorType bias{DType::f32, {layer.filters}, {}};
    const std::string op = dense ? "dense" : "conv2d";
    // Behind batch norm there is no bias.
    const std::string model = layer.model;
    const bool with_bias =
        layer.bias && model != "resnet50" && model != "densenet" && model != "mobilenet_v2";
    for (Problem& problem : result) {
        problem.isa = host_isa();
        if (const char* isa = std::getenv("CONV_BENCH_ISA")) parse_name(isa, problem.isa);
        problem.threads = threads;
        problem.attributes["bias"] = with_bias;
        if (dense) continue;
        problem.attributes["stride"] = std::vector<std::int64_t>(2, layer.stride);
        problem.attributes["padding"] = std::vector<std::int64_t>(4, layer.padding);
        problem.attributes["dilation"] = std::vector<std::int64_t>(2, 1);
        problem.attributes["groups"] = layer.groups;
    }
    result[0].op = op;
    if (layer.fused) result[0].attributes["epilogue"] = std::string("relu");
    result[0].sources = {src, weights};
    if (with_bias) result[0].sources.push_back(bias);
    result[0].destinations = {dst};
    result[1].op = op + "_backward_weights";
    result[1].sources = {src, dst};
    result[1].destinations = {weights};
    if (with_bias) result[1].destinations.push_back(bias);
    result[2].op = op + "_backward_data";
    result[2].attributes["mask"] = layer.fused;
    result[2].attributes["source_shape"] = src.dims;
    result[2].sources = {dst, weights};
    if (layer.fused) result[2].sources.push_back(src);
    result[2].destinations = {src};
    if (layer.first) result.resize(2);
    return result;
}

/// The layers of standard input; false where a line is no layer.
bool time_given(int threads, ThreadTeam& team) {
    Layer layer{};
    layer.model = "given";
    layer.fused = false;
    int bias = 0, first = 0, read = 0;
    while ((read = std::scanf("%ld %ld %ld %ld %ld %ld %ld %ld %d %d", &layer.channels, &layer.size,
                              &layer.filters, &layer.kernel, &layer.stride, &layer.padding,
                              &layer.groups, &layer.batch, &bias, &first)) == 10) {
        if (layer.channels < 1 || layer.size < 1 || layer.filters < 1 || layer.kernel < 1 ||
            layer.stride < 1 || layer.padding < 0 || layer.groups < 1 || layer.batch < 1)
            return false;
        layer.bias = bias != 0;
        layer.first = first != 0;
        for (const Problem& problem : problems(layer, threads)) {
            for (const KernelInfo& kernel : kernels_of(problem.op)) {
                if (refusal(kernel, problem) || expected_slower(kernel, problem)) continue;
                std::printf("%s %s %.9f\n", problem.op.c_str(), std::string(kernel.name).c_str(),
                            time_kernel(kernel, problem, team));
                break;
            }
        }
    }
    return read == EOF;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string model = argc > 1 ? argv[1] : "all";
    const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
    const bool all = std::getenv("CONV_BENCH_ALL") != nullptr;
    ThreadTeam team(threads);
    if (model == "-") {
        if (time_given(threads, team)) return 0;
        std::fprintf(stderr, "conv_bench: a line of standard input is no layer\n");
        return 2;
    }
    for (const char* name : {"simplecnn", "narrow", "simplemlp", "alexnet", "vgg16", "resnet20",
                             "resnet50", "densenet", "mobilenet_v2", "mobilenet"}) {
        if (model != "all" && model != name) continue;
        double total = 0;
        std::printf("%s, %d threads\n", name, threads);
        for (const Layer& layer : kLayers) {
            if (std::string(layer.model) != name) continue;
            for (const Problem& problem : problems(layer, threads)) {
                const std::int64_t pixels =
                    layer.kernel == 0 ? 1
                    : problem.op == "conv2d"
                        ? problem.destinations[0].dims[2] * problem.destinations[0].dims[3]
                        : 0;
                const std::int64_t out =
                    layer.kernel == 0
                        ? 1
                        : (layer.size + 2 * layer.padding - layer.kernel) / layer.stride + 1;
                const std::int64_t depth = layer.channels / layer.groups *
                                           std::max<std::int64_t>(1, layer.kernel * layer.kernel);
                const double work = 2.0 * double(layer.batch * out * out * depth * layer.filters);
                std::printf("  %-16s %-24s", layer.name, problem.op.c_str());
                double best = 0;
                for (const KernelInfo& kernel : kernels_of(problem.op)) {
                    if (kernel.name == "reference" || refusal(kernel, problem) ||
                        (!all && expected_slower(kernel, problem)))
                        continue;
                    const double taken = time_kernel(kernel, problem, team);
                    // The first that is not expected to be slower is the one that is chosen.
                    if (best == 0 && !expected_slower(kernel, problem)) best = taken;
                    std::printf("  %s %.2f us %.1f", std::string(kernel.name).c_str(),
                                taken / double(layer.batch) * 1e6, work / taken * 1e-9);
                }
                if (pixels != 0 && layer.groups == 1) {
                    const double blis = time_blis(layer.batch * out * out, layer.filters, depth,
                                                  problem.isa, threads);
                    std::printf("  blis product %.1f", work / blis * 1e-9);
                }
                std::printf("\n");
                total += best * layer.count / double(layer.batch);
            }
        }
        std::printf("  all: %.2f us a sample, %.0f samples/s\n", total * 1e6, 1 / total);
    }
    return 0;
}
