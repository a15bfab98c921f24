#pragma once
/// The file of the history of tuning that compilations choose kernels by.

#include <optional>
#include <string>

#include "compiler/tuning/tuning_history.hpp"

namespace dtnn::compiler {

/// `path` may be empty: none.
struct TuningFile {
    std::string path;
    bool named = false;  ///< by the user, so that it must be one
};
/// The file that the environment names, $DTNN_TUNING, else tuning.json in the cache folder
/// (base/cache_folder.hpp).
TuningFile usual_tuning_file();

/// The history of the file; nothing where there is no such file, if it need not exist. What is no
/// history is a mistake.
struct FoundTuning {
    std::optional<TuningHistory> history;
    std::string mistake;  ///< a fact; empty: none
};
FoundTuning find_tuning(const std::string& path, bool must_exist = false);

}  // namespace dtnn::compiler
