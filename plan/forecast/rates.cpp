#include "plan/forecast/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "plan/rules/parallel.hpp"

namespace dtnn::plan {
namespace {

constexpr std::array kKernelClasses = {
#define KERNEL_CLASS(name, unit, doc) KernelClass{#name, RateUnit::unit, doc},
#include "plan/forecast/rates.def"
#undef KERNEL_CLASS
};

const KernelClass* named(std::string_view name) {
    const auto found = std::find_if(kKernelClasses.begin(), kKernelClasses.end(),
                                    [&](const KernelClass& one) { return one.name == name; });
    return found == kKernelClasses.end() ? nullptr : &*found;
}

/// Channels that a core handles at once: results with less of them leave lanes empty.
constexpr std::int64_t kNarrow = 16;
/// Images, not what layers made of them.
constexpr std::int64_t kImageChannels = 4;

const Tensor* operand(const Program& program, const std::vector<int>& list, std::size_t i) {
    return i < list.size() ? &program.tensors[std::size_t(list[i])] : nullptr;
}

std::int64_t extent(const Tensor* tensor, std::size_t axis) {
    return tensor != nullptr && axis < tensor->dims.size() ? tensor->dims[axis] : 1;
}

bool is_convolution(std::string_view op) {
    return op.starts_with("conv2d");
}

bool is_product(std::string_view op) {
    return op == "dense" || op == "dense_backward_data" || op == "dense_backward_weights";
}

/// Filters of a convolution: [filters, channels of a group, height, width].
const Tensor* filters_of(const Program& program, const Step& step) {
    return step.op == "conv2d_backward_weights" ? operand(program, step.destinations, 0)
                                                : operand(program, step.sources, 1);
}

std::string_view convolution_class(const Program& program, const Step& step) {
    if (step.kernel == "depthwise") return "depthwise_convolutions";
    const Tensor* filters = filters_of(program, step);
    const std::int64_t out = extent(filters, 0), in = extent(filters, 1);
    if (in < kImageChannels) return "first_convolutions";
    if (step.kernel == "padded_rows") return "row_convolutions";
    const bool of_weights = step.op == "conv2d_backward_weights";
    if (out < kNarrow) return of_weights ? "narrow_weight_gradients" : "narrow_convolutions";
    if (extent(filters, 2) * extent(filters, 3) == 1) return "pointwise_convolutions";
    return of_weights ? "weight_gradients" : "";
}

std::int64_t bytes_of(const Tensor& tensor) {
    return element_count(tensor.dims) * size_of(tensor.dtype);
}

/// Whether all that a program touches fits the caches of the cores that are built today; so what it
/// wrote at the step before is still there.
bool stays_in_caches(const Program& program) {
    std::vector<std::int64_t> ends;  // by buffer
    std::int64_t all = 0;
    for (const Tensor& tensor : program.tensors) {
        if (tensor.buffer < 0) continue;
        const auto buffer = std::size_t(tensor.buffer);
        if (buffer >= ends.size()) ends.resize(buffer + 1);
        const std::int64_t end = tensor.offset + bytes_of(tensor);
        if (end <= ends[buffer]) continue;
        all += end - ends[buffer];
        ends[buffer] = end;
        if (all > kCachedBytes) return false;
    }
    return true;
}

std::string_view product_class(const Program& program, const Step& step) {
    if (step.kernel == "blis") return "large_products";
    const Tensor* gradient =
        step.op == "dense_backward_weights" ? operand(program, step.sources, 1) : nullptr;
    if (gradient != nullptr && gradient->dims.size() == 2 && gradient->dims[1] < kNarrow)
        return "narrow_products";
    return stays_in_caches(program) ? "cached_products" : "";
}

std::string_view class_name(const Program& program, const Step& step) {
    const std::string_view op = step.op;
    if (is_convolution(op)) {
        return step.kernel == "reference" ? "reference_kernels" : convolution_class(program, step);
    }
    if (is_product(op))
        return step.kernel == "reference" ? "reference_kernels" : product_class(program, step);
    if (op.ends_with("_update")) return stays_in_caches(program) ? "cached_updates" : "updates";
    if (step.kernel == "reference" && step.flops > 0) return "reference_kernels";
    if (op.find("norm") != std::string_view::npos && op != "fold_batch_norm")
        return op.find("backward") != std::string_view::npos ? "normalization_gradients"
                                                             : "normalizations";
    if (op.find("pool2d") != std::string_view::npos) {
        const bool any_window = op.find("max") != std::string_view::npos;
        return any_window && step.kernel != "window_2x2" ? "overlapping_pooling" : "window_pooling";
    }
    if (op.find("dropout") != std::string_view::npos) return "dropout";
    if (op == "elementwise") return step.kernel == "chunked" ? "expressions" : "sums";
    for (const char* copy : {"concat", "slice", "reorder", "flatten", "unflatten", "zero_pad2d",
                             "upsample2d", "pixels_to_rows", "rows_to_pixels"})
        if (op.starts_with(copy)) return "copies";
    return "";
}

/// The machine's own number for the class; 0: not known.
double measured(const Machine& machine, std::string_view name) {
    const auto found = machine.kernels.find(std::string(name));
    if (found == machine.kernels.end()) return 0;
    const auto* real = std::get_if<double>(&found->second);
    return real == nullptr ? 0 : *real;
}

double first_known(std::initializer_list<double> rates) {
    for (const double rate : rates)
        if (rate > 0) return rate;
    return 0;
}

}  // namespace

std::span<const KernelClass> kernel_classes() {
    return kKernelClasses;
}

const KernelClass* class_of(const Program& program, const Step& step) {
    return named(class_name(program, step));
}

std::optional<std::string> missing_rates(const Machine& machine) {
    const char* missing = nullptr;
    if (machine.product_rate <= 0 && machine.convolution_rate <= 0) missing = "product_rate";
    if (machine.memory_bandwidth <= 0) missing = "memory_bandwidth";
    if (missing == nullptr) return std::nullopt;
    return fmt::format(
        "the machine `{}` has no {}\nhelp: `dtnnc calibrate -o machine.yaml`, run there, measures "
        "it",
        machine.name, missing);
}

RankRates::RankRates(const Machine& machine, int threads, int ranks_on_node, DType dtype)
    : machine_(&machine) {
    const double efficiency = machine.thread_efficiency > 0 ? machine.thread_efficiency : 1;
    speed_up_ = 1 + (std::max(threads, 1) - 1) * efficiency;
    precision_ = dtype == DType::f64 ? 0.5 : 1;
    node_share_ = machine.node_memory_bandwidth / std::max(ranks_on_node, 1);
    bandwidth_ = machine.memory_bandwidth * speed_up_;
    if (node_share_ > 0) bandwidth_ = std::min(bandwidth_, node_share_);
}

double RankRates::rate_of(const KernelClass* kernel_class, const Step& step) const {
    const Machine& machine = *machine_;
    double given = kernel_class == nullptr ? 0 : measured(machine, kernel_class->name);
    if (given <= 0 && kernel_class != nullptr && kernel_class->name == "cached_updates")
        given = measured(machine, "updates");
    if (is_convolution(step.op) &&
        (kernel_class == nullptr || kernel_class->unit == RateUnit::flops))
        return first_known({given, machine.convolution_rate, machine.product_rate});
    if (is_product(step.op) || (kernel_class != nullptr && kernel_class->unit == RateUnit::flops))
        return first_known({given, machine.product_rate, machine.convolution_rate});
    return first_known({given, machine.memory_bandwidth});
}

double RankRates::step_seconds(const Program& program, const Step& step, double scale) const {
    const double overhead = machine_->step_overhead;
    if (is_collective(step.op)) return overhead;
    double flops = double(step.flops), bytes = double(step.bytes);
    if (scale != 1) {
        double of_batch = 0, all = 0;
        for (const std::vector<int>* list : {&step.sources, &step.destinations}) {
            for (const int index : *list) {
                const Tensor& tensor = program.tensors[std::size_t(index)];
                const auto size = double(bytes_of(tensor));
                all += size;
                if (!tensor.dims.empty() && tensor.dims[0] == program.batch) of_batch += size;
            }
        }
        const double share = all > 0 ? of_batch / all : 0;
        bytes *= 1 - share + share * scale;
        if (of_batch > 0) flops *= scale;
    }
    const KernelClass* kernel_class = class_of(program, step);
    const double rate = rate_of(kernel_class, step) * speed_up_ * precision_;
    const bool computes = kernel_class != nullptr ? kernel_class->unit == RateUnit::flops
                                                  : is_convolution(step.op) || is_product(step.op);
    if (computes) return overhead + flops / rate + bytes / bandwidth_;
    // What is given in bytes of a class is in f64 as fast as in f32: it has twice the bytes.
    double class_rate = rate / precision_;
    if (node_share_ > 0) class_rate = std::min(class_rate, node_share_);
    return overhead + bytes / class_rate;
}

}  // namespace dtnn::plan
