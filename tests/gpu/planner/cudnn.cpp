/// cuDNN itself, asked to plan for a device that is described and not there: the calls of
/// libdtnn_cuda.so go on to the library, but where they would give it a handle they give it the
/// properties of DTNN_DEVICE_PROPERTIES (JSON). Nothing is run. To the file DTNN_PLANNED goes a
/// line for each plan that is made, and for each run:
///
///     made 62 milliseconds 640 status 0
///     engine 62 forward workspace 131 numerical 0 behaviour 0 3
///     own _ZN4dtnn...            a convolution of ours, in place of cuDNN's
///     other _ZN4dtnn...          what else is put on a stream, and where a capture begins and ends
///     loaded status 0            a plan that was kept (kernels/cuda/plan_store.hpp)
///     runs what was loaded
///
/// What was made once need not be made again: where DTNN_PLANNER_CACHE names a file, it keeps what
/// cuDNN answered by a digest of everything that it was told of a plan, and such a plan is not made
/// but for its answers.

#include <cudnn_graph.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <unordered_map>

namespace {

using Descriptor = cudnnBackendDescriptor_t;

[[noreturn]] void fail(const std::string& what, const std::string& why) {
    std::fprintf(stderr, "planner: %s: %s\n", what.c_str(), why.c_str());
    std::exit(1);
}

const char* variable(const char* name) {
    const char* const value = std::getenv(name);
    if (value == nullptr) fail(name, "it is not set");
    return value;
}

void* symbol(const char* name) {
    static void* const library = dlopen(variable("DTNN_CUDNN"), RTLD_NOW | RTLD_LOCAL);
    void* const found = library == nullptr ? nullptr : dlsym(library, name);
    if (found == nullptr) fail(name, dlerror());
    return found;
}

/// The library's own function.
#define REAL(name) (*reinterpret_cast<decltype(&(name))>(symbol(#name)))

std::string contents_of(const char* path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(path, "it cannot be read");
    return {std::istreambuf_iterator<char>(file), {}};
}

std::FILE* planned() {
    static std::FILE* const file = std::fopen(variable("DTNN_PLANNED"), "a");
    if (file == nullptr) fail("DTNN_PLANNED", "it cannot be written");
    return file;
}

/// FNV-1a.
struct Digest {
    std::uint64_t value = 14695981039346656037ULL;

    Digest& add(const void* bytes, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            value = (value ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211ULL;
        return *this;
    }
    template <class V>
    Digest& add(const V& number) {
        return add(&number, sizeof(number));
    }
};

/// What cuDNN has answered about a plan.
struct Answer {
    int status = 0;
    std::int64_t workspace = 0;
    double milliseconds = 0;
};

struct Known {
    cudnnBackendDescriptorType_t type{};
    const char* direction = "";      ///< of the convolution that it is about
    Digest told;                     ///< all attributes, in their order
    Descriptor config = nullptr;     ///< of a plan: its engine's configuration
    const Answer* answer = nullptr;  ///< of a plan that is made, or stands for one
};

Known& known(Descriptor descriptor) {
    static auto& all = *new std::unordered_map<Descriptor, Known>;
    return all[descriptor];
}

class Cache {
  public:
    Cache() {
        const char* const path = std::getenv("DTNN_PLANNER_CACHE");
        if (path == nullptr) return;
        std::ifstream file(path);
        std::uint64_t key = 0;
        Answer answer;
        while (file >> key >> answer.status >> answer.workspace >> answer.milliseconds)
            answers_[key] = answer;
        file_ = std::fopen(path, "a");
        if (file_ == nullptr) fail(path, "it cannot be written");
    }
    const Answer* find(std::uint64_t key) const {
        const auto found = answers_.find(key);
        return file_ == nullptr || found == answers_.end() ? nullptr : &found->second;
    }
    const Answer* keep(std::uint64_t key, const Answer& answer) {
        if (file_ != nullptr) {
            std::fprintf(file_, "%llu %d %lld %.1f\n", static_cast<unsigned long long>(key),
                         answer.status, static_cast<long long>(answer.workspace),
                         answer.milliseconds);
            std::fflush(file_);
        }
        return &(answers_[key] = answer);
    }

