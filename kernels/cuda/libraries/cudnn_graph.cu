#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "kernels/cuda/libraries/cudnn_graph.hpp"

namespace dtnn::kernels::cuda {
namespace {

constexpr std::int64_t kAlignment = 16;  ///< bytes

/// Whether an engine may be chosen that says this about its numbers. Results are the same in every
/// run, and those of floats are sums of products of floats: no TF32, which is what tensor cores
/// make of them, unless it is asked for, and nothing narrower. Winograd's largest tiles lose as
/// much as TF32 does.
bool is_allowed(cudnnBackendNumericalNote_t note, const CudnnNumbers& numbers) {
    switch (note) {
        case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
            return numbers.tensor_cores || numbers.tf32;
        case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
        case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
        case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
        case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
            return false;
        default:
            return true;
    }
}

/// What an engine says about itself: the notes of this attribute.
template <class Note>
std::vector<Note> notes_of(const CudnnDescriptor& config, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, std::size_t most) {
    CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendDescriptor_t into = engine.get();
    config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &into);
    std::vector<Note> notes(most);
    const std::int64_t count = engine.get(name, type, std::int64_t(most), notes.data());
    notes.resize(std::min(most, std::size_t(count)));
    return notes;
}

bool is_allowed(const CudnnDescriptor& config, const CudnnNumbers& numbers) {
    const auto notes = notes_of<cudnnBackendNumericalNote_t>(
        config, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
        CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
    return std::all_of(notes.begin(), notes.end(),
                       [&](cudnnBackendNumericalNote_t note) { return is_allowed(note, numbers); });
}

/// Whether the engine is compiled when it is asked for.
bool is_compiled(const CudnnDescriptor& config) {
    const auto notes = notes_of<cudnnBackendBehaviorNote_t>(config, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                                            CUDNN_TYPE_BEHAVIOR_NOTE,
                                                            CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
    return std::find(notes.begin(), notes.end(), CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) !=
           notes.end();
}

std::int64_t workspace_of(const CudnnDescriptor& plan) {
    std::int64_t bytes = 0;
    plan.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &bytes);
    return bytes;
}

/// Counts up with every change of which engine is chosen for a graph, or of what is kept of it.
constexpr int kChoice = 1;

/// The key of what is kept of a graph.
std::string key_of(const std::vector<std::int64_t>& words) {
    static const std::string beginning =
        "choice " + std::to_string(kChoice) + " " + library_and_device() + " graph";
    std::string key = beginning;
    for (const std::int64_t word : words)
        key += " " + std::to_string(word);
    return key;
}

/// N,H,W,C
CudnnGraph::Dims strides_of(const CudnnGraph::Dims& dims) {
    return {dims[1] * dims[2] * dims[3], 1, dims[1] * dims[3], dims[1]};
}

/// The names that the three directions have for the same things.
struct ConvNames {
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t convolution, image, filters, result, alpha, beta;
};

ConvNames names_of(ConvDirection direction) {
    switch (direction) {
        case ConvDirection::backward_data:
            return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
        case ConvDirection::backward_weights:
            return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
        case ConvDirection::forward:
            break;
    }
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
}

CudnnDescriptor convolution_of(const ConvShape& s, cudnnDataType_t type) {
    using Pair = std::array<std::int64_t, 2>;
    const std::int64_t axes = 2;
    const Pair strides{s.stride_height, s.stride_width};
    const Pair dilations{s.dilation_height, s.dilation_width};
    const Pair before{s.pad_top, s.pad_left}, behind{s.pad_bottom, s.pad_right};
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    CudnnDescriptor convolution(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    convolution.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, type)
        .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, mode)
        .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, axes)
        .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, axes, before.data())
        .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, axes, behind.data())
        .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, axes, dilations.data())
        .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, axes, strides.data())
        .finalize();
    return convolution;
}

/// A factor has the type that is added in.
void set_factor(CudnnDescriptor& operation, cudnnBackendAttributeName_t name, cudnnDataType_t type,
                double value) {
    if (type == CUDNN_DATA_DOUBLE) {
        operation.set(name, CUDNN_TYPE_DOUBLE, value);
    } else {
        operation.set(name, CUDNN_TYPE_FLOAT, float(value));
    }
}

std::vector<cudnnBackendDescriptor_t> all_of(const std::vector<CudnnDescriptor>& descriptors) {
    std::vector<cudnnBackendDescriptor_t> all;
    all.reserve(descriptors.size());
    for (const CudnnDescriptor& one : descriptors)
        all.push_back(one.get());
    return all;
}

}  // namespace

bool is_about_question(const LibraryFailed& failed) {
    const int category = CUDNN_STATUS_CATEGORY(failed.code);
    return category == CUDNN_STATUS_BAD_PARAM || category == CUDNN_STATUS_NOT_SUPPORTED ||
           category == CUDNN_STATUS_INTERNAL_ERROR;
}

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
    check(cudnnBackendCreateDescriptor(type, &descriptor_), "cudnnBackendCreateDescriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
    if (descriptor_ != nullptr) cudnnBackendDestroyDescriptor(descriptor_);
}

