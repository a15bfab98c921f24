#include "runtime/exec/measure_kernels.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "kernels/dispatch.hpp"
#include "kernels/subnormals.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/device/arena.hpp"

namespace dtnn::runtime {
namespace {

/// A kernel whose first call took so many times as long as the fastest's, or each of whose first
/// turns so many times as long as the fastest's, is not measured further.
constexpr double kFirstCall = 3, kFirstTurns = 1.3;
constexpr std::size_t kTurnsToJudge = 3;
/// Short calls are repeated until the fastest kernel has run for so long, up to ten times as often.
constexpr double kLeastSeconds = 0.01;

template <class T>
void fill(std::span<std::byte> bytes) {
    auto* values = reinterpret_cast<T*>(bytes.data());
    // Numbers of one size, as the activations of a trained network, none of them subnormal.
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
        state = state * 1664525U + 1013904223U;
        values[i] = T(double(state >> 8) / double(1 << 23) - 1);
    }
}

/// Operands in one region; whole numbers are zeros, which are indices of everything.
struct Operands {
    std::vector<const void*> sources;
    std::vector<void*> destinations;
    std::span<std::byte> workspace;
    Arena memory;
};

std::size_t rounded(std::int64_t bytes) {
    return std::size_t(bytes + 4095) / 4096 * 4096;
}

std::unique_ptr<Operands> make_operands(const kernels::Problem& problem, std::int64_t workspace) {
    std::size_t bytes = rounded(workspace);
    for (const auto* list : {&problem.sources, &problem.destinations})
        for (const TensorType& tensor : *list)
            bytes += rounded(tensor.bytes());
    auto operands = std::make_unique<Operands>();
    operands->memory = Arena(std::int64_t(bytes), "what is measured of " + problem.op);
    std::byte* next = operands->memory.data();
    for (const TensorType& tensor : problem.sources) {
        const std::span<std::byte> place(next, std::size_t(tensor.bytes()));
        if (tensor.dtype == DType::f32) fill<float>(place);
        if (tensor.dtype == DType::f64) fill<double>(place);
        operands->sources.push_back(next);
        next += rounded(tensor.bytes());
    }
    for (const TensorType& tensor : problem.destinations) {
        operands->destinations.push_back(next);
        next += rounded(tensor.bytes());
    }
    operands->workspace = {next, std::size_t(workspace)};
    return operands;
}

}  // namespace

bool has_kernels(kernels::Isa isa) {
    return kernels::is_built(isa);
}

KernelMeter::KernelMeter(int threads, int calls) : team_(threads), calls_(calls) {
    const long cache = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
    others_.resize(std::size_t(threads) * std::size_t(cache > 0 ? 2 * cache : 4 << 20), 1);
}

void KernelMeter::empty_caches() {
    team_.for_ranges(std::int64_t(others_.size()), 64,
                     [&](std::int64_t begin, std::int64_t end, int) {
                         for (std::int64_t i = begin; i < end; i += 64)
                             ++others_[std::size_t(i)];
                     });
}

std::vector<MeasuredKernel> KernelMeter::measure(
    const kernels::Problem& problem, std::span<const kernels::KernelInfo* const> kernels) {
    std::int64_t workspace = 0;
    for (const kernels::KernelInfo* kernel : kernels)
        workspace = std::max(workspace, kernels::workspace_bytes(*kernel, problem));
    const auto operands = make_operands(problem, workspace);
    const kernels::SubnormalsFlushed flushed(!problem.strict);

    struct Candidate {
        MeasuredKernel result;
        std::unique_ptr<kernels::BoundKernel> bound;
        bool out = false;
    };
    std::vector<Candidate> candidates;
    const auto call = [&](Candidate& candidate) {
        empty_caches();
        const Stopwatch watch;
        candidate.bound->run(team_);
        candidate.result.seconds.push_back(watch.seconds());
        return candidate.result.seconds.back();
    };
    const auto least_of = [](const Candidate& candidate) {
        return *std::min_element(candidate.result.seconds.begin(), candidate.result.seconds.end());
    };
    // The first call finds pages and code; it counts for those alone that it rules out.
    double least = 0;
    for (const kernels::KernelInfo* kernel : kernels) {
        auto bound = kernels::bind(*kernel, problem, operands->sources, operands->destinations,
                                   operands->workspace);
        if (!bound) continue;
        Candidate& candidate = candidates.emplace_back();
        candidate.result.kernel = kernel;
        candidate.bound = std::move(bound);
        call(candidate);
        candidate.result.seconds.clear();
        const double seconds = call(candidate);
        least = least == 0 ? seconds : std::min(least, seconds);
        candidate.out = seconds > kFirstCall * least;
    }
    const double wanted = least > 0 ? kLeastSeconds / least : 0;
    const double turns = std::clamp(wanted, double(calls_), 10.0 * calls_);
    for (std::size_t turn = 1; turn < std::size_t(turns); ++turn) {
        if (turn == kTurnsToJudge) {
            for (const Candidate& candidate : candidates)
                least = std::min(least, least_of(candidate));
            for (Candidate& candidate : candidates)
                candidate.out = candidate.out || least_of(candidate) > kFirstTurns * least;
        }
        for (Candidate& candidate : candidates)
            if (!candidate.out) call(candidate);
    }
    std::vector<MeasuredKernel> results;
    for (Candidate& candidate : candidates) {
        std::sort(candidate.result.seconds.begin(), candidate.result.seconds.end());
        results.push_back(std::move(candidate.result));
    }
    return results;
}

}  // namespace dtnn::runtime
