#pragma once
/// The arrangements of images that datasets come in. Each opens what is at `path`, and throws a
/// RunError that names file, fact and remedy when it is not what it should be.

#include <memory>
#include <string>

#include "runtime/data/sources/class_folders.hpp"
#include "runtime/data/sources/image_index.hpp"

namespace dtnn::runtime {

/// The folders of a dataset's splits, below its path: "." is the path itself. No test: the images
/// have no split of their own.
struct ImageFolders {
    std::string train = "train";
    std::string test = "test";
    std::string validation = {};  ///< listed, or passed over, with the others; opened by itself
};

/// The type `folder`: PATH/TRAIN/CLASS/IMAGE and PATH/TEST/CLASS/IMAGE. Class folders hold images
/// and nothing else: names that begin with a dot are passed over, a README and the like
/// (image_names.hpp) with a note, and any other file is an error. Links are followed.
/// `folders`: what list_image_folder has found there, on this rank or another.
std::unique_ptr<SampleSource> open_image_folder(const std::string& path, const ImageFolders& names,
                                                ImageIndex::Expected expected,
                                                const SplitFolders& folders);
SplitFolders list_image_folder(const std::string& path, const ImageFolders& names);

/// The type `archive`, of images: a tar, tar.gz or zip with members [FOLDER/]train/CLASS/IMAGE and
/// test/CLASS/IMAGE, or other names in their place. Members outside these folders are passed over;
/// those inside are taken as files of folders are.
std::unique_ptr<SampleSource> open_image_archive(const std::string& path, const ImageFolders& names,
                                                 ImageIndex::Expected expected);

/// Adds SPLIT_FOLDER/CLASS/IMAGE of the index's folder of this number.
void add_class_folders(ImageIndex& index, int folder, const std::string& split_folder, Split split,
                       const ClassFolders& content);

/// The type `imagenet`, found by what the folder holds:
///   train/SYNSET/IMAGE and val/SYNSET/IMAGE;
///   ILSVRC2012_img_train.tar (a tar of a tar for each synset), ILSVRC2012_img_val.tar and
///   ILSVRC2012_devkit_t12.tar.gz, with or without the prefix `ILSVRC2012_`.
/// Classes are in the order of their synsets' names (n01440764 is 0). (O. Russakovsky et al.,
/// "ImageNet Large Scale Visual Recognition Challenge")
/// `folders`: what list_imagenet has found there, on this rank or another; empty of the other form.
std::unique_ptr<SampleSource> open_imagenet(const std::string& path, ImageIndex::Expected expected,
                                            const SplitFolders& folders);
SplitFolders list_imagenet(const std::string& path);

/// The type `chestxray`: Data_Entry_2017_v2020.csv (or Data_Entry_2017.csv), train_val_list.txt and
/// test_list.txt, and the images in folders images*/ or images*/images/, or in images*.tar or
/// images*.tar.gz. A bit of the label for each finding, in the order of their names. (X. Wang et
/// al., "ChestX-ray8")
std::unique_ptr<SampleSource> open_chestxray(const std::string& path,
                                             ImageIndex::Expected expected);

}  // namespace dtnn::runtime
