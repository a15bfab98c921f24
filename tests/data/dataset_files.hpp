#pragma once
/// Small sound datasets of every type, to be opened as they are or with something broken.

#include <map>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "tests/unit/runtime/archive_files.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime {

struct DatasetFiles {
    plan::Dataset dataset;  ///< as a plan has it; paths are relative to the folder
    std::map<std::string, std::string> files;
    /// The members that the file dataset.path is packed of, if it is: by the end of its name.
    Members members;

    /// Writes everything, packing members, into the folder, and makes the paths absolute.
    void write(const TemporaryFolder& folder);
    void set(const std::string& attribute, const AttributeValue& value) {
        dataset.attributes[attribute] = value;
    }
    std::string& member(const std::string& path);
};

/// A dataset of the type without its files.
DatasetFiles dataset_of_type(const std::string& type, const std::string& path, const Dims& shape,
                             std::int64_t classes, std::int64_t train, std::int64_t test);

/// Three classes of plain images, two of each for training and one for testing, 8x8.
DatasetFiles mnist_files();
DatasetFiles cifar_files();
DatasetFiles cifar100_files();
DatasetFiles folder_files();
/// `name`: "a.tar", "a.tar.gz", "a.zip".
DatasetFiles archive_files(const std::string& name);
DatasetFiles npz_files(bool deflated = false);
DatasetFiles csv_files();
/// Six samples of four characters, of two documents, and two for the test: U+00FC among them.
DatasetFiles text_files();
/// Five samples of four tokens of 16 bits, of which there are 50, and two for the test.
DatasetFiles token_files();
/// 12 lines of one sensor and 8 of another, in windows of three, of which two numbers of a column
/// are to be forecast: 2 samples to train on, 3 of validation and 3 of the test.
DatasetFiles series_files();
/// Images of 4 x 6 pixels with masks, by turns of gray numbers and with a palette.
DatasetFiles segmentation_files();
/// Arrays with a class for every pixel.
DatasetFiles pixel_files();
/// Arrays of 4 steps with a class for each, of which sample n has n % 4 + 1: others hold what
/// cannot be.
DatasetFiles length_files();
/// Arrays of 4 steps with a sequence of up to three labels for each sample, of which some have as
/// many as their steps allow; 0 is the blank.
DatasetFiles sequence_files();
DatasetFiles imagenet_files();
DatasetFiles shard_files();
DatasetFiles chestxray_files();

/// A MATLAB file with the structure `synsets`.
std::string synsets_file(const std::vector<std::string>& synsets, bool compressed);

}  // namespace dtnn::runtime