CudnnDescriptor::CudnnDescriptor(CudnnDescriptor&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, nullptr)) {}

CudnnDescriptor& CudnnDescriptor::operator=(CudnnDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                                      cudnnBackendAttributeType_t type, std::int64_t count,
                                      const void* values) {
    check(cudnnBackendSetAttribute(descriptor_, name, type, count, values),
          "cudnnBackendSetAttribute");
    return *this;
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                                      const CudnnDescriptor& value) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.descriptor_);
}

std::int64_t CudnnDescriptor::get(cudnnBackendAttributeName_t name,
                                  cudnnBackendAttributeType_t type, std::int64_t count,
                                  void* values) const {
    std::int64_t there = 0;
    check(cudnnBackendGetAttribute(descriptor_, name, type, count, &there, values),
          "cudnnBackendGetAttribute");
    return there;
}

CudnnDescriptor& CudnnDescriptor::finalize() {
    check(cudnnBackendFinalize(descriptor_), "cudnnBackendFinalize");
    return *this;
}

CudnnGraph::CudnnGraph(CudnnNumbers numbers)
    : numbers_(numbers),
      words_{numbers.sums, numbers.tensor_cores, numbers.tf32},
      made_(std::make_unique<Planned>()) {}

CudnnGraph::Tensor CudnnGraph::add_tensor(const Dims& dims, cudnnDataType_t type, bool is_virtual) {
    const Dims strides = strides_of(dims);
    const auto axes = std::int64_t(dims.size());
    const auto id = std::int64_t(made_->tensors.size()) + 1;
    CudnnDescriptor& tensor = made_->tensors.emplace_back(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, axes, dims.data())
        .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, axes, strides.data())
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kAlignment)
        .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, is_virtual)
        .finalize();
    words_.insert(words_.end(), {type, is_virtual});
    words_.insert(words_.end(), dims.begin(), dims.end());
    return made_->tensors.size() - 1;
}

CudnnGraph::Tensor CudnnGraph::operand(const Dims& dims, cudnnDataType_t type, const void* memory) {
    const Tensor tensor = add_tensor(dims, type, false);
    ids_.push_back(std::int64_t(tensor) + 1);
    memory_.push_back(const_cast<void*>(memory));
    return tensor;
}

CudnnGraph::Tensor CudnnGraph::intermediate(const Dims& dims) {
    return add_tensor(dims, numbers_.sums, true);
}

void CudnnGraph::set_tensors(CudnnDescriptor& operation, std::initializer_list<Attribute> tensors) {
    for (const Attribute& one : tensors) {
        operation.set(one.name, made_->tensors[one.tensor]);
        words_.insert(words_.end(), {one.name, std::int64_t(one.tensor)});
    }
}

void CudnnGraph::convolution(ConvDirection direction, const ConvShape& shape, Tensor image,
                             Tensor filters, Tensor result) {
    const ConvNames names = names_of(direction);
    const CudnnDescriptor& convolution =
        made_->settings.emplace_back(convolution_of(shape, numbers_.sums));
    CudnnDescriptor& operation = made_->operations.emplace_back(names.operation);
    operation.set(names.convolution, convolution);
    // Extents are those of the tensors.
    words_.insert(words_.end(), {names.operation, shape.stride_height, shape.stride_width,
                                 shape.dilation_height, shape.dilation_width, shape.pad_top,
                                 shape.pad_left, shape.pad_bottom, shape.pad_right});
    set_tensors(operation,
                {{names.image, image}, {names.filters, filters}, {names.result, result}});
    set_factor(operation, names.alpha, numbers_.sums, 1);
    set_factor(operation, names.beta, numbers_.sums, 0);
    operation.finalize();
}

void CudnnGraph::add_pointwise(cudnnPointwiseMode_t mode,
                               std::initializer_list<Attribute> tensors) {
    CudnnDescriptor& setting = made_->settings.emplace_back(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    setting.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, numbers_.sums)
        .finalize();
    CudnnDescriptor& operation =
        made_->operations.emplace_back(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, setting);
    words_.insert(words_.end(), {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, mode});
    set_tensors(operation, tensors);
    operation.finalize();
}

void CudnnGraph::pointwise(cudnnPointwiseMode_t mode, Tensor x, std::optional<Tensor> b, Tensor y) {
    const Attribute from{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x};
    const Attribute to{CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y};
    if (b) {
        add_pointwise(mode, {from, {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b}, to});
    } else {
        add_pointwise(mode, {from, to});
    }
}

