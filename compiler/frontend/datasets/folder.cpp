#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& folder_fields() {
    using namespace dataset_fields;
    static const FieldTable table = {
        path("the folder of train/CLASS/IMAGE and test/CLASS/IMAGE, or of CLASS/IMAGE (JPEG or "
             "PNG), relative to the current folder"),
        train_folder(),
        test_folder(),
        validation_folder(),
        test_share(),
        found(image_shape()),
        found(classes("the number of classes: of folders of the training samples")),
        found_train_samples(),
        found_test_samples(),
        found_validation_samples(),
        cache(kImageCache),
        most_pixels(4 << 20),
    };
    return table;
}

}  // namespace

ComponentInfo folder_type() {
    return {.name = "folder",
            .doc =
                "Images in folders, one for each class: train/CLASS/IMAGE and test/CLASS/IMAGE, or "
                "CLASS/IMAGE with `test_share`. JPEG and PNG, told by their content; gray images "
                "become colours or the reverse, as `shape` asks; transparency is ignored, JPEGs "
                "are turned as their EXIF says.",
            .example =
                "kind: dataset\ntype: folder\npath: data/flowers\nshape: [3, 64, 64]\nclasses: 5\n"
                "train_samples: 3000\ntest_samples: 670\n",
            .fields = &folder_fields(),
            .pixels = true,
            .settle = settle_images};
}

}  // namespace dtnn::compiler
