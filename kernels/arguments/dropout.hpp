#pragma once
/// Dropout (Srivastava et al., JMLR 2014), inverted: element i of the logical row-major order is
/// kept when word i of the sequence (key_of(seed, dropout, stream), step) passes
/// philox::keep_threshold(rate), and multiplied by 1/(1-rate); the others become zero. The same
/// call on the gradient is its own backward. dst may be src. See kernels/philox.hpp.
///
/// spatial_dropout2d_apply (Tompson et al., "Efficient object localization using convolutional
/// networks", CVPR 2015) has the same arguments and drops whole channels: word n * C + c decides
/// for channel c of sample n.

#include "kernels/arguments/arguments.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels {

template <class T>
struct DropoutApplyArguments {
    std::int64_t count = 0;
    ImageLayout layout;  ///< of src and dst alike
    bool row_major = false;
    std::uint64_t key = 0;
    std::uint64_t threshold = 0;  ///< the least word that is kept
    T scale = 1;
    const T* src = nullptr;
    const std::int64_t* step = nullptr;
    T* dst = nullptr;
    std::byte* workspace = nullptr;

    static DropoutApplyArguments bind(const Problem&, Sources, Destinations, Workspace);
};

}  // namespace dtnn::kernels
