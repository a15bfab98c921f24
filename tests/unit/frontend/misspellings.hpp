#pragma once
/// Misspellings as people make them, of the names that specs are written with.

#include <string>
#include <vector>

namespace dtnn::compiler {

using Words = std::vector<std::string>;

struct Misspelling {
    const char* wrong;
    const char* right;
};

/// Misspellings of one closed set.
struct MisspelledSet {
    const char* name;
    Words words;
    std::vector<Misspelling> cases;
};

std::vector<MisspelledSet> misspelled_sets();

}  // namespace dtnn::compiler
