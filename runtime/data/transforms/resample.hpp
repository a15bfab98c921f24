#pragma once
/// Functions that compute pixels between pixels, and are pure. Pixels are channels, height, width,
/// row-major; pixel i of an axis covers [i, i + 1), its centre is i + 1/2.

#include <cstdint>
#include <vector>

#include "runtime/data/transforms/geometry.hpp"
#include "runtime/data/transforms/image_view.hpp"

namespace dtnn::runtime {

/// For every pixel of a result along one axis: the pixels of the source that it is made of.
class Taps {
  public:
    /// Makes `size` pixels of `extent`. Pixel x looks at the place c = (x + 1/2) extent / size.
    /// Without antialias it is the line between the two pixels whose centres are nearest to c, and
    /// the edge's pixel beyond the edge's centre. With antialias, and where the axis shrinks, it is
    /// the mean of the pixels within extent / size of c, weighted by a triangle. (PyTorch's
    /// interpolate, mode bilinear, align_corners=False, and antialias; Pillow's BILINEAR is the
    /// latter.)
    void set(std::int64_t extent, std::int64_t size, bool antialias);

    struct Tap {
        std::int64_t first = 0;  ///< pixel of the source
        std::int64_t count = 0;
        const float* weights = nullptr;
    };
    Tap operator[](std::int64_t x) const {
        const Range& range = ranges_[std::size_t(x)];
        return {range.first, range.count, weights_.data() + x * most_};
    }

  private:
    struct Range {
        std::int64_t first;
        std::int64_t count;
    };
    std::int64_t most_ = 0;  ///< weights of a pixel
    std::vector<Range> ranges_;
    std::vector<float> weights_;
};

/// The memory that resizing needs besides: it allocates nothing once it has done the largest.
struct ResizeScratch {
    Taps rows;
    Taps columns;
    std::vector<float> row;
};

/// `to` becomes the window of `from` (within it), height x width pixels large.
void resize(const ImageView& from, const Window& window, std::int64_t height, std::int64_t width,
            bool antialias, ResizeScratch& scratch, const ImageView& to);

/// `to` becomes `from`, turned counter-clockwise about its centre, by bilinear interpolation, with
/// `fill` for every pixel outside (torchvision's rotate, without expansion).
void rotate(const ImageView& from, double degrees, float fill, const ImageView& to);

}  // namespace dtnn::runtime
