// The bandwidth of reductions between ranks, ours beside a bare blocking MPI_Allreduce:
//
//     mpiexec -n 2 all_reduce_bench [ROUNDS [FORM]]
//
// FORM: bf16, fp16 or top_k (a hundredth) in place of sums as they are.
// For 1 to 64 MiB of f32 each round measures both, one after the other, in changing order; printed
// are medians, and the time of a reduction of one element. Bandwidth is the array's bytes by the
// seconds of the slowest rank.

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "plan/rules/compression.hpp"
#include "runtime/comm/open.hpp"

namespace dtnn::runtime {
namespace {

double median(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

/// Seconds of the slowest rank.
template <typename Work>
double timed(Work&& work) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    work();
    double seconds = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

void measure(Communicator& communicator, std::int64_t elements, int rounds,
             plan::Compression form) {
    std::vector<float> memory(std::size_t(elements), 0.0F), residual(memory.size());
    std::vector<double> scratch(
        std::size_t(plan::compression_scratch_bytes(form, elements, 0.01) / 8 + 1));
    const auto exchange =
        form == plan::Compression::full
            ? communicator.all_reduce(memory.data(), elements, DType::f32, Reduction::sum,
                                      "measured")
            : communicator.all_reduce_compressed(
                  {form, 0.01, residual.data(), std::as_writable_bytes(std::span(scratch))},
                  memory.data(), elements, "measured");
    const auto ours = [&] {
        exchange->start();
        exchange->wait();
    };
    const auto bare = [&] {
        MPI_Allreduce(MPI_IN_PLACE, memory.data(), int(elements), MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    };
    std::vector<double> our_seconds, bare_seconds;
    for (int round = -2; round < rounds; ++round) {
        double our = 0, other = 0;
        if (round % 2 == 0) {
            our = timed(ours);
            other = timed(bare);
        } else {
            other = timed(bare);
            our = timed(ours);
        }
        if (round < 0) continue;  // to warm up
        our_seconds.push_back(our);
        bare_seconds.push_back(other);
    }
    if (communicator.rank() != 0) return;
    const double our = median(our_seconds), other = median(bare_seconds);
    const double bytes = double(elements) * sizeof(float);
    std::printf("%10.0f  %10.1f us %7.2f GB/s  %10.1f us %7.2f GB/s  %5.2f\n", bytes, our * 1e6,
                bytes / our * 1e-9, other * 1e6, bytes / other * 1e-9, other / our);
    std::fflush(stdout);
}

}  // namespace
}  // namespace dtnn::runtime

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 31;
    dtnn::plan::Compression form = dtnn::plan::Compression::full;
    if (argc > 2 && !dtnn::plan::parse_name(argv[2], form)) {
        std::fputs("all_reduce_bench: the form is full, bf16, fp16 or top_k\n", stderr);
        return 2;
    }
    const auto communicator = dtnn::runtime::make_communicator(60);
    if (communicator->ranks() == 1) {
        std::fputs("all_reduce_bench: start it with mpiexec -n 2\n", stderr);
        return 2;
    }
    if (communicator->rank() == 0)
        std::printf(
            "     bytes                     ours            MPI_Allreduce           ratio\n");
    dtnn::runtime::measure(*communicator, 1, rounds * 10, form);
    for (std::int64_t mebibytes = 1; mebibytes <= 64; mebibytes *= 2)
        dtnn::runtime::measure(*communicator, mebibytes << 18, rounds, form);
    return 0;
}
