#pragma once
/// Datasets that are broken in one place each, and what must be said of them.

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/run_error.hpp"
#include "tests/data/dataset_files.hpp"
#include "tests/unit/runtime/image_files.hpp"

namespace dtnn::runtime {

struct BadCase {
    std::string title;
    std::function<DatasetFiles()> sound;
    std::function<void(DatasetFiles&)> spoil;
    const char* file;  ///< the message names it
    const char* fact;
    Exit exit = Exit::failed;
    /// Spoils what is not the content of a file.
    std::function<void(const TemporaryFolder&)> spoil_folder = nullptr;
};

const std::vector<BadCase>& bad_cases();

/// Each is sound before it is spoiled, and then refused with file, fact and remedy, in time.
void check_refused(const std::vector<BadCase>& cases);

}  // namespace dtnn::runtime
