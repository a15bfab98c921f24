#include "kernels/roofs.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <vector>

#include "kernels/built.hpp"
#include "kernels/catalogue.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels {

#define DTNN_ROOFS                                        \
    template <class T>                                    \
    double multiply_and_add(std::int64_t rounds, T* sum); \
    template <class T>                                    \
    void stream_sum(const T* a, const T* b, T* to, std::int64_t count);
namespace isa_baseline {
DTNN_ROOFS
}
namespace isa_avx2 {
DTNN_ROOFS
}
namespace isa_avx512 {
DTNN_ROOFS
}
#undef DTNN_ROOFS

namespace {

template <class Body>
double seconds_of(Body&& body) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class T>
double arithmetic_roof_of(Isa isa, ThreadTeam& team) {
    using Function = double (*)(std::int64_t, T*);
    constexpr Function functions[] = DTNN_EVERY_ISA(multiply_and_add<T>);
    const Function function = functions[std::size_t(isa)];
    if (function == nullptr || isa > host_isa()) return 0;
    constexpr std::int64_t kRounds = 200'000;
    constexpr int kTries = 20;
    struct alignas(64) Place {
        double flops;
        T sum;
    };
    std::vector<Place> places(std::size_t(team.size()));
    double best = 0;
    for (int i = 0; i < kTries; ++i) {
        const double seconds = seconds_of([&] {
            team.run([&](int member) {
                Place& place = places[std::size_t(member)];
                place.flops = function(kRounds, &place.sum);
            });
        });
        double flops = 0;
        for (const Place& place : places)
            flops += place.flops;
        best = std::max(best, flops / seconds);
    }
    return best;
}

}  // namespace

double arithmetic_roof(Isa isa, DType dtype, ThreadTeam& team) {
    return dtype == DType::f64 ? arithmetic_roof_of<double>(isa, team)
                               : arithmetic_roof_of<float>(isa, team);
}

double memory_roof(ThreadTeam& team) {
    using Function = void (*)(const float*, const float*, float*, std::int64_t);
    constexpr Function functions[] = DTNN_EVERY_ISA(stream_sum<float>);
    Function function = nullptr;  // of the widest vectors that there are
    for (std::size_t isa = 0; isa < std::size(functions); ++isa)
        if (Isa(isa) <= host_isa() && functions[isa] != nullptr) function = functions[isa];
    if (function == nullptr) return 0;
    constexpr std::size_t kElements = std::size_t{8} << 20;  // of each array and thread: 32 MiB
    constexpr int kTries = 12;
    std::vector<std::vector<float>> arrays(3 * std::size_t(team.size()));
    // Each thread writes its own first, so that they lie in the memory of its processor.
    team.run([&](int member) {
        for (int i = 0; i < 3; ++i)
            arrays[3 * std::size_t(member) + std::size_t(i)].assign(kElements, float(i));
    });
    double best = 0;
    for (int i = 0; i < kTries; ++i) {
        const double seconds = seconds_of([&] {
            team.run([&](int member) {
                std::vector<float>* const own = &arrays[3 * std::size_t(member)];
                function(own[0].data(), own[1].data(), own[2].data(), std::int64_t(kElements));
            });
        });
        best = std::max(best, 3.0 * double(kElements * sizeof(float)) * team.size() / seconds);
    }
    return best;
}

}  // namespace dtnn::kernels
