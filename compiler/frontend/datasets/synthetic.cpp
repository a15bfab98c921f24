#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"
#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& synthetic_fields() {
    using namespace dataset_fields;
    static const FieldTable table = {
        number_field(FieldType::integer_list, "shape", kMustBeGiven, between(1, 65536),
                     "channels, height and width of a sample", mathematics(kOtherShape)),
        integer_field("classes", kMustBeGiven, between(2, 1'000'000), "the number of classes",
                      mathematics(kToldApart)),
        labels("what has a class: every sample, or every pixel or step of it"),
        seed(),
        train_samples(10'000),
        test_samples(2'000),
    };
    return table;
}

void settle_synthetic(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    settle_shape(fields, spec, diagnostics);
    spec.dataset.target().classes = fields.integer("classes");
}

}  // namespace

ComponentInfo synthetic_type() {
    return {.name = "synthetic",
            .doc =
                "Random samples of any shape, with classes for samples or for pixels: to measure "
                "speed and to try models without data.",
            .example = "kind: dataset\ntype: synthetic\nshape: [3, 224, 224]\nclasses: 1000\n",
            .fields = &synthetic_fields(),
            .settle = settle_synthetic};
}

}  // namespace dtnn::compiler
