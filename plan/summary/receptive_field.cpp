/// Per axis, by layer in the order of the table:
///
///     r_l = r_{l-1} + j_{l-1} * (d_l * (k_l - 1)),    j_l = j_{l-1} * s_l,    r_0 = j_0 = 1
///
/// with kernel k, stride s and dilation d, which sums to r = 1 + sum_l d_l (k_l - 1) prod_{i<l} s_i
/// (Araujo, Norris and Sim, Computing Receptive Fields of Convolutional Neural Networks, Distill
/// 2019). j is the distance on the input between neighbouring cells; enlarging layers make it
/// smaller. Where paths join, the largest r counts.

#include "plan/summary/receptive_field.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "plan/layer_types.hpp"

namespace dtnn::plan {

namespace {

struct Axis {
    double size = 1;          ///< r
    double jump = 1;          ///< j
    std::int64_t extent = 1;  ///< cells of the last image on the way, kept through flatten
};
using Field = std::array<Axis, 2>;

std::int64_t number(const Layer& layer, const char* name, std::size_t axis,
                    std::int64_t otherwise) {
    auto found = layer.attributes.find(name);
    if (found == layer.attributes.end()) return otherwise;
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second))
        return axis < list->size() ? (*list)[axis] : otherwise;
    if (const auto* one = std::get_if<std::int64_t>(&found->second)) return *one;
    return otherwise;
}

bool is_text(const Layer& layer, const char* name, std::string_view value) {
    auto found = layer.attributes.find(name);
    if (found == layer.attributes.end()) return false;
    const auto* text = std::get_if<std::string>(&found->second);
    return text && *text == value;
}

// The widest window of a pooling that divides `extent` cells among `windows`: window y has the
// cells floor(y*H/OH) ... ceil((y+1)*H/OH) - 1, so ceil((rest + H) / OH) of them with
// rest = y*H mod OH, which takes all multiples of gcd(H, OH) up to OH - gcd(H, OH).
std::int64_t adaptive_window(std::int64_t extent, std::int64_t windows) {
    if (extent < 1 || windows < 1) return 1;
    const std::int64_t most = windows - std::gcd(extent, windows) + extent;
    return (most + windows - 1) / windows;
}

Axis step(const Layer& layer, Axis in, std::size_t axis) {
    const bool image = layer.output_axes == image_axes();
    const std::int64_t extent = image ? layer.output_shape[axis + 1] : in.extent;
    Axis out = in;
    out.extent = extent;
    const auto windows = [&](std::int64_t count) {
        out.size += in.jump * double(adaptive_window(in.extent, count) - 1);
        out.jump *= double(in.extent) / double(std::max<std::int64_t>(count, 1));
        if (!image) out.extent = 1;
    };
    const Reach reach = layer_type(layer.type).reach;
    switch (reach) {
        case Reach::cell:
            break;
        case Reach::window:
        case Reach::pool:
        case Reach::scattered: {
            const std::int64_t kernel = number(layer, "kernel", axis, 1);
            const std::int64_t around = number(layer, "dilation", axis, 1) * (kernel - 1);
            const std::int64_t otherwise = reach == Reach::pool ? kernel : 1;
            const auto stride = double(number(layer, "stride", axis, otherwise));
            if (reach == Reach::scattered) {
                // A result cell gathers the inputs whose window covers it: every stride-th offset.
                out.size += in.jump * std::floor(double(around) / stride);
                out.jump /= stride;
            } else {
                out.size += in.jump * double(around);
                out.jump *= stride;
            }
            break;
        }
        case Reach::all_cells:
            windows(1);
            break;
        case Reach::parts:
            windows(extent);
            break;
        case Reach::resampled:
            if (is_text(layer, "mode", "bilinear") && extent > 1 && in.extent > 1)
                out.size += in.jump;
            out.jump *= double(in.extent) / double(std::max<std::int64_t>(extent, 1));
            break;
        case Reach::row:
            out.size += in.jump * double(in.extent - 1);
            out.extent = 1;
            break;
    }
    return out;
}

}  // namespace

std::vector<std::array<std::int64_t, 2>> receptive_fields(const Plan& plan) {
    std::unordered_map<std::string_view, std::size_t> index;
    std::vector<Field> fields;
    std::vector<std::array<std::int64_t, 2>> sizes;
    Field input;
    for (std::size_t axis = 0; axis < 2; ++axis)
        if (has_image(plan.dataset) && !plan.dataset.input().dims.empty())
            input[axis].extent = plan.dataset.input().dims[axis + 1];
    for (const Layer& layer : plan.layers) {
        Field joined = input;
        bool first = true;
        for (const std::string& name : layer.from) {
            auto found = index.find(name);
            const Field& source = found == index.end() ? input : fields[found->second];
            for (std::size_t axis = 0; axis < 2; ++axis) {
                if (first) {
                    joined[axis] = source[axis];
                    continue;
                }
                joined[axis].size = std::max(joined[axis].size, source[axis].size);
                // A branch of one cell (a gate of a channel) goes to every cell of the others.
                if (source[axis].extent > joined[axis].extent) {
                    joined[axis].extent = source[axis].extent;
                    joined[axis].jump = source[axis].jump;
                }
            }
            first = false;
        }
        for (std::size_t axis = 0; axis < 2; ++axis)
            joined[axis] = step(layer, joined[axis], axis);
        index.emplace(layer.name, fields.size());
        fields.push_back(joined);
        // A product of strides can leave what 64 bits hold; nobody reads such a number.
        sizes.push_back({});
        for (std::size_t axis = 0; axis < 2; ++axis)
            sizes.back()[axis] = std::int64_t(std::llround(std::min(joined[axis].size, 1e15)));
    }
    return sizes;
}

}  // namespace dtnn::plan
