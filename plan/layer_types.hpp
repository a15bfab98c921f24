#pragma once
/// The types of layers (layer_types.def): what is known of one where only the plan is at hand, not
/// the operators of the compiler.

#include <span>
#include <string_view>

namespace dtnn::plan {

/// Which cells of its input a cell of the output reads, along a spatial axis.
enum class Reach {
    cell,       ///< that cell alone
    window,     ///< `kernel` cells, `dilation` apart, and `stride` from the next window
    pool,       ///< likewise; a stride that is not given is the kernel's extent
    scattered,  ///< those whose window, of a transposed convolution, covers it
    all_cells,  ///< every cell of the image
    parts,      ///< one of as many parts as the output has cells
    resampled,  ///< the cells about its place
    row,        ///< every feature, which are every cell where the row was an image
};

/// What the axes of its weights are, which no other of its parameters has as many of.
enum class WeightForm {
    none,                 ///< it has none, or other programs have no other order for them
    filters,              ///< [filters, channels, height, width]
    filter_of_a_channel,  ///< [channels, 1, height, width]
    matrix,               ///< [inputs, units]
};

struct LayerType {
    std::string_view name;
    Reach reach = Reach::cell;
    WeightForm weights = WeightForm::none;
    bool commutes = false;    ///< the layers that it reads may come in any order
    bool sees_batch = false;  ///< a sample's output depends on the others of its batch
};

std::span<const LayerType> layer_types();
/// One without properties for a type that is not listed.
const LayerType& layer_type(std::string_view name);

}  // namespace dtnn::plan
