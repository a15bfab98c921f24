#pragma once
/// Data of which nobody has said yet what it is: the files say it.

#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::runtime {

/// Fills in what a dataset of a known type does not say: counts and classes of 0, an empty stored
/// shape, and no names of classes. What is wrong with the files is a RunError.
void find_in_files(plan::Dataset& dataset);

/// The content of a folder or a file: the type of dataset, and the fields of its spec that say how
/// it is arranged, in their order. Counts, classes and shapes are not among them: find_in_files.
struct RecognisedData {
    std::string type;
    std::vector<std::pair<std::string, AttributeValue>> fields;
    bool images = false;                    ///< JPEG and PNG, which may have several sizes
    std::vector<std::string> remarks = {};  ///< what was guessed, for people
};

/// Knows the forms of every type of dataset that reads files. RunError for what is none of them,
/// which lists them.
RecognisedData recognise_data(const std::string& path);

}  // namespace dtnn::runtime
