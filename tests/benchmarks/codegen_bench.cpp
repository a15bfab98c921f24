// Times chains of elementwise work by generated code, interpreted, and as kernels of their own,
// beside a copy of as many bytes: arrays past the caches, each form in turn, medians of rounds.
//
//     codegen_bench [THREADS] [MIB]
//
// GB/s counts every operand once. A copy is memcpy by as many threads, of one array to another.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/dispatch.hpp"
#include "kernels/thread_team.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/device/generated_code.hpp"

namespace dtnn {
namespace {

using namespace kernels;

constexpr int kRounds = 9;

struct Chain {
    const char* name;
    const char* expression;
    int sources;                ///< by element
    std::int64_t channels = 0;  ///< of two further ones by channel, c{sources} and c{sources + 1}
    const char* own = nullptr;  ///< a kernel that is made for it
};

constexpr Chain kChains[] = {
    {"relu", "x0 0 max", 1, 0, "relu"},
    {"relu backward", "x1 0 gt x0 0 select", 2, 0, "relu_backward"},
    {"add and relu", "x0 x1 add 0 max", 2, 0, "add_relu"},
    {"relu6", "x0 0 max 6 min", 1},
    {"relu6 backward", "6 x1 gt x1 0 gt x0 0 select 0 select", 2},
    {"hard_swish", "x0 x0 3 add 0 max 6 min mul 6 div", 1},
    {"hard_swish backward", "x0 x1 -3 gt 3 x1 gt x1 3 div 0.5 add 1 select 0 select mul", 2},
    {"five operations", "x0 0.5 mul 1 add x0 mul 2 min x0 sub", 1},
    {"silu", "x0 x0 sigmoid mul", 1},
    {"scale, shift, add, relu, 64 channels", "x0 c2 mul c3 add x1 add 0 max", 2, 64},
    {"scale, shift, add, relu, 1024 channels", "x0 c2 mul c3 add x1 add 0 max", 2, 1024},
};

std::vector<std::byte> memory(std::int64_t bytes) {
    return std::vector<std::byte>(std::size_t(bytes) + 64);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Form {
    std::string name;
    std::function<void()> run;
    std::vector<double> seconds = {};
};

void measure(std::vector<Form>& forms) {
    for (Form& form : forms)
        form.run();
    for (int round = 0; round < kRounds; ++round)
        for (Form& form : forms) {
            const runtime::Stopwatch watch;
            form.run();
            form.seconds.push_back(watch.seconds());
        }
}

class Bench {
  public:
    Bench(int threads, std::int64_t bytes) : team_(threads), elements_(bytes / 4) {
        for (int i = 0; i < 4; ++i) {
            // Aligned as a plan's arena is.
            arrays_.emplace_back(static_cast<float*>(std::aligned_alloc(64, std::size_t(bytes))));
            for (std::size_t k = 0; k < std::size_t(elements_); ++k)
                arrays_.back().get()[k] =
                    float(int((k * 7919 + std::size_t(i) * 31) % 2001) - 1000) / 150;
        }
    }

    void run() {
        fmt::print("{} threads, arrays of {} MiB, {}\n", team_.size(), elements_ / 262144,
                   name_of(host_isa()));
        fmt::print("{:40} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "", "GB/s", "of copy", "own",
                   "interpr.", "copy");
        for (const Chain& chain : kChains)
            one(chain);
        adam();
    }

  private:
    std::unique_ptr<BoundKernel> bound(const KernelInfo& info, const Problem& problem,
                                       const std::vector<const void*>& from,
                                       const std::vector<void*>& to) {
        workspaces_.push_back(memory(workspace_bytes(info, problem)));
        return kernels::bind(info, problem, from, to, workspaces_.back());
    }

    Form copy(std::int64_t bytes) {
        // Half is read, half is written.
        return {"copy", [this, bytes] {
                    const std::int64_t half = std::min<std::int64_t>(bytes / 2, elements_ * 4);
                    team_.for_ranges(half / 4096, 1, [&](auto begin, auto end, int) {
                        std::memcpy(reinterpret_cast<char*>(arrays_[3].get()) + begin * 4096,
                                    reinterpret_cast<char*>(arrays_[2].get()) + begin * 4096,
                                    std::size_t(end - begin) * 4096);
                    });
                }};
    }

    void print(const std::string& name, std::vector<Form>& forms, std::int64_t bytes) {
        measure(forms);
        std::map<std::string, double> rates;
        for (const Form& form : forms) {
            const std::int64_t moved =
                form.name == "copy"
                    ? std::min<std::int64_t>(bytes / 2, elements_ * 4) / 4096 * 4096 * 2
                    : bytes;
            rates[form.name] = double(moved) / median(form.seconds) / 1e9;
        }
        const auto rate = [&](const char* form) {
            return rates.contains(form) ? fmt::format("{:.1f}", rates[form]) : std::string("-");
        };
        const double first = rates.contains("generated") ? rates["generated"] : rates["own"];
        fmt::print("{:40} {:>9.1f} {:>8.0f}% {:>9} {:>9} {:>9}\n", name, first,
                   100 * first / rates["copy"], rate("own"), rate("interpreted"), rate("copy"));
    }

    void one(const Chain& chain) {
        Problem problem;
        problem.op = "elementwise";
        problem.isa = host_isa();
        problem.threads = team_.size();
        problem.attributes["expression"] = std::string(chain.expression);
        const std::int64_t channels = std::max<std::int64_t>(chain.channels, 1);
        const Dims dims{elements_ / channels, channels};
        std::vector<const void*> from;
        for (int s = 0; s < chain.sources; ++s) {
            problem.sources.push_back({DType::f32, dims, {}});
            from.push_back(arrays_[std::size_t(s)].get());
        }
        for (int s = 0; s < (chain.channels > 0 ? 2 : 0); ++s) {
            problem.sources.push_back({DType::f32, {channels}, {}});
            from.push_back(arrays_[2].get() + s * channels);
        }
        problem.destinations.push_back({DType::f32, dims, {}});
        const std::vector<void*> to{arrays_[3].get()};
        const KernelInfo& chunked = *find_kernel("elementwise", "chunked");
        std::vector<Form> forms;
        const auto add = [&](const char* name, const KernelInfo& info, const Problem& what) {
            kernels_.push_back(bound(info, what, from, to));
            forms.push_back({name, [this, kernel = kernels_.back().get()] { kernel->run(team_); }});
        };
        Problem with_code = problem;
        with_code.loop = code_.loop_for(problem);
        if (with_code.loop != nullptr) add("generated", chunked, with_code);
        add("interpreted", chunked, problem);
        if (chain.own != nullptr) add("own", *find_kernel("elementwise", chain.own), problem);
        const std::int64_t bytes = (chain.sources + 1) * elements_ * 4;
        forms.push_back(copy(bytes));
        print(chain.name, forms, bytes);
    }

    /// Four arrays are read, three written: a kernel of its own.
    void adam() {
        Problem problem;
        problem.op = "adam_update";
        problem.isa = host_isa();
        problem.threads = team_.size();
        const TensorType all{DType::f32, {elements_}, {}}, one{DType::f32, {}, {}};
        const TensorType count{DType::i64, {}, {}};
        problem.sources = {all, all, one, count, all, all};
        problem.destinations = {all, all, all};
        problem.attributes = {
            {"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-8}, {"weight_decay", 0.0}};
        const float rate = 0.001F;
        const std::int64_t update = 3;
        for (std::int64_t k = 0; k < elements_; ++k)
            arrays_[3].get()[k] = std::abs(arrays_[3].get()[k]);
        const std::vector<const void*> from{arrays_[0].get(), arrays_[1].get(), &rate,
                                            &update,          arrays_[2].get(), arrays_[3].get()};
        const std::vector<void*> to{arrays_[0].get(), arrays_[2].get(), arrays_[3].get()};
        for (const KernelInfo& info : kernels_of("adam_update", "cpu")) {
            if (refusal(info, problem)) continue;
            kernels_.push_back(bound(info, problem, from, to));
            std::vector<Form> forms{
                {"own", [this, kernel = kernels_.back().get()] { kernel->run(team_); }}};
            const std::int64_t bytes = 7 * elements_ * 4;
            forms.push_back(copy(bytes));
            print("adam", forms, bytes);
            return;
        }
    }

    ThreadTeam team_;
    std::int64_t elements_;
    struct Free {
        void operator()(float* memory) const { std::free(memory); }
    };
    std::vector<std::unique_ptr<float, Free>> arrays_;
    std::vector<std::vector<std::byte>> workspaces_;
    std::vector<std::unique_ptr<BoundKernel>> kernels_;
    runtime::GeneratedCode code_{runtime::CodeCache()};
};

}  // namespace
}  // namespace dtnn

int main(int count, char** words) {
    const int threads = count > 1 ? std::atoi(words[1]) : 1;
    const std::int64_t mebibytes = count > 2 ? std::atoi(words[2]) : 64;
    dtnn::Bench(threads, mebibytes << 20).run();
    return 0;
}