  private:
    std::unordered_map<std::uint64_t, Answer> answers_;  // places of entries last
    std::FILE* file_ = nullptr;
};

Cache& cache() {
    static auto& one = *new Cache;
    return one;
}

cudnnStatus_t set(Descriptor descriptor, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, std::int64_t count, const void* values) {
    return REAL(cudnnBackendSetAttribute)(descriptor, name, type, count, values);
}
cudnnStatus_t get(Descriptor descriptor, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, std::int64_t wanted, std::int64_t* count,
                  void* values) {
    return REAL(cudnnBackendGetAttribute)(descriptor, name, type, wanted, count, values);
}

/// The device that is planned for.
Descriptor device() {
    static const Descriptor made = [] {
        const char* const path = variable("DTNN_DEVICE_PROPERTIES");
        const std::string text = contents_of(path);
        Descriptor described = nullptr;
        cudnnStatus_t status =
            REAL(cudnnBackendCreateDescriptor)(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &described);
        if (status == CUDNN_STATUS_SUCCESS)
            status = set(described, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                         std::int64_t(text.size()), text.data());
        if (status == CUDNN_STATUS_SUCCESS) status = REAL(cudnnBackendFinalize)(described);
        if (status != CUDNN_STATUS_SUCCESS) fail(path, REAL(cudnnGetErrorString)(status));
        known(described).told.add(text.data(), text.size()).add(REAL(cudnnGetVersion)());
        return described;
    }();
    return made;
}

/// A configuration's engine, for the life of this.
class Engine {
  public:
    explicit Engine(Descriptor config) {
        std::int64_t count = 0;
        REAL(cudnnBackendCreateDescriptor)(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine_);
        get(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
            &engine_);
    }
    ~Engine() { REAL(cudnnBackendDestroyDescriptor)(engine_); }
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    long long index() const {
        std::int64_t index = -1, count = 0;
        get(engine_, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &count, &index);
        return index;
    }
    void tell_notes(const char* title, cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type) const {
        int notes[64];
        std::int64_t count = 0;
        get(engine_, name, type, 64, &count, notes);
        std::fprintf(planned(), " %s", title);
        for (std::int64_t i = 0; i < count && i < 64; ++i)
            std::fprintf(planned(), " %d", notes[i]);
    }

  private:
    Descriptor engine_ = nullptr;
};

const char* direction_of(cudnnBackendDescriptorType_t type) {
    switch (type) {
        case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
            return "forward";
        case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
            return "data";
        case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
            return "weights";
        default:
            return "";
    }
}

cudnnStatus_t make_plan(Descriptor plan) {
    Known& one = known(plan);
    if (one.config == nullptr) {  // it is described whole
        const cudnnStatus_t status = REAL(cudnnBackendFinalize)(plan);
        std::fprintf(planned(), "loaded status %d\n", int(status));
        return status;
    }
    one.answer = cache().find(one.told.value);
    if (one.answer == nullptr) {
        // Of processor time: machines that plan may be busy.
        const std::clock_t begin = std::clock();
        Answer answer;
        answer.status = REAL(cudnnBackendFinalize)(plan);
        answer.milliseconds = double(std::clock() - begin) * 1e3 / CLOCKS_PER_SEC;
        std::int64_t count = 0;
        if (answer.status == CUDNN_STATUS_SUCCESS)
            get(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count,
                &answer.workspace);
        one.answer = cache().keep(one.told.value, answer);
    }
    std::fprintf(planned(), "made %lld milliseconds %.0f status %d\n", Engine(one.config).index(),
                 one.answer->milliseconds, one.answer->status);
    std::fflush(planned());
    return cudnnStatus_t(one.answer->status);
}

}  // namespace

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, Descriptor* made) {
    const cudnnStatus_t status = REAL(cudnnBackendCreateDescriptor)(type, made);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    known(*made) = {type, direction_of(type), Digest().add(type)};
    return status;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(Descriptor descriptor) {
    return REAL(cudnnBackendDestroyDescriptor)(descriptor);
}
cudnnStatus_t cudnnBackendFinalize(Descriptor descriptor) {
    if (known(descriptor).type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
        return make_plan(descriptor);
    return REAL(cudnnBackendFinalize)(descriptor);
}
cudnnStatus_t cudnnBackendGetAttribute(Descriptor descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t wanted,
                                       std::int64_t* count, void* values) {
    if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE && known(descriptor).answer != nullptr) {
        *count = 1;
        *static_cast<std::int64_t*>(values) = known(descriptor).answer->workspace;
        return CUDNN_STATUS_SUCCESS;
    }
    const cudnnStatus_t status = get(descriptor, name, type, wanted, count, values);
    // What is proposed is told apart by its place.
    if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS && status == CUDNN_STATUS_SUCCESS)
        for (std::int64_t i = 0; i < std::min(wanted, *count); ++i) {
            Known& proposal = known(static_cast<Descriptor*>(values)[i]);
            proposal.direction = known(descriptor).direction;
            proposal.told.add(known(descriptor).told).add(i);
        }
    return status;
}
const char* cudnnGetErrorString(cudnnStatus_t status) {
    return REAL(cudnnGetErrorString)(status);
}
void cudnnGetLastErrorString(char* text, std::size_t bytes) {
    REAL(cudnnGetLastErrorString)(text, bytes);
}

