#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"
#include "compiler/support/field_rows.hpp"
#include "plan/dataset_choices.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& cifar10_fields() {
    using namespace dataset_fields;
    static const FieldTable table = {
        path("the folder of data_batch_1.bin to data_batch_5.bin and test_batch.bin, or the .tar "
             "or .tar.gz that holds them, relative to the current folder"),
        train_samples(50'000),
        test_samples(10'000),
    };
    return table;
}

const FieldTable& cifar100_fields() {
    using namespace dataset_fields;
    static const FieldTable table = {
        path("the folder of train.bin and test.bin, or the .tar or .tar.gz that holds them, "
             "relative to the current folder"),
        choice_field("level", "fine", words_of<plan::LabelLevel>(),
                     "which of a sample's two labels is its class: one of 100, or one of 20 that "
                     "take five of these together",
                     mathematics(kToldApart)),
        train_samples(50'000),
        test_samples(10'000),
    };
    return table;
}

void settle_cifar10(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    settle_known_form(spec);
    check_most(fields, spec, {.train = 50'000, .test = 10'000}, diagnostics);
    check_paths(fields, spec, kFileOrFolder, diagnostics);
}

void settle_cifar100(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    settle_cifar10(fields, spec, diagnostics);
    if (fields.says("level", plan::LabelLevel::coarse)) spec.dataset.target().classes = 20;
}

}  // namespace

ComponentInfo cifar10_type() {
    return {.name = "cifar10",
            .doc =
                "CIFAR-10 in its binary version, kept in memory: 3x32x32, ten classes. (A. "
                "Krizhevsky, \"Learning Multiple Layers of Features from Tiny Images\")",
            .example = "kind: dataset\ntype: cifar10\npath: data/cifar-10-binary.tar.gz\n",
            .fields = &cifar10_fields(),
            .pixels = true,
            .settle = settle_cifar10};
}

ComponentInfo cifar100_type() {
    return {.name = "cifar100",
            .doc = "CIFAR-100 in its binary version, kept in memory: 3x32x32, 100 classes or 20.",
            .example = "kind: dataset\ntype: cifar100\npath: data/cifar-100-binary.tar.gz\n",
            .fields = &cifar100_fields(),
            .pixels = true,
            .settle = settle_cifar100};
}

}  // namespace dtnn::compiler
