#include "kernels/codegen/cuda/cuda_generator.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

namespace dtnn::kernels {
namespace {

/// The functions of one number that the terms' own text (terms.def) calls.
constexpr const char* kFunctions[] = {"exp",  "expm1", "log", "log1p", "sqrt",
                                      "tanh", "atanh", "erf", "floor"};

struct Storage {
    const char *number, *stored, *load, *store;
};

Storage storage_of(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return {"float", "float", "s", "v"};
        case DType::f64:
            return {"double", "double", "s", "v"};
        case DType::bf16:
            return {"float", "unsigned short", "__uint_as_float((unsigned)s << 16)",
                    "cvt.rn.bf16.f32"};
        case DType::fp16:
            return {"float", "unsigned short", "cvt.f32.f16", "cvt.rn.f16.f32"};
        default:
            throw CannotGenerate("only floating types are generated");
    }
}

std::string term_functions() {
    std::string text;
#define DTNN_TERM(name, operands, form, value) \
    text += "__device__ inline T dtnn_" #name "(T a, T b = 0, T c = 0) { return " #value "; }\n";
#include "base/expression/terms.def"
#undef DTNN_TERM
    return text;
}

}  // namespace

std::string cuda_source(const Loop& loop) {
    if (loop.expression.instructions.size() > kMostGeneratedInstructions)
        throw CannotGenerate("the expression is too long");
    const Storage storage = storage_of(loop.dtype);
    const bool is_f64 = loop.dtype == DType::f64, is_reduced = dtnn::is_reduced(loop.dtype);
    const std::string suffix = is_f64 ? "" : "f";
    std::string text =
        std::string("typedef ") + storage.number + " T;\ntypedef " + storage.stored + " Stored;\n";
    text +=
        "namespace std {\n__device__ inline bool isnan(T a) { return a != a; }\n"
        "__device__ inline T abs(T a) { return ::fabs" +
        suffix +
        "(a); }\n"
        "__device__ inline T pow(T a, T b) { return ::pow" +
        suffix + "(a, b); }\n";
    for (const char* function : kFunctions)
        text += std::string("__device__ inline T ") + function + "(T a) { return ::" + function +
                suffix + "(a); }\n";
    text += "}\n" + term_functions();
    const std::string load = storage.load, store = storage.store;
    if (load.starts_with("cvt"))
        text += "__device__ inline T load(Stored s) { T v; asm(\"" + load +
                " %0, %1;\" : \"=f\"(v) : \"h\"(s)); return v; }\n";
    else
        text += "__device__ inline T load(Stored s) { return " + load + "; }\n";
    if (is_reduced)
        text += "__device__ inline Stored store(T v) { Stored s; asm(\"" + store +
                " %0, %1;\" : \"=h\"(s) : \"f\"(v)); return s; }\n";
    else
        text += "__device__ inline Stored store(T v) { return v; }\n";

    text += std::string("extern \"C\" __global__ void ") + kLoopSymbol +
            "(Stored* dst, const void* const* sources,\n"
            "    const long long* numbers, long long channel_stride, long long count) {\n"
            "  const long long step = (long long)gridDim.x * blockDim.x;\n"
            "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; "
            "i += step) {\n";
    std::map<std::pair<int, bool>, std::string> read;
    std::vector<std::string> stack;
    int made = 0;
    for (const Instruction& instruction : loop.expression.instructions) {
        if (instruction.term == Term::input) {
            std::string& name = read[{instruction.index, instruction.by_channel}];
            const std::string s = std::to_string(instruction.index);
            if (name.empty()) {
                name = (instruction.by_channel ? "c" : "x") + s;
                text += "    const T " + name + " = ";
                text += instruction.by_channel
                            ? "((const T*)sources[" + s + "])[numbers[" + s +
                                  "] == 1 ? 0 : i / channel_stride % numbers[" + s + "]];\n"
                            : "load(((const Stored*)sources[" + s + "])[i]);\n";
            }
            stack.push_back(name);
            continue;
        }
        if (instruction.term == Term::number) {
            stack.push_back("T(" + c_literal(instruction.number, loop.dtype) + ")");
            continue;
        }
        const auto operands = std::size_t(instruction.operands);
        std::string call = "dtnn_" + std::string(name_of(instruction.term));
        for (std::size_t k = 0; k < operands; ++k)
            call += (k == 0 ? "(" : ", ") + stack[stack.size() - operands + k];
        stack.resize(stack.size() - operands);
        stack.push_back("t" + std::to_string(made++));
        text += "    const T " + stack.back() + " = " + call + ");\n";
    }
    text += "    dst[i] = store(" + stack.back() + ");\n  }\n}\n";
    return text;
}