cudnnStatus_t cudnnBackendSetAttribute(Descriptor descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
    if (name == CUDNN_ATTR_OPERATIONGRAPH_HANDLE) return CUDNN_STATUS_SUCCESS;
    const Descriptor described = device();
    if (name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE)
        return cudnnBackendSetAttribute(descriptor, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &described);
    if (name == CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH) {
        const cudnnStatus_t status =
            cudnnBackendSetAttribute(descriptor, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &described);
        if (status != CUDNN_STATUS_SUCCESS) return status;
    }
    Known& one = known(descriptor);
    one.told.add(name).add(type).add(count);
    if (name == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
        one.config = *static_cast<const Descriptor*>(values);
    // Of these types the library says how many bytes each has.
    for (std::int64_t i = 0; i < count; ++i)
        switch (type) {
            case CUDNN_TYPE_BACKEND_DESCRIPTOR:
                one.told.add(known(static_cast<const Descriptor*>(values)[i]).told);
                if (*one.direction == 0)
                    one.direction = known(static_cast<const Descriptor*>(values)[i]).direction;
                break;
            case CUDNN_TYPE_INT64:
            case CUDNN_TYPE_DOUBLE:
                one.told.add(static_cast<const std::int64_t*>(values)[i]);
                break;
            case CUDNN_TYPE_BOOLEAN:
                one.told.add(static_cast<const bool*>(values)[i]);
                break;
            case CUDNN_TYPE_VOID_PTR:
            case CUDNN_TYPE_CHAR:
                break;
            default:  // floats and enumerations
                one.told.add(static_cast<const std::int32_t*>(values)[i]);
        }
    return set(descriptor, name, type, count, values);
}

std::size_t cudnnGetVersion() {
    return REAL(cudnnGetVersion)();
}
std::size_t cudnnGetCudartVersion() {
    return REAL(cudnnGetCudartVersion)();
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
    *handle = static_cast<cudnnHandle_t>(std::malloc(1));
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t) {
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t, Descriptor plan, Descriptor) {
    if (known(plan).config == nullptr) {
        std::fprintf(planned(), "runs what was loaded\n");
        return CUDNN_STATUS_SUCCESS;
    }
    const Engine engine(known(plan).config);
    std::fprintf(planned(), "engine %lld %s workspace %lld", engine.index(), known(plan).direction,
                 static_cast<long long>(known(plan).answer->workspace));
    engine.tell_notes("numerical", CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE);
    engine.tell_notes("behaviour", CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE);
    std::fprintf(planned(), "\n");
    std::fflush(planned());
    return CUDNN_STATUS_SUCCESS;
}

/// `own` are convolutions (kernels/cuda/conv2d.cu) that a step of cuDNN falls back to.
extern "C" void told_of_launch(const char* kernel) {
    const bool own = std::strstr(kernel, "_direct_of") != nullptr;
    std::fprintf(planned(), "%s %s\n", own ? "own" : "other", kernel);
    std::fflush(planned());
}
