#pragma once
/// Data of which nobody has said yet what it is: the files say it.

#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/data/sources/table_columns.hpp"

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
    /// Fields that are lists of texts.
    std::vector<std::pair<std::string, std::vector<std::string>>> texts = {};
};

/// What the user says of a table's columns.
struct KnownColumns {
    ColumnWish labels;
    ColumnWish others;       ///< left out, or categories
    std::string label_kind;  ///< empty: not said
    bool missing = false;    ///< what becomes of holes is said
};

/// Knows the forms of every type of dataset that reads files. RunError for what is none of them,
/// which lists them.
RecognisedData recognise_data(const std::string& path, const KnownColumns& known = {});

}  // namespace dtnn::runtime
