// Transforms, which every sample goes through, and augmentations, which training samples go through
// besides. Each says what becomes of a sample's shape.

#include <fmt/format.h>

#include "compiler/frontend/components.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& no_fields() {
    static const FieldTable table;
    return table;
}

const FieldTable& normalize_fields() {
    static const FieldTable table = {
        {.name = "mean",
         .type = FieldType::real_list,
         .doc = "what is taken off every channel; one number is for all"},
        {.name = "deviation",
         .type = FieldType::real_list,
         .doc = "what every channel is divided by then; one number is for all",
         .minimum = 0,
         .exclusive_minimum = true},
    };
    return table;
}

bool normalized_shape(const ReadComponent& read, plan::Dims& shape, Diagnostics& diagnostics) {
    bool sound = true;
    for (const char* field : {"mean", "deviation"}) {
        const auto& list = std::get<std::vector<double>>(read.component.attributes.at(field));
        const auto count = static_cast<std::int64_t>(list.size());
        if (count == 1 || count == shape[0]) continue;
        sound = false;
        diagnostics.error(Code::wrong_type, read.span_of(field),
                          fmt::format("`{}` of normalize has {} numbers; samples have {} channels",
                                      field, count, shape[0]));
    }
    return sound;
}

}  // namespace

const ComponentSet& transforms() {
    static const ComponentSet set = {
        "transform",
        "transforms",
        "a transform",
        {{.name = "normalize",
          .doc = "(value - mean) / deviation, channel by channel, of values between 0 and 1. It "
                 "comes behind all other transforms and the augmentations, wherever it stands in "
                 "the list.",
          .example = "kind: dataset\ntype: digits\ntransforms: [{normalize: {mean: [0.13], "
                     "deviation: [0.31]}}]\n",
          .fields = &normalize_fields(),
          .shape = normalized_shape}}};
    return set;
}

const ComponentSet& augmentations() {
    static const ComponentSet set = {
        "augmentation",
        "augmentations",
        "an augmentation",
        {{"flip", "Every other sample, drawn anew for each epoch, is mirrored left to right.",
          "kind: dataset\ntype: synthetic\nshape: [3, 32, 32]\nclasses: 10\n"
          "augmentations: [flip]\n",
          &no_fields()}}};
    return set;
}

}  // namespace dtnn::compiler
