#pragma once
/// Which field of a spec changes what is trained, and which only how fast. One table; `dtnnc diff`
/// reads it.

#include <string>
#include <string_view>

#include "plan/diff.hpp"

namespace dtnn::plan {

struct FieldMeaning {
    Meaning meaning;
    std::string_view reason;
};

/// Of a resolved value's path ("training.batch_size"). The longest entry that is the path, or a
/// prefix of it that ends at a dot, counts; a path that no entry covers is taken to change the
/// mathematics, which is the safe side.
FieldMeaning meaning_of(std::string_view path);

}  // namespace dtnn::plan
