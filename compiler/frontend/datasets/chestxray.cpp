#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& chestxray_fields() {
    using namespace dataset_fields;
    static const FieldTable table = [] {
        FieldTable fields = {
            path("the folder of Data_Entry_2017_v2020.csv, train_val_list.txt, test_list.txt and "
                 "the images, in folders or tar files whose names begin with `images`"),
            image_shape(),
            train_samples(86'524),
            test_samples(25'596),
            cache(kImageCache),
            most_pixels(4 << 20),
        };
        fields[1].fallback = Dims{1, 1024, 1024};
        return fields;
    }();
    return table;
}

/// The findings are the dataset's own.
void settle_chestxray(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    settle_image_shape(fields, spec, diagnostics);
    spec.dataset.target().classes = plan::find_dataset_type(spec.dataset.type)->classes;
    check_paths(fields, spec, kFileOrFolder, diagnostics);
}

}  // namespace

ComponentInfo chestxray_type() {
    return {.name = "chestxray",
            .doc =
                "NIH Chest X-ray: images with any of 15 findings, \"No Finding\" among them, in "
                "the order of their names. (X. Wang et al., \"ChestX-ray8\")",
            .example = "kind: dataset\ntype: chestxray\npath: data/chestxray\n",
            .fields = &chestxray_fields(),
            .pixels = true,
            .settle = settle_chestxray};
}

}  // namespace dtnn::compiler
