#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& digits_fields() {
    using namespace dataset_fields;
    static const FieldTable table = {
        seed(),
        train_samples(10'000),
        test_samples(2'000),
    };
    return table;
}

/// What the program draws has one form.
void settle_digits(const FieldValues&, DatasetSpec& spec, Diagnostics&) {
    settle_known_form(spec);
}

}  // namespace

ComponentInfo digits_type() {
    return {.name = "digits",
            .doc =
                "Images of the ten digits, 1x28x28, drawn by the program itself from a seed: "
                "nothing is read or downloaded.",
            .example = "kind: dataset\ntype: digits\ntrain_samples: 5000\ntest_samples: 1000\n",
            .fields = &digits_fields(),
            .pixels = true,
            .settle = settle_digits};
}

}  // namespace dtnn::compiler
