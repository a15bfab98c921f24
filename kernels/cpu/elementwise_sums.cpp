#include "kernels/arguments/elementwise_sums.hpp"

#include "kernels/cpu/expression_chunk.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Adds values that begin at place `channel` to the sums of their places.
template <class T>
DTNN_INLINE void add_by_channel(const T* values, std::int64_t count, std::int64_t channel,
                                double* sums, std::int64_t channels) {
    if (channels == 1) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t i = 0; i < count; ++i)
            sum += double(values[i]);
        sums[0] += sum;
        return;
    }
    while (count > 0) {
        const std::int64_t run = channels - channel < count ? channels - channel : count;
        double* const to = sums + channel;
        for (std::int64_t i = 0; i < run; ++i)
            to[i] += double(values[i]);
        values += run;
        count -= run;
        channel = 0;
    }
}

}  // namespace

/// Every stretch of the elements has its own sums, and these are added in order, so that the result
/// does not depend on the number of threads.
DTNN_KERNEL(elementwise_sums_chunked, ElementwiseSumsArguments) {
    const std::int64_t count = a.terms.count, places = a.places();
    const ElementwiseSumsCut cut = cut_elementwise_sums(count, places);
    fill_tiles(a.terms);
    team.for_pieces(cut.stretches, 1, [&](std::int64_t begin, std::int64_t end, int) {
        alignas(64) T slots[kExpressionSlots][kChunk<T>];
        for (std::int64_t stretch = begin; stretch < end; ++stretch) {
            double* const sums = a.sums + stretch * places;
            for (std::int64_t c = 0; c < places; ++c)
                sums[c] = 0;
            const std::int64_t first = stretch * cut.length;
            const std::int64_t last = count - first < cut.length ? count : first + cut.length;
            for_values(a.terms, first, last, slots,
                       [&](const T* values, std::int64_t at, std::int64_t here) {
                           add_by_channel(values, here, at % places, sums, places);
                       });
        }
    });
    for (std::int64_t c = 0; c < a.numbers; ++c) {
        const std::int64_t first = c * a.channel_stride;
        double sum = 0;
        for (std::int64_t place = first; place < first + a.channel_stride; ++place)
            for (std::int64_t stretch = 0; stretch < cut.stretches; ++stretch)
                sum += a.sums[stretch * places + place];
        a.dst[c] = T(sum);
    }
}

}  // namespace dtnn::kernels::DTNN_ISA
