#pragma once
/// Where the elements of channels are in a tensor whose channels lie in runs of one length: one
/// element of each, where they are stored last.

#include "kernels/cuda/divider.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels::cuda {

class DenseChannels {
  public:
    DenseChannels(std::int64_t channels, std::int64_t run) : channels_(channels), run_(run) {}
    explicit DenseChannels(const ImageLayout& image)
        : DenseChannels(image.channels, image.channels > 1 ? image.channel_stride : 1) {}

    DTNN_DEVICE std::int64_t channels() const { return channels_.by(); }
    bool stored_last() const { return run_.by() == 1; }
    DTNN_DEVICE std::int64_t channel_of(std::int64_t i) const {
        return channels_.remainder(run_.by() == 1 ? i : run_.quotient(i));
    }
    /// Of the channel's element `number`.
    DTNN_DEVICE std::int64_t place(std::int64_t number, std::int64_t channel) const {
        if (run_.by() == 1) return number * channels() + channel;
        const std::int64_t outer = run_.quotient(number);
        return (outer * channels() + channel) * run_.by() + number - outer * run_.by();
    }

  private:
    Divider channels_, run_;
};

}  // namespace dtnn::kernels::cuda
