// Transforms, which every sample goes through, and augmentations, which training samples go through
// besides. Each says what becomes of a sample's shape. What they do:
// runtime/data/transforms/transforms.cpp and augmentations.cpp.

#include <fmt/format.h>

#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/sample_shapes.hpp"
#include "compiler/support/field_rows.hpp"
#include "plan/normalization.hpp"

namespace dtnn::compiler {
namespace {

constexpr std::string_view kSharpness = "the network sees the samples in another size or sharpness";
constexpr std::string_view kPart = "the network sees another part of the samples";
constexpr std::string_view kChanged = "training samples are changed otherwise";

// Fields that several have.

Field size(std::string_view doc, bool optional, std::string_view reason) {
    return number_field(FieldType::integer_pair, "size", optional ? kMayBeAbsent : kMustBeGiven,
                        between(1, 65536).in("pixels"), doc, mathematics(reason));
}

Field fill(std::string_view doc) {
    return real_field("fill", 0.0, between(0, 1), doc, mathematics(kChanged));
}

Field probability(double fallback) {
    return real_field("probability", fallback, between(0, 1), "of a sample's being changed at all",
                      mathematics("samples are changed more or less often"));
}

Field antialias(std::string_view reason) {
    return flag_field("antialias", true,
                      "where the image shrinks, every pixel is the mean of all that it covers; "
                      "without, of the two by two pixels nearest to its centre",
                      mathematics(reason));
}

Field amount() {
    return real_field("amount", 0.4, between(0, 100),
                      "the factor lies between 1 - amount, or 0, and 1 + amount",
                      mathematics(kChanged));
}

// The rules that fields must fulfil together.

void check_resize(const ReadComponent& read, Diagnostics& diagnostics) {
    require_one_of(read, {"size", "shorter"}, diagnostics);
}

void check_centre_crop(const ReadComponent& read, Diagnostics& diagnostics) {
    require_one_of(read, {"size", "share"}, diagnostics);
}

void check_normalize(const ReadComponent& read, Diagnostics& diagnostics) {
    if (!read.has("constants") && read.has("mean") && read.has("deviation")) return;
    if (read.has("constants") && !read.has("mean") && !read.has("deviation")) return;
    Diagnostic& error = diagnostics.error(
        Code::conflicting_fields, read.span,
        read.has("constants") ? "normalize has `constants`, and numbers of its own besides"
                              : "normalize must have both `mean` and `deviation`, or `constants`");
    error.help =
        "such as `normalize: {constants: imagenet}`, or `normalize: {mean: [0.5], "
        "deviation: [0.25]}`";
}

void check_random_resized_crop(const ReadComponent& read, Diagnostics& diagnostics) {
    for (const char* field : {"area", "ratio"}) {
        const auto& range = std::get<std::vector<double>>(read.component.attributes.at(field));
        if (range.size() == 2 && range[0] <= range[1]) continue;
        diagnostics.error(
            Code::out_of_range, read.span_of(field),
            fmt::format("`{}` of random_resized_crop must be two numbers, the smaller one first",
                        field));
    }
}

// The tables of fields.

const FieldTable& resize_fields() {
    static const FieldTable table = {
        size("height and width that every sample gets; give this or `shorter`", true, kSharpness),
        integer_field("shorter", kMayBeAbsent, between(1, 65536).in("pixels"),
                      "the shorter side gets so many pixels, the longer one as many as keep the "
                      "shape; give this or `size`",
                      mathematics(kSharpness)),
        antialias(kSharpness),
    };
    return table;
}

const FieldTable& crop_fields() {
    static const FieldTable table = {
        size("height and width of the part that is taken", false, kPart),
        integer_field("top", 0, between(0, 65536).in("pixels"), "its first row",
                      mathematics(kPart)),
        integer_field("left", 0, between(0, 65536).in("pixels"), "its first column",
                      mathematics(kPart)),
    };
    return table;
}

const FieldTable& centre_crop_fields() {
    static const FieldTable table = {
        size("height and width of the part; give this or `share`", true, kPart),
        real_field(
            "share", kMayBeAbsent, above(0).up_to(1),
            "the part's height and width as shares of the sample's, rounded; give this or `size`",
            mathematics(kPart)),
    };
    return table;
}

const FieldTable& normalize_fields() {
    static const std::vector<std::string_view> names = [] {
        std::vector<std::string_view> list;
        for (const plan::NormalizationConstants& one : plan::normalization_constants())
            list.push_back(one.name);
        return list;
    }();
    static const FieldTable table = {
        choice_field("constants", kMayBeAbsent, names, "mean and deviation of a well-known dataset",
                     mathematics("the network sees other values")),
        number_field(FieldType::real_list, "mean", kMayBeAbsent, Bounds{},
                     "what is taken off every channel; one number is for all",
                     mathematics("the network sees other values")),
        number_field(FieldType::real_list, "deviation", kMayBeAbsent, above(0),
                     "what every channel is divided by then; one number is for all",
                     mathematics("the network sees other values")),
    };
    return table;
}

const FieldTable& flip_fields() {
    static const FieldTable table = {probability(0.5)};
    return table;
}

const FieldTable& random_crop_fields() {
    static const FieldTable table = {
        number_field(FieldType::integer_pair, "padding",
                     AttributeValue(std::vector<std::int64_t>{0, 0}),
                     between(0, 65536).in("pixels"),
                     "pixels that are put around the sample first, above and below, left and right",
                     mathematics(kChanged)),
        size("height and width of the part; the sample's own when not given", true, kChanged),
        fill("the value of the pixels around the sample"),
    };
    return table;
}

const FieldTable& random_resized_crop_fields() {
    static const FieldTable table = {
        size("height and width of the result; the sample's own when not given", true, kChanged),
        number_field(FieldType::real_list, "area", AttributeValue(std::vector<double>{0.08, 1.0}),
                     above(0).up_to(1),
                     "the least and the greatest share of the sample's area that is taken",
                     mathematics(kChanged)),
        number_field(FieldType::real_list, "ratio",
                     AttributeValue(std::vector<double>{0.75, 1.3333333333333333}),
                     above(0).up_to(1000),
                     "the least and the greatest width of the part as a share of its height",
                     mathematics(kChanged)),
        antialias(kChanged),
    };
    return table;
}

const FieldTable& rotation_fields() {
    static const FieldTable table = {
        real_field("degrees", 15.0, between(0, 180).in("degrees"),
                   "the angle lies between -degrees and +degrees", mathematics(kChanged)),
        fill("the value of pixels that come from outside the sample"),
        probability(1.0),
    };
    return table;
}

const FieldTable& colour_fields() {
    static const FieldTable table = {amount(), probability(1.0)};
    return table;
}

const FieldTable& cutout_fields() {
    static const FieldTable table = {
        size("height and width of what is covered", false, kChanged),
        fill("the value it is covered with, between 0 and 1"),
        probability(1.0),
    };
    return table;
}

const FieldTable& mixup_fields() {
    static const FieldTable table = {
        real_field("alpha", 0.2, above(0).up_to(1000),
                   "the share of a sample is drawn from Beta(alpha, alpha): the greater, the "
                   "nearer to one half",
                   mathematics(kChanged)),
    };
    return table;
}

std::vector<ComponentInfo> transform_members() {
    return {
        {.name = "resize",
         .doc = "Brings every sample to one size by bilinear interpolation, or its shorter side "
                "to one length. Pixels have centres at one half: PyTorch's interpolate with "
                "align_corners=False, with antialias also Pillow's BILINEAR.",
         .example = "kind: dataset\ntype: synthetic\nshape: [3, 40, 60]\nclasses: 10\n"
                    "transforms: [{resize: {size: [32, 32]}}]\n",
         .fields = &resize_fields(),
         .check = check_resize,
         .shape = resized_shape},
        {.name = "crop",
         .doc = "Takes the same part of every sample.",
         .example = "kind: dataset\ntype: synthetic\nshape: [3, 40, 60]\nclasses: 10\n"
                    "transforms: [{crop: {size: 32, top: 4, left: 14}}]\n",
         .fields = &crop_fields(),
         .shape = cropped_shape},
        {.name = "centre_crop",
         .doc = "Takes the middle of every sample.",
         .example = "kind: dataset\ntype: synthetic\nshape: [3, 256, 256]\nclasses: 10\n"
                    "transforms: [{centre_crop: {size: 224}}]\n",
         .fields = &centre_crop_fields(),
         .check = check_centre_crop,
         .shape = centre_cropped_shape},
        {.name = "to_gray",
         .doc = "Makes one channel of red, green and blue: 0.299 red + 0.587 green + 0.114 blue "
                "(ITU-R BT.601). A gray sample stays as it is.",
         .example = "kind: dataset\ntype: synthetic\nshape: [3, 32, 32]\nclasses: 10\n"
                    "transforms: [to_gray]\n",
         .fields = &no_fields(),
         .shape = gray_shape},
        {.name = "normalize",
         .doc = "(value - mean) / deviation, channel by channel, of values between 0 and 1. It "
                "comes behind all other transforms and the augmentations, wherever it stands in "
                "the list.",
         .example = "kind: dataset\ntype: digits\ntransforms: [{normalize: {mean: [0.13], "
                    "deviation: [0.31]}}]\n",
         .fields = &normalize_fields(),
         .check = check_normalize,
         .shape = normalized_shape,
         .centres = true},
    };
}

constexpr std::string_view kFlipExample =
    "kind: dataset\ntype: synthetic\nshape: [3, 32, 32]\nclasses: 10\naugmentations: [flip]\n";

std::vector<ComponentInfo> augmentation_members() {
    return {
        {.name = "flip",
         .doc = "Mirrors left to right.",
         .example = kFlipExample,
         .fields = &flip_fields()},
        {.name = "vertical_flip",
         .doc = "Mirrors top to bottom.",
         .example = "kind: dataset\ntype: synthetic\nshape: [3, 32, 32]\nclasses: 10\n"
                    "augmentations: [vertical_flip]\n",
         .fields = &flip_fields()},
        {.name = "random_crop",
         .doc = "Takes a part of the sample, padded or not, from anywhere: with padding and "
                "without `size` the sample is shifted by up to so many pixels. Evaluation sees "
                "samples as they are, with `size` their middle part.",
         .example = "kind: dataset\ntype: synthetic\nshape: [3, 32, 32]\nclasses: 10\n"
                    "augmentations: [flip, {random_crop: {padding: 4}}]\n",
         .fields = &random_crop_fields(),
         .shape = randomly_cropped_shape},
        {.name = "random_resized_crop",
         .doc = "Takes a part of random area and aspect ratio and brings it to the size "
                "(torchvision's RandomResizedCrop). Evaluation sees samples as they are, with "
                "`size` the largest middle part of its shape, brought to it.",
         .example = "kind: dataset\ntype: synthetic\nshape: [3, 256, 256]\nclasses: 10\n"
                    "transforms: [{centre_crop: {size: 224}}]\n"
                    "augmentations: [{random_resized_crop: {area: [0.35, 1]}}]\n",
         .fields = &random_resized_crop_fields(),
         .check = check_random_resized_crop,
         .shape = sized_shape},
        {.name = "rotation",
         .doc = "Turns the sample about its centre, by bilinear interpolation.",
         .example = "kind: dataset\ntype: digits\naugmentations: [{rotation: {degrees: 10}}]\n",
         .fields = &rotation_fields()},
        {.name = "brightness",
         .doc = "Multiplies all pixels by a factor; what passes 1 is 1.",
         .example = "kind: dataset\ntype: digits\naugmentations: [{brightness: {amount: 0.2}}]\n",
         .fields = &colour_fields()},
        {.name = "contrast",
         .doc = "Multiplies the distance of all pixels from the sample's mean in gray by a factor; "
                "values stay between 0 and 1.",
         .example = "kind: dataset\ntype: digits\naugmentations: [{contrast: {amount: 0.2}}]\n",
         .fields = &colour_fields(),
         .shape = contrasted_shape},
        {.name = "saturation",
         .doc = "Multiplies the distance of all pixels from their gray by a factor; values stay "
                "between 0 and 1. Samples have 3 channels.",
         .example = "kind: dataset\ntype: synthetic\nshape: [3, 32, 32]\nclasses: 10\n"
                    "augmentations: [{saturation: {amount: 0.2}}]\n",
         .fields = &colour_fields(),
         .shape = saturated_shape},
        {.name = "cutout",
         .doc = "Covers a rectangle whose centre is any pixel of the sample (DeVries and Taylor, "
                "2017).",
         .example = "kind: dataset\ntype: synthetic\nshape: [3, 32, 32]\nclasses: 10\n"
                    "augmentations: [{cutout: {size: 8}}]\n",
         .fields = &cutout_fields()},
        {.name = "mixup",
         .doc = "Mixes neighbours of the epoch's order and their labels two by two, in a "
                "proportion drawn for the pair (Zhang et al., 2018): the loss sees rows of "
                "numbers in place of classes. It comes last, behind normalize.",
         .example = "kind: dataset\ntype: synthetic\nshape: [3, 32, 32]\nclasses: 10\n"
                    "augmentations: [{mixup: {alpha: 0.2}}]\n",
         .fields = &mixup_fields()},
    };
}

}  // namespace

const ComponentSet& transforms() {
    static const ComponentSet set = {"transform", "transforms", "a transform", transform_members()};
    return set;
}

const ComponentSet& augmentations() {
    static const ComponentSet set = {"augmentation", "augmentations", "an augmentation",
                                     augmentation_members()};
    return set;
}

}  // namespace dtnn::compiler
