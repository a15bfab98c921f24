#pragma once
/// How other programs arrange the axes of weights in their files.
///
///     parameter                    own, and nchw    nhwc             nhwc_gpu         torch
///     conv2d weights               (co,ci,kh,kw)    (ci,kh,kw,co)    (co,kh,kw,ci)    as nchw
///       of 1x1, also (not own)     (co,ci)          (ci,co)          (co,ci)
///     depthwise_conv2d weights,
///       also (not own)             (co,kh,kw)       (co,kh,kw)       (co,kh,kw)
///     dense weights                (in,out)         (in,out)         (in,out)         (out,in)
///     what has an element for
///       each number of a           in the order     in the order     as nhwc          as nchw
///       flattened image: dense     C,H,W            H,W,C
///       along `in`, batch norm
///
/// Everything else has the plan's shape. What has one axis may also have axes of one around it (not
/// own).
/// nchw, nhwc, nhwc_gpu are what PyDTNN 1.x writes: NCHW, NHWC on the processor, NHWC with cuDNN.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "plan/plan.hpp"

namespace dtnn::runtime {

enum class WeightLayout { own, nchw, nhwc, nhwc_gpu, torch };

inline constexpr WeightLayout kPydtnnLayouts[] = {WeightLayout::nchw, WeightLayout::nhwc,
                                                  WeightLayout::nhwc_gpu};

constexpr auto names_of(WeightLayout) {
    return std::to_array<const char*>({"own", "nchw", "nhwc", "nhwc_gpu", "torch"});
}
std::optional<WeightLayout> parse_layout(const std::string& name);

/// A shape that a file may have for a parameter, and where the parameter's logical elements are in
/// it: those of Arrangement(view, order).
struct FileForm {
    Dims dims;
    Dims view;
    Order order;            ///< empty: the logical order
    bool squeezed = false;  ///< extents of one do not count

    bool takes(const Dims& file) const;
    /// Whether every element has the same place as in the other form.
    bool same_places(const FileForm& other) const;
    bool operator==(const FileForm&) const = default;
};

class LayoutRules {
  public:
    /// The plan outlives the rules.
    explicit LayoutRules(const plan::Plan& plan);

    /// The forms that plan.parameters[index] may have in a file of this layout, the usual one
    /// first.
    std::vector<FileForm> forms(std::size_t index, WeightLayout layout) const;

  private:
    /// Channels, height and width of the image whose elements, flattened, the layer's sources are.
    std::optional<Dims> flattened(const plan::Layer& layer) const;

    const plan::Plan* plan_;
    std::map<std::string, const plan::Layer*> layers_;
};

}  // namespace dtnn::runtime
