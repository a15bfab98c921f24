#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& imagenet_fields() {
    using namespace dataset_fields;
    static const FieldTable table = [] {
        FieldTable fields = {
            path("a folder of train/SYNSET/IMAGE and val/SYNSET/IMAGE, or of "
                 "ILSVRC2012_img_train.tar, ILSVRC2012_img_val.tar and "
                 "ILSVRC2012_devkit_t12.tar.gz, or of train/*.npz and val/*.npz"),
            image_shape(),
            classes("the number of synsets"),
            train_samples(1'281'167),
            test_samples(50'000, "test samples: what ImageNet calls its validation"),
            cache(kImageCache),
            most_pixels(32 << 20),
        };
        fields[1].fallback = Dims{3, 0, 0};
        fields[2].fallback = std::int64_t{1000};
        return fields;
    }();
    return table;
}

}  // namespace

ComponentInfo imagenet_type() {
    return {.name = "imagenet",
            .doc =
                "ImageNet (ILSVRC2012): class folders, the original tar files, or PyDTNN's npz "
                "shards. Classes are numbered in the order of their synsets' names. (O. "
                "Russakovsky et al., \"ImageNet Large Scale Visual Recognition Challenge\")",
            .example = "kind: dataset\ntype: imagenet\npath: data/imagenet\nshape: [3, 224, 224]\n",
            .fields = &imagenet_fields(),
            .pixels = true,
            .settle = settle_images,
            .usual_side = 224};
}

}  // namespace dtnn::compiler
