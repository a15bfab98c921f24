#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"
#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& archive_fields() {
    using namespace dataset_fields;
    static const FieldTable table = {
        path("a tar, tar.gz or zip of train/CLASS/IMAGE and test/CLASS/IMAGE, or an .npz of the "
             "arrays x_train, y_train, x_test and y_test, relative to the current folder"),
        text_field("validation_name", kMayBeAbsent,
                   "what the samples of validation are called, such as `val`: of an .npz the "
                   "arrays x_val and y_val, of images val/CLASS/IMAGE",
                   mathematics(kWatched)),
        test_share(),
        found(image_shape()),
        found(classes("the number of classes, or of numbers in a row of y_train")),
        labels("npz: what has a class: every sample, or every pixel or step of it, where "
               "y_train is [N, height, width]; sequence: a sample has a row of labels of its own "
               "number, which are not of its steps (loss ctc)",
               true),
        most_labels(),
        ignored_value(-1'000'000, 1'000'000),
        lengths(),
        label_kind("npz: what y_train holds: a class for every sample, a row of zeros and ones for "
                   "every sample, or a row of real numbers"),
        target_scaling(),
        target_mean(),
        target_deviation(),
        found_train_samples(),
        found_test_samples(),
        found_validation_samples(),
        cache(kImageCache),
        most_pixels(4 << 20),
    };
    return table;
}

void settle_archive(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    settle_images(fields, spec, diagnostics);
    check_pixel_labels(fields, spec, diagnostics);
    check_label_sequences(fields, spec, diagnostics);
    check_ignored_value(fields, spec, diagnostics);
    check_lengths(fields, spec, diagnostics);
    settle_target_scaling(fields, spec, diagnostics);
}

}  // namespace

ComponentInfo archive_type() {
    return {
        .name = "archive",
        .doc =
            "A tar, tar.gz or zip of images arranged as `folder` has them, or an .npz of arrays "
            "x_train, y_train, x_test, y_test, samples as [N, channels, height, width]: bytes are "
            "divided by 255, other numbers taken as they are. Nothing is unpacked to a disk.",
        .example =
            "kind: dataset\ntype: archive\npath: data/flowers.tar.gz\nshape: [3, 64, 64]\n"
            "classes: 5\ntrain_samples: 3000\ntest_samples: 670\n",
        .fields = &archive_fields(),
        .settle = settle_archive};
}

}  // namespace dtnn::compiler
