/// Files of weights and of names, of whoever: they are refused with a message and change nothing,
/// or the parameters are numbers that a network can have.
///
/// An input is a choice of a plan and of the options, a letter, and the rest: 's' a safetensors
/// file, 'z' an .npz, 'm' a map of names beside the plan's own weights, 'h' edits (json_edits.hpp)
/// to the header of the plan's own weights.

#include "runtime/checkpoint/weights.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "plan/plan.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/train/initialize.hpp"
#include "tests/fuzz/json_edits.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/sample_plans.hpp"

namespace {

using namespace dtnn;
using namespace dtnn::fuzz;
using namespace dtnn::runtime;

constexpr std::size_t kLengthBytes = 8;

/// A plan's executor, and its weights as a file.
struct Weighted {
    explicit Weighted(const SamplePlan& sample)
        : executor(std::make_unique<Executor>(sample.loaded.plan, 1)) {
        initialize(*executor);
        char path[] = "/tmp/dtnn-fuzz-weights-XXXXXX";
        const int file = mkstemp(path);
        if (file < 0) fail("no file for weights");
        ::close(file);
        save_weights(*executor, path, sample.loaded.checksum);
        weights = read_file(path, 1 << 20, "weights", Exit::failed);
        std::filesystem::remove(path);
        std::uint64_t length = 0;
        std::memcpy(&length, weights.data(), kLengthBytes);
        header = dtnn::parse_json(weights.substr(kLengthBytes, length));
        data = weights.substr(kLengthBytes + length);
    }
    std::unique_ptr<Executor> executor;
    std::string weights, data;
    dtnn::Json header;
};

std::vector<Weighted>& all_weighted() {
    static std::vector<Weighted> all = [] {
        std::vector<Weighted> made;
        for (const SamplePlan& sample : sample_plans())
            made.emplace_back(sample);
        return made;
    }();
    return all;
}

std::string with_header(const dtnn::Json& header, const std::string& data) {
    const std::string text = dtnn::write_json(header);
    const std::uint64_t length = text.size();
    std::string file(kLengthBytes, '\0');
    std::memcpy(file.data(), &length, kLengthBytes);
    return file + text + data;
}

void check_numbers(const Executor& executor) {
    const dtnn::plan::Plan& plan = executor.plan();
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        const dtnn::plan::Parameter& parameter = plan.parameters[i];
        const std::int64_t count = element_count(parameter.dims);
        for (std::int64_t k = 0; k < count; ++k) {
            const std::byte* at = executor.parameter(i);
            const double number = parameter.dtype == DType::f32
                                      ? double(reinterpret_cast<const float*>(at)[k])
                                      : reinterpret_cast<const double*>(at)[k];
            if (!std::isfinite(number)) fail("a parameter that is no number was loaded");
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Choices choices(data, size);
    Weighted& one = all_weighted()[choices.below(sample_plans().size())];
    const std::uint64_t options = choices.number(1);
    const char form = char(choices.number(1));
    constexpr const char* kLayouts[] = {"auto", "own", "torch", "nchw", "nhwc", "nhwc_gpu"};
    constexpr std::size_t kMatches = names_of(runtime::MatchBy{}).size();
    WeightRequest request;
    request.layout = kLayouts[options % 6];
    request.match = runtime::MatchBy(options / 6 % kMatches);
    request.allow_missing = options / 30 % 2 == 1;
    request.cast = options / 60 % 2 == 1;
    if (options / 120 % 2 == 1) request.keep = {"*.bias"};

    std::string file = one.weights, map;
    if (form == 'h') {
        dtnn::Json header = one.header;
        edit(header, choices);
        file = with_header(header, one.data);
    } else {
        const auto rest = choices.rest();
        (form == 'm' ? map : file).assign(rest.begin(), rest.end());
    }
    const MemoryFile weights_file(file), map_file(map);
    request.path = weights_file.path();
    if (form == 'm') request.map = map_file.path();
    try {
        (void)load_weights(*one.executor, request);
    } catch (const RunError& error) {
        check_message(error);
    }
    check_numbers(*one.executor);
    return 0;
}