const CudaGenerator* CudaGenerator::open(std::string& lacking) {
    std::vector<std::string> folders{""};
    for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
        if (const char* folder = std::getenv(variable); folder != nullptr && *folder != '\0')
            folders.push_back(std::string(folder) + "/lib64/");
    folders.emplace_back("/usr/local/cuda/lib64/");
    for (const std::string& folder : folders)
        for (const char* name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"})
            if (void* library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) {
                static const CudaGenerator generator(library);
                return &generator;
            }
    lacking =
        "libnvrtc.so is not there (looked where libraries are, and in CUDA_PATH, CUDA_HOME and "
        "/usr/local/cuda)";
    return nullptr;
}

template <class Function>
Function* CudaGenerator::entry(const char* name) const {
    void* const found = dlsym(library_, name);
    if (found == nullptr) throw CannotGenerate(std::string("libnvrtc.so has no ") + name);
    return reinterpret_cast<Function*>(found);
}

std::string CudaGenerator::name() const {
    int major = 0, minor = 0;
    entry<int(int*, int*)>("nvrtcVersion")(&major, &minor);
    return "NVRTC " + std::to_string(major) + '.' + std::to_string(minor);
}

std::string CudaGenerator::generate(const Loop& loop, CodeForm form) const {
    std::string source = cuda_source(loop);
    if (form == CodeForm::source) return source;
    if (form == CodeForm::object) throw CannotGenerate("device code has no objects of this form");
    using Program = void*;
    Program program = nullptr;
    const auto check = [&](int failure, const char* what) {
        if (failure == 0) return;
        const char* const reason = entry<const char*(int)>("nvrtcGetErrorString")(failure);
        throw CannotGenerate(std::string("NVRTC: ") + what + ": " + reason);
    };
    check(
        entry<int(Program*, const char*, const char*, int, const char* const*, const char* const*)>(
            "nvrtcCreateProgram")(&program, source.c_str(), "loop.cu", 0, nullptr, nullptr),
        "no program");
    const auto destroy = [this](Program* p) { entry<int(Program*)>("nvrtcDestroyProgram")(p); };
    const std::unique_ptr<Program, decltype(destroy)> owner(&program, destroy);
    const char* const options[] = {"--gpu-architecture=compute_80", "--fmad=false", "--std=c++17"};
    const int failure = entry<int(Program, int, const char* const*)>("nvrtcCompileProgram")(
        program, int(std::size(options)), options);
    const auto text_of = [&](const char* size_entry, const char* text_entry) {
        std::size_t size = 0;
        check(entry<int(Program, std::size_t*)>(size_entry)(program, &size), size_entry);
        std::string text(std::max<std::size_t>(size, 1), '\0');
        check(entry<int(Program, char*)>(text_entry)(program, text.data()), text_entry);
        text.resize(text.size() - 1);  // C's end
        return text;
    };
    if (failure != 0)
        throw CannotGenerate("NVRTC: " + text_of("nvrtcGetProgramLogSize", "nvrtcGetProgramLog"));
    return text_of("nvrtcGetPTXSize", "nvrtcGetPTX");
}

}  // namespace dtnn::kernels
