#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"
#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& segmentation_fields() {
    using namespace dataset_fields;
    static const FieldTable table = {
        path("the folder of train/images, train/masks, test/images and test/masks, or of images "
             "and masks, relative to the current folder"),
        train_folder(),
        test_folder(),
        validation_folder(),
        test_share(),
        text_field("image_folder", "images",
                   "the folder of a split that has the images (JPEG or PNG)",
                   mathematics("the samples are other images")),
        text_field("mask_folder", "masks",
                   "the folder of a split that has the masks: a PNG of the name and the size of "
                   "every image, gray or with a palette, whose numbers are classes",
                   mathematics("the pixels have other labels")),
        found(image_shape()),
        found(classes("the number of classes that pixels may be of")),
        number_field(FieldType::integer_list, "mask_values", kMayBeAbsent, between(0, 255),
                     "the numbers that masks have, in the order of the classes, such as [0, 255]; "
                     "without, a number is its class",
                     mathematics("the numbers of masks are other classes")),
        ignored_value(0, 255),
        found_train_samples(),
        found_test_samples(),
        found_validation_samples(),
        cache(kImageCache),
        most_pixels(4 << 20),
    };
    return table;
}

void settle_segmentation(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    settle_images(fields, spec, diagnostics);
    check_ignored_value(fields, spec, diagnostics);
    check_mask_values(fields, spec, diagnostics);
}

}  // namespace

ComponentInfo segmentation_type() {
    return {
        .name = "segmentation",
        .doc =
            "Images, and for each of them a mask: a PNG whose pixels are the classes of the "
            "image's, by index of a palette or by gray value. Transforms and augmentations move "
            "both alike; what they fill in is of class 0.",
        .example =
            "kind: dataset\ntype: segmentation\npath: data/leaves\nshape: [3, 64, 64]\nclasses: 2\n"
            "mask_values: [0, 255]\ntrain_samples: 300\ntest_samples: 70\n",
        .fields = &segmentation_fields(),
        .pixels = true,
        .settle = settle_segmentation};
}

}  // namespace dtnn::compiler