void CudnnGraph::relu_gradient(Tensor dy, Tensor x, Tensor dx) {
    add_pointwise(CUDNN_POINTWISE_RELU_BWD, {{CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, dy},
                                             {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
                                             {CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, dx}});
}

std::vector<CudnnDescriptor> CudnnGraph::Planned::proposals(cudnnBackendHeurMode_t mode) const {
    CudnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, *graph)
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode)
        .finalize();
    const std::int64_t there =
        heuristics.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
    std::vector<CudnnDescriptor> configs;
    for (std::int64_t i = 0; i < there; ++i)
        configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (configs.empty()) return configs;
    std::vector<cudnnBackendDescriptor_t> into = all_of(configs);
    const std::int64_t filled = heuristics.get(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                               CUDNN_TYPE_BACKEND_DESCRIPTOR, there, into.data());
    if (filled < there) configs.erase(configs.begin() + filled, configs.end());
    return configs;
}

bool CudnnGraph::Planned::take(CudnnDescriptor proposal, const CudnnNumbers& numbers,
                               std::size_t room, int skip) {
    if (!is_allowed(proposal, numbers)) return false;
    CudnnDescriptor made(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    made.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, cudnn_handle())
        .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, proposal)
        .finalize();
    if (workspace_of(made) > std::int64_t(room)) return false;
    if (engines < skip) {
        ++engines;
        return false;
    }
    config.emplace(std::move(proposal));
    plan.emplace(std::move(made));
    return true;
}

bool CudnnGraph::Planned::take_first(cudnnBackendHeurMode_t mode, const CudnnNumbers& numbers,
                                     std::size_t room, int skip) {
    return succeeds([&] {
        for (CudnnDescriptor& proposal : proposals(mode))
            if (succeeds([&] { return take(std::move(proposal), numbers, room, skip); }))
                return true;
        return false;
    });
}

void CudnnGraph::Planned::choose(const CudnnNumbers& numbers, std::size_t room, int skip) {
    succeeds([&] {
        const std::vector<cudnnBackendDescriptor_t> all = all_of(operations);
        graph.emplace(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
        graph->set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, cudnn_handle())
            .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                 std::int64_t(all.size()), all.data())
            .finalize();
        return take_first(CUDNN_HEUR_MODE_A, numbers, room, skip) ||
               take_first(CUDNN_HEUR_MODE_FALLBACK, numbers, room, skip);
    });
}

std::string CudnnGraph::Planned::kept() const {
    try {
        if (!is_compiled(*config)) return {};
        constexpr auto kName = CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION;
        std::string json(std::size_t(plan->get(kName, CUDNN_TYPE_CHAR, 0, nullptr)), ' ');
        const auto room = std::int64_t(json.size());
        json.resize(std::size_t(plan->get(kName, CUDNN_TYPE_CHAR, room, json.data())));
        return json.empty() ? json : std::to_string(engines) + "\n" + json;
    } catch (const LibraryFailed&) {
        return {};
    }
}

bool CudnnGraph::Planned::load(const std::string& kept, std::size_t room) {
    const std::size_t first = kept.find('\n') + 1;
    try {
        CudnnDescriptor made(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        made.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, cudnn_handle())
            .set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                 std::int64_t(kept.size() - first), kept.data() + first)
            .finalize();
        if (workspace_of(made) > std::int64_t(room)) return false;
        engines = std::atoi(kept.c_str());
        plan.emplace(std::move(made));
        return true;
    } catch (const LibraryFailed&) {
        // Where it is more than this plan, planning says so.
        return false;
    }
}

bool CudnnGraph::plan(Workspace scratch, int& skip) {
    // Never destroyed: when a process ends, the driver may be gone before its static objects.
    static auto& kept = *new std::map<std::vector<std::int64_t>, std::shared_ptr<const Planned>>;
    words_.insert(words_.end(), {std::int64_t(scratch.size()), skip});
    std::shared_ptr<const Planned>& planned = kept[words_];
    if (!planned) {
        PlanStore* const store = plan_store();
        const std::string key = store == nullptr ? "" : key_of(words_);
        const auto known = store == nullptr ? std::nullopt : store->find(key);
        if (!known || !made_->load(*known, scratch.size())) {
            made_->choose(numbers_, scratch.size(), skip);
            const bool keeps = store != nullptr && made_->plan;
            if (const std::string more = keeps ? made_->kept() : ""; !more.empty())
                store->put(key, more);
        }
        planned = std::move(made_);
        // A failure on the way is not the next launch's.
        cudaGetLastError();
    }
    made_.reset();
    skip -= planned->engines;
    if (!planned->plan) return false;

    planned_ = planned;
    void* const workspace = scratch.data();
    const auto operands = std::int64_t(ids_.size());
    pack_.emplace(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack_->set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, operands, ids_.data())
        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, operands, memory_.data())
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace)
        .finalize();
    return true;
}

void CudnnGraph::run(cudaStream_t stream) const {
    check(cudnnSetStream(cudnn_handle(), stream), "cudnnSetStream");
    check(cudnnBackendExecute(cudnn_handle(), planned_->plan->get(), pack_->get()),
          "cudnnBackendExecute");
}

}  // namespace dtnn::kernels::cuda
