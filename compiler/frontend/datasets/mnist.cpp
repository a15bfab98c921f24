#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"
#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& mnist_fields() {
    using namespace dataset_fields;
    static const FieldTable table = {
        text_field("path", kMustBeGiven,
                   "the folder of the four IDX files, raw or gzip, relative to the current folder",
                   unread(kOtherFiles)),
        train_samples(60'000),
        test_samples(10'000),
    };
    return table;
}

void settle_mnist(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    settle_known_form(spec);
    check_most(fields, spec, {.train = 60'000, .test = 10'000}, diagnostics);
    check_paths(fields, spec, "a folder", diagnostics);
}

}  // namespace

ComponentInfo mnist_type() {
    return {.name = "mnist",
            .doc =
                "The four IDX files of MNIST, or of a dataset in its form, raw or gzip: 1x28x28, "
                "ten classes.",
            .example = "kind: dataset\ntype: mnist\npath: data/mnist\n",
            .fields = &mnist_fields(),
            .pixels = true,
            .settle = settle_mnist};
}

}  // namespace dtnn::compiler
