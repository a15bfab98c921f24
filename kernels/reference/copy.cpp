#include "kernels/arguments/copy.hpp"

#include "kernels/reference/reference.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::reference {
namespace {

template <class T>
void copy(const CopyArguments<T>& a) {
    const auto place = [](const std::array<std::int64_t, 4>& strides, auto i, auto j, auto k,
                          auto l) {
        return i * strides[0] + j * strides[1] + k * strides[2] + l * strides[3];
    };
    for (std::int64_t i = 0; i < a.dims[0]; ++i) {
        for (std::int64_t j = 0; j < a.dims[1]; ++j) {
            for (std::int64_t k = 0; k < a.dims[2]; ++k) {
                for (std::int64_t l = 0; l < a.dims[3]; ++l) {
                    a.dst[place(a.dst_strides, i, j, k, l)] =
                        a.src[place(a.src_strides, i, j, k, l)];
                }
            }
        }
    }
}

/// Channels [0, count) of `from`, starting at its channel `first_from`, to those of `to` at
/// `first_to`.
template <class T>
void copy_channels(const ChannelPart<T>& from, const T* src, std::int64_t first_from,
                   const ChannelPart<T>& to, T* dst, std::int64_t first_to, std::int64_t count,
                   std::int64_t batch, std::int64_t height, std::int64_t width) {
    const auto place = [](const ChannelPart<T>& part, auto n, auto c, auto h, auto w) {
        return n * part.batch_stride + c * part.channel_stride + h * part.row_stride +
               w * part.column_stride;
    };
    for (std::int64_t n = 0; n < batch; ++n) {
        for (std::int64_t c = 0; c < count; ++c) {
            for (std::int64_t h = 0; h < height; ++h) {
                for (std::int64_t w = 0; w < width; ++w) {
                    dst[place(to, n, first_to + c, h, w)] =
                        src[place(from, n, first_from + c, h, w)];
                }
            }
        }
    }
}

}  // namespace

template <class T>
void reorder_reference(const CopyArguments<T>& a, ThreadTeam&) {
    copy(a);
}
template <class T>
void flatten_reference(const CopyArguments<T>& a, ThreadTeam&) {
    copy(a);
}
template <class T>
void unflatten_reference(const CopyArguments<T>& a, ThreadTeam&) {
    copy(a);
}
template <class T>
void pixels_to_rows_reference(const CopyArguments<T>& a, ThreadTeam&) {
    copy(a);
}
template <class T>
void rows_to_pixels_reference(const CopyArguments<T>& a, ThreadTeam&) {
    copy(a);
}

template <class T>
void pack_weights_reference(const PackWeightsArguments<T>& a, ThreadTeam& team) {
    team.for_ranges(a.blocks, 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t b = begin; b < end; ++b) {
            for (std::int64_t row = 0; row < a.rows; ++row) {
                for (std::int64_t j = 0; j < a.block; ++j) {
                    const std::int64_t filter = b * a.block + j;
                    a.dst[(b * a.rows + row) * a.block + j] =
                        filter < a.filters ? a.src[row * a.filters + filter] : T(0);
                }
            }
        }
    });
}

template <class T>
void concat_reference(const ConcatArguments<T>& a, ThreadTeam&) {
    std::int64_t first = 0;
    for (const ChannelPart<T>& part : a.parts) {
        copy_channels(part, part.data, 0, a.whole, a.dst, first, part.channels, a.batch, a.height,
                      a.width);
        first += part.channels;
    }
}

DTNN_REFERENCE(reorder, CopyArguments)
DTNN_REFERENCE(flatten, CopyArguments)
DTNN_REFERENCE(unflatten, CopyArguments)
DTNN_REFERENCE(pixels_to_rows, CopyArguments)
DTNN_REFERENCE(rows_to_pixels, CopyArguments)
DTNN_REFERENCE(pack_weights, PackWeightsArguments)
DTNN_REFERENCE(concat, ConcatArguments)

}  // namespace dtnn::kernels::reference
