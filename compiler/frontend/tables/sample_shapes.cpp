#include "compiler/frontend/tables/sample_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/normalization.hpp"

namespace dtnn::compiler {

namespace {

using Extents = std::vector<std::int64_t>;

const Extents& extents_of(const ReadComponent& read) {
    return std::get<Extents>(read.component.attributes.at("size"));
}

bool refuse_channels(const ReadComponent& read, const Dims& shape, std::string_view wanted,
                     Diagnostics& diagnostics) {
    diagnostics.error(Code::out_of_range, read.span,
                      fmt::format("{} takes samples of {}; they have {} where it stands",
                                  read.component.type, wanted, shape[0]));
    return false;
}

/// A window that begins at `top`, `left` must lie within what is known of the sample's extents.
bool window_shape(const ReadComponent& read, std::int64_t top, std::int64_t left, Dims& shape,
                  Diagnostics& diagnostics) {
    const Extents& extents = extents_of(read);
    const std::int64_t begin[2] = {top, left};
    for (std::size_t axis = 0; axis < 2; ++axis) {
        if (shape[axis + 1] == 0 || begin[axis] + extents[axis] <= shape[axis + 1]) continue;
        Diagnostic& error = diagnostics.error(
            Code::out_of_range, read.span_of("size"),
            fmt::format("{} takes {}x{} pixels from {},{} on; samples are {}x{} where it stands",
                        read.component.type, extents[0], extents[1], top, left, shape[1],
                        shape[2]));
        error.help = "put a resize before it";
        return false;
    }
    return sized_shape(read, shape, diagnostics);
}

}  // namespace

bool sized_shape(const ReadComponent& read, Dims& shape, Diagnostics&) {
    if (!read.has("size")) return true;
    shape[1] = extents_of(read)[0];
    shape[2] = extents_of(read)[1];
    return true;
}

bool resized_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics) {
    if (read.has("size")) return sized_shape(read, shape, diagnostics);
    const std::int64_t shorter = read.integer("shorter");
    const bool known = shape[1] > 0 && shape[2] > 0;
    const bool lies = known && shape[1] <= shape[2];
    const auto longer = [&](std::int64_t from, std::int64_t other) {
        return known ? std::max(shorter, shorter * from / other) : 0;
    };
    const std::int64_t height = lies ? shorter : longer(shape[1], shape[2]);
    const std::int64_t width = lies ? longer(shape[2], shape[1]) : known ? shorter : 0;
    shape[1] = height;
    shape[2] = width;
    return true;
}

bool cropped_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics) {
    return window_shape(read, read.integer("top"), read.integer("left"), shape, diagnostics);
}

bool centre_cropped_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics) {
    if (read.has("size")) return window_shape(read, 0, 0, shape, diagnostics);
    for (std::size_t axis = 1; axis < 3; ++axis) {
        if (shape[axis] == 0) continue;
        const double part = double(shape[axis]) * read.real("share");
        shape[axis] = std::max<std::int64_t>(1, std::llround(part));
    }
    return true;
}

bool randomly_cropped_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics) {
    if (!read.has("size")) return true;
    const auto& padding = std::get<Extents>(read.component.attributes.at("padding"));
    for (std::size_t axis = 0; axis < 2; ++axis) {
        const std::int64_t padded = shape[axis + 1] + 2 * padding[axis];
        if (shape[axis + 1] == 0 || extents_of(read)[axis] <= padded) continue;
        Diagnostic& error = diagnostics.error(
            Code::out_of_range, read.span_of("size"),
            fmt::format("random_crop takes {}x{} pixels; samples are {}x{} where it stands",
                        extents_of(read)[0], extents_of(read)[1], shape[1], shape[2]));
        error.help = "give it more `padding`, or put a resize before it";
        return false;
    }
    return sized_shape(read, shape, diagnostics);
}

bool gray_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics) {
    if (shape[0] != 1 && shape[0] != 3)
        return refuse_channels(read, shape, "1 or 3 channels", diagnostics);
    shape[0] = 1;
    return true;
}

bool contrasted_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics) {
    return shape[0] == 1 || shape[0] == 3 ||
           refuse_channels(read, shape, "1 or 3 channels", diagnostics);
}

bool saturated_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics) {
    return shape[0] == 3 || refuse_channels(read, shape, "3 channels", diagnostics);
}

bool normalized_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics) {
    bool sound = true;
    const auto check = [&](const char* field, const std::vector<double>& list,
                           std::string_view whose) {
        const auto count = std::int64_t(list.size());
        if (count == 1 || count == shape[0]) return;
        sound = false;
        diagnostics.error(Code::wrong_type, read.span_of(field),
                          fmt::format("`{}` of normalize {} {} numbers; samples have {} channels",
                                      field, whose, count, shape[0]));
    };
    if (read.has("constants")) {
        check("constants", plan::find_normalization_constants(read.text("constants"))->mean,
              "names");
        return sound;
    }
    for (const char* field : {"mean", "deviation"})
        check(field, std::get<std::vector<double>>(read.component.attributes.at(field)), "has");
    return sound;
}

}  // namespace dtnn::compiler
