#pragma once
/// Dropout (Srivastava et al., JMLR 2014), inverted: element e (logical row-major order) of the
/// sample at place p of the epoch's order is kept when word p * E + e of the sequence
/// (key_of(seed, dropout, stream), epoch) passes philox::keep_threshold(rate), and multiplied by
/// 1/(1-rate); the others become zero. E is the number of elements of a sample, and `position` is
/// {epoch, place of the batch's first sample}: neither batches nor ranks change what a sample
/// draws. The same call on the gradient is its own backward. dst may be src. See
/// kernels/philox.hpp.
///
/// spatial_dropout2d_apply (Tompson et al., "Efficient object localization using convolutional
/// networks", CVPR 2015) has the same arguments and drops whole channels: word p * C + c decides
/// for channel c of the sample at place p.

#include "kernels/arguments/arguments.hpp"
#include "kernels/philox.hpp"

namespace dtnn::kernels {

template <class T>
struct DropoutApplyArguments : FromOperands {
    std::int64_t count = o.source("src").elements();
    std::int64_t sample_numbers = count / o.source("src").type()->dims[0];  ///< E
    ImageLayout layout = merged_layout(*o.source("src").type()).value();  ///< of src and dst alike
    bool row_major = is_row_major(*o.source("src").type());
    std::uint64_t key =
        philox::key_of(std::uint64_t(o.problem.integer("seed")), philox::Purpose::dropout,
                       std::uint64_t(o.problem.integer("stream")));
    std::uint64_t threshold =
        philox::keep_threshold(o.problem.real("rate"));  ///< the least word that is kept
    Wide<T> scale = 1;
    const T* src = o.source("src");
    const std::int64_t* position = o.source("position");
    T* dst = o.result("dst");
    std::byte* workspace = o.scratch();

    DTNN_DEVICE std::uint64_t epoch() const { return std::uint64_t(position[0]); }
    /// The word of the batch's first number, where each sample has `numbers` of them.
    DTNN_DEVICE std::uint64_t first_word(std::int64_t numbers) const {
        return std::uint64_t(position[1]) * std::uint64_t(numbers);
    }

    explicit DropoutApplyArguments(const Operands& operands) : FromOperands(operands) {
        const double rate = o.problem.real("rate");
        scale = rate < 1 ? Wide<T>(1 / (1 - rate)) : Wide<T>(0);
    }
};

}  // namespace dtnn::kernels
