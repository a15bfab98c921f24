// The types of datasets with the fields of each; what all of them have: dataset_common_table.cpp.
//
// `train_samples`, `test_samples`, `shape` and `classes` have places of their own in a plan; other
// fields of a type are handed on as attributes of its dataset.

#include <array>

#include "compiler/frontend/tables/components.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {
namespace {

Field count(std::string_view name, std::int64_t fallback, std::string_view doc) {
    return {.name = name,
            .type = FieldType::integer,
            .fallback = fallback,
            .doc = doc,
            .minimum = 1,
            .maximum = 1'000'000'000,
            .unit = "samples"};
}

constexpr std::string_view kTrainSamples = "training samples, before the validation split";
constexpr std::string_view kTestSamples = "test samples";

Field seed() {
    return {.name = "seed",
            .type = FieldType::integer,
            .fallback = std::int64_t{0},
            .doc = "seed of the made-up samples",
            .minimum = 0};
}

const FieldTable& digits_fields() {
    static const FieldTable table = {
        seed(),
        count("train_samples", 10'000, kTrainSamples),
        count("test_samples", 2'000, kTestSamples),
    };
    return table;
}

const FieldTable& mnist_fields() {
    static const FieldTable table = {
        {.name = "path",
         .type = FieldType::text,
         .doc = "the folder of the four IDX files, raw or gzip, relative to the current folder"},
        count("train_samples", 60'000, kTrainSamples),
        count("test_samples", 10'000, kTestSamples),
    };
    return table;
}

Field path(std::string_view doc) {
    return {.name = "path", .type = FieldType::text, .doc = doc};
}

/// What only the user knows, or the files say.
Field found(Field field) {
    field.fallback.reset();
    field.found = true;
    return field;
}

Field found_count(std::string_view name, std::string_view doc) {
    return found(count(name, 1, doc));
}

Field classes(std::string_view doc) {
    return {.name = "classes",
            .type = FieldType::integer,
            .doc = doc,
            .minimum = 1,
            .maximum = 1'000'000};
}

Field split_folder(std::string_view name, std::string_view doc) {
    return {.name = name, .type = FieldType::text, .doc = doc, .optional = true};
}

constexpr std::string_view kTrainFolder =
    "the folder in `path` that has the training samples, `.` for `path` itself: `train`, or, with "
    "`test_share`, `.`";
constexpr std::string_view kTestFolder =
    "the folder in `path` that has the test samples: `test`; not with `test_share`";

constexpr std::string_view kValidationFolder =
    "the folder in `path` that has samples of validation, such as `val`; without it, they are a "
    "part of the training samples (`validation_split`), or those of the test "
    "(`test_as_validation`)";
constexpr std::string_view kValidationSamples =
    "samples of validation, where they have a folder or a table of their own";

/// Where files have no split of their own.
Field test_share() {
    return {.name = "test_share",
            .type = FieldType::real,
            .doc =
                "where the files have no test samples of their own: the share of the samples that "
                "is kept for the test, by a permutation that is always the same",
            .minimum = 0,
            .maximum = 1,
            .optional = true,
            .exclusive_minimum = true,
            .exclusive_maximum = true};
}

Field image_shape() {
    return {.name = "shape",
            .type = FieldType::integer_list,
            .doc =
                "channels (1: gray, 3: colours; of arrays any number), height and width of the "
                "images as they are; "
                "height and width of zero: they differ, and a transform makes them one size",
            .minimum = 0,
            .maximum = 65536};
}

/// What reading images may take.
Field cache(std::string_view doc) {
    return {.name = "cache",
            .type = FieldType::quantity,
            .fallback = std::int64_t{256} << 20,
            .doc = doc,
            .minimum = 1 << 20,
            .maximum = 1e15,
            .unit = "bytes"};
}

constexpr std::string_view kImageCache =
    "memory for the images' names and, if all of them fit, their compressed files; others are read "
    "where they lie, which images in compressed archives cannot be";

Field most_pixels(std::int64_t fallback) {
    return {.name = "most_pixels",
            .type = FieldType::integer,
            .fallback = fallback,
            .doc =
                "height times width of the largest image, where they differ: memory for one is "
                "booked for every worker, and larger ones are refused",
            .minimum = 1,
            .maximum = 1 << 28,
            .unit = "pixels"};
}

const FieldTable& cifar10_fields() {
    static const FieldTable table = {
        path(
            "the folder of data_batch_1.bin to data_batch_5.bin and test_batch.bin, or the .tar or "
            ".tar.gz that holds them, relative to the current folder"),
        count("train_samples", 50'000, kTrainSamples),
        count("test_samples", 10'000, kTestSamples),
    };
    return table;
}

const FieldTable& cifar100_fields() {
    static const FieldTable table = {
        path("the folder of train.bin and test.bin, or the .tar or .tar.gz that holds them, "
             "relative to the current folder"),
        {.name = "level",
         .type = FieldType::choice,
         .fallback = std::string("fine"),
         .doc = "which of a sample's two labels is its class: one of 100, or one of 20 that take "
                "five of these together",
         .choices = {"fine", "coarse"}},
        count("train_samples", 50'000, kTrainSamples),
        count("test_samples", 10'000, kTestSamples),
    };
    return table;
}

const FieldTable& folder_fields() {
    static const FieldTable table = {
        path("the folder of train/CLASS/IMAGE and test/CLASS/IMAGE, or of CLASS/IMAGE (JPEG or "
             "PNG), relative to the current folder"),
        split_folder("train_folder", kTrainFolder),
        split_folder("test_folder", kTestFolder),
        split_folder("validation_folder", kValidationFolder),
        test_share(),
        found(image_shape()),
        found(classes("the number of classes: of folders of the training samples")),
        found_count("train_samples", kTrainSamples),
        found_count("test_samples", kTestSamples),
        found_count("validation_samples", kValidationSamples),
        cache(kImageCache),
        most_pixels(4 << 20),
    };
    return table;
}

constexpr std::array<std::string_view, 3> kLabelKinds = {"classes", "multiple", "values"};

Field label_kind(std::string_view doc) {
    return {.name = "label_kind",
            .type = FieldType::choice,
            .fallback = std::string("classes"),
            .doc = doc,
            .choices = {kLabelKinds.begin(), kLabelKinds.end()}};
}

/// What has a class.
Field labels(std::string_view doc) {
    return {.name = "labels",
            .type = FieldType::choice,
            .fallback = std::string("sample"),
            .doc = doc,
            .choices = {"sample", "pixel"}};
}

/// Pixels that do not count.
Field ignored_value(std::int64_t least, std::int64_t most) {
    return {.name = "ignored_value",
            .type = FieldType::integer,
            .doc =
                "the number of pixels that belong to no class, such as 255: they count neither "
                "in the loss nor in metrics, and what an augmentation fills in is one of them",
            .minimum = double(least),
            .maximum = double(most),
            .optional = true};
}

const FieldTable& segmentation_fields() {
    static const FieldTable table = {
        path("the folder of train/images, train/masks, test/images and test/masks, or of images "
             "and masks, relative to the current folder"),
        split_folder("train_folder", kTrainFolder),
        split_folder("test_folder", kTestFolder),
        split_folder("validation_folder", kValidationFolder),
        test_share(),
        {.name = "image_folder",
         .type = FieldType::text,
         .fallback = std::string("images"),
         .doc = "the folder of a split that has the images (JPEG or PNG)"},
        {.name = "mask_folder",
         .type = FieldType::text,
         .fallback = std::string("masks"),
         .doc = "the folder of a split that has the masks: a PNG of the name and the size of every "
                "image, gray or with a palette, whose numbers are classes"},
        found(image_shape()),
        found(classes("the number of classes that pixels may be of")),
        {.name = "mask_values",
         .type = FieldType::integer_list,
         .doc = "the numbers that masks have, in the order of the classes, such as [0, 255]; "
                "without, a number is its class",
         .minimum = 0,
         .maximum = 255,
         .optional = true},
        ignored_value(0, 255),
        found_count("train_samples", kTrainSamples),
        found_count("test_samples", kTestSamples),
        found_count("validation_samples", kValidationSamples),
        cache(kImageCache),
        most_pixels(4 << 20),
    };
    return table;
}

const FieldTable& archive_fields() {
    static const FieldTable table = {
        path("a tar, tar.gz or zip of train/CLASS/IMAGE and test/CLASS/IMAGE, or an .npz of the "
             "arrays x_train, y_train, x_test and y_test, relative to the current folder"),
        {.name = "validation_name",
         .type = FieldType::text,
         .doc = "what the samples of validation are called, such as `val`: of an .npz the arrays "
                "x_val and y_val, of images val/CLASS/IMAGE",
         .optional = true},
        test_share(),
        found(image_shape()),
        found(classes("the number of classes, or of numbers in a row of y_train")),
        labels("npz: what has a class: every sample, or every pixel of it (segmentation), where "
               "y_train is [N, height, width]"),
        ignored_value(-1'000'000, 1'000'000),
        label_kind("npz: what y_train holds: a class for every sample, a row of zeros and ones for "
                   "every sample, or a row of real numbers"),
        found_count("train_samples", kTrainSamples),
        found_count("test_samples", kTestSamples),
        found_count("validation_samples", kValidationSamples),
        cache(kImageCache),
        most_pixels(4 << 20),
    };
    return table;
}

const FieldTable& imagenet_fields() {
    static const FieldTable table = [] {
        FieldTable fields = {
            path("a folder of train/SYNSET/IMAGE and val/SYNSET/IMAGE, or of "
                 "ILSVRC2012_img_train.tar, ILSVRC2012_img_val.tar and "
                 "ILSVRC2012_devkit_t12.tar.gz, or of train/*.npz and val/*.npz"),
            image_shape(),
            classes("the number of synsets"),
            count("train_samples", 1'281'167, kTrainSamples),
            count("test_samples", 50'000, "test samples: what ImageNet calls its validation"),
            cache(kImageCache),
            most_pixels(32 << 20),
        };
        fields[1].fallback = Dims{3, 0, 0};
        fields[2].fallback = std::int64_t{1000};
        return fields;
    }();
    return table;
}

const FieldTable& chestxray_fields() {
    static const FieldTable table = [] {
        FieldTable fields = {
            path("the folder of Data_Entry_2017_v2020.csv, train_val_list.txt, test_list.txt and "
                 "the images, in folders or tar files whose names begin with `images`"),
            image_shape(),
            count("train_samples", 86'524, kTrainSamples),
            count("test_samples", 25'596, kTestSamples),
            cache(kImageCache),
            most_pixels(4 << 20),
        };
        fields[1].fallback = Dims{1, 1024, 1024};
        return fields;
    }();
    return table;
}

const FieldTable& csv_fields() {
    static const FieldTable table = {
        path("the table of the training samples, a line for each, relative to the current folder"),
        {.name = "test_path",
         .type = FieldType::text,
         .doc = "the table of the test samples, in the same form; this or `test_share`",
         .optional = true},
        {.name = "validation_path",
         .type = FieldType::text,
         .doc = "a table of samples of validation, in the same form",
         .optional = true},
        test_share(),
        found({.name = "shape",
               .type = FieldType::integer_list,
               .doc = "channels, height and width that the features of a line make, row by row; "
                      "[features, 1, 1] for none",
               .minimum = 1,
               .maximum = 65536}),
        found(classes("the number of classes, or of label columns")),
        label_kind("what the label columns hold: one class (a number from 0, or a name), zeros and "
                   "ones, or real numbers"),
        {.name = "label_columns",
         .type = FieldType::integer_list,
         .fallback = Dims{-1},
         .doc = "the columns that are labels, counted from 1, or from the end by -1, -2 and so on; "
                "all others are features",
         .minimum = -100'000,
         .maximum = 100'000},
        {.name = "label_names",
         .type = FieldType::text_list,
         .doc = "the columns that are labels by their names in the header, in place of "
                "`label_columns`",
         .optional = true},
        {.name = "ignored_columns",
         .type = FieldType::integer_list,
         .doc = "columns that are neither labels nor features, such as a sample's number, counted "
                "as those of labels",
         .minimum = -100'000,
         .maximum = 100'000,
         .optional = true},
        {.name = "ignored_names",
         .type = FieldType::text_list,
         .doc = "such columns by their names in the header, in place of `ignored_columns`",
         .optional = true},
        {.name = "header",
         .type = FieldType::boolean,
         .fallback = true,
         .doc = "whether the first line has the columns' names"},
        {.name = "separator",
         .type = FieldType::choice,
         .fallback = std::string("comma"),
         .doc = "what stands between columns",
         .choices = {"comma", "semicolon", "tab"}},
        {.name = "decimal",
         .type = FieldType::choice,
         .fallback = std::string("point"),
         .doc = "what stands before a number's fraction: 1.5 or 1,5",
         .choices = {"point", "comma"}},
        found_count("train_samples", kTrainSamples),
        found_count("test_samples", kTestSamples),
        found_count("validation_samples", kValidationSamples),
        cache("memory for the tables, 32 bits a feature and 64 a label"),
    };
    return table;
}

const FieldTable& synthetic_fields() {
    static const FieldTable table = {
        {.name = "shape",
         .type = FieldType::integer_list,
         .doc = "channels, height and width of a sample",
         .minimum = 1,
         .maximum = 65536},
        {.name = "classes",
         .type = FieldType::integer,
         .doc = "the number of classes",
         .minimum = 2,
         .maximum = 1'000'000},
        labels("what has a class: every sample, or every pixel of it (segmentation)"),
        seed(),
        count("train_samples", 10'000, kTrainSamples),
        count("test_samples", 2'000, kTestSamples),
    };
    return table;
}

/// A type whose samples are pixels between 0 and 1.
ComponentInfo of_pixels(ComponentInfo type) {
    type.pixels = true;
    return type;
}

}  // namespace

const ComponentSet& dataset_types() {
    static const ComponentSet set = {
        "dataset",
        "types of datasets",
        "a type of dataset",
        {{"digits",
          "Images of the ten digits, 1x28x28, drawn by the program itself from a seed: nothing is "
          "read or downloaded.",
          "kind: dataset\ntype: digits\ntrain_samples: 5000\ntest_samples: 1000\n",
          &digits_fields()},
         of_pixels(
             {"mnist",
              "The four IDX files of MNIST, or of a dataset in its form, raw or gzip: 1x28x28, ten "
              "classes.",
              "kind: dataset\ntype: mnist\npath: data/mnist\n", &mnist_fields()}),
         of_pixels({"cifar10",
                    "CIFAR-10 in its binary version, kept in memory: 3x32x32, ten classes. (A. "
                    "Krizhevsky, "
                    "\"Learning Multiple Layers of Features from Tiny Images\")",
                    "kind: dataset\ntype: cifar10\npath: data/cifar-10-binary.tar.gz\n",
                    &cifar10_fields()}),
         of_pixels({"cifar100",
                    "CIFAR-100 in its binary version, kept in memory: 3x32x32, 100 classes or 20.",
                    "kind: dataset\ntype: cifar100\npath: data/cifar-100-binary.tar.gz\n",
                    &cifar100_fields()}),
         of_pixels(
             {"folder",
              "Images in folders, one for each class: train/CLASS/IMAGE and test/CLASS/IMAGE, or "
              "CLASS/IMAGE with `test_share`. JPEG and PNG, told by their content; gray images "
              "become "
              "colours or the reverse, as `shape` asks; transparency is ignored, JPEGs are turned "
              "as "
              "their EXIF says.",
              "kind: dataset\ntype: folder\npath: data/flowers\nshape: [3, 64, 64]\nclasses: 5\n"
              "train_samples: 3000\ntest_samples: 670\n",
              &folder_fields()}),
         of_pixels({"segmentation",
                    "Images, and for each of them a mask: a PNG whose pixels are the classes of "
                    "the image's, "
                    "by index of a palette or by gray value. Transforms and augmentations move "
                    "both alike; "
                    "what they fill in is of class 0.",
                    "kind: dataset\ntype: segmentation\npath: data/leaves\nshape: [3, 64, "
                    "64]\nclasses: 2\n"
                    "mask_values: [0, 255]\ntrain_samples: 300\ntest_samples: 70\n",
                    &segmentation_fields()}),
         {"archive",
          "A tar, tar.gz or zip of images arranged as `folder` has them, or an .npz of arrays "
          "x_train, y_train, x_test, y_test, samples as [N, channels, height, width]: bytes are "
          "divided by 255, other numbers taken as they are. Nothing is unpacked to a disk.",
          "kind: dataset\ntype: archive\npath: data/flowers.tar.gz\nshape: [3, 64, 64]\n"
          "classes: 5\ntrain_samples: 3000\ntest_samples: 670\n",
          &archive_fields()},
         of_pixels(
             {"imagenet",
              "ImageNet (ILSVRC2012): class folders, the original tar files, or PyDTNN's npz "
              "shards. "
              "Classes are numbered in the order of their synsets' names. (O. Russakovsky et al., "
              "\"ImageNet Large Scale Visual Recognition Challenge\")",
              "kind: dataset\ntype: imagenet\npath: data/imagenet\nshape: [3, 224, 224]\n",
              &imagenet_fields()}),
         of_pixels(
             {"chestxray",
              "NIH Chest X-ray: images with any of 15 findings, \"No Finding\" among them, in the "
              "order "
              "of their names. (X. Wang et al., \"ChestX-ray8\")",
              "kind: dataset\ntype: chestxray\npath: data/chestxray\n", &chestxray_fields()}),
         {"csv",
          "Tables of numbers: a line is a sample, some columns are its label. Holes, texts among "
          "numbers and what is not finite are errors.",
          "kind: dataset\ntype: csv\npath: data/iris_train.csv\ntest_path: data/iris_test.csv\n"
          "shape: [4, 1, 1]\nclasses: 3\ntrain_samples: 120\ntest_samples: 30\n",
          &csv_fields()},
         {"synthetic",
          "Random samples of any shape, with classes for samples or for pixels: to measure speed "
          "and to try models without data.",
          "kind: dataset\ntype: synthetic\nshape: [3, 224, 224]\nclasses: 1000\n",
          &synthetic_fields()}}};
    return set;
}

}  // namespace dtnn::compiler
