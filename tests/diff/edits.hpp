#pragma once
/// Random single edits of a job, and what each of them is. They know nothing of how plans are
/// compared.

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "plan/diff/diff.hpp"
#include "tests/diff/edited_job.hpp"

namespace dtnn {

using plan::Action;
using plan::Meaning;

class Random {
  public:
    std::size_t below(std::size_t count) { return engine_() % count; }
    bool coin() { return below(2) == 0; }
    template <class T>
    const T& one_of(const std::vector<T>& list) {
        return list[below(list.size())];
    }

  private:
    std::mt19937 engine_{20260101};
};

// The edit in the words of a change.
struct Expected {
    std::string kind;  ///< of edit, for the counts
    std::string section;
    Action action = Action::changed;
    std::string what;   ///< empty: not checked
    int id = -1;        ///< the layer that it is about; -1: none
    std::string field;  ///< of that layer
    Meaning meaning = Meaning::mathematics;
    bool neighbours = false;  ///< the layer before or after may as well be the one that moved
};

struct Edit {
    EditedJob job;
    Expected expected;
};

using MaybeEdit = std::optional<Edit>;

/// Each may find nothing to do, or make a spec that is refused; then another is to be drawn.
MaybeEdit edit_field(EditedJob job, Random& random);
MaybeEdit insert(EditedJob job, Random& random);
MaybeEdit remove(EditedJob job, Random& random);
MaybeEdit rename(EditedJob job, Random& random);
/// Takes a layer out of a chain and puts it behind one that follows.
MaybeEdit move(EditedJob job, Random& random);
/// Another source of the same shape, where the old one is still read.
MaybeEdit retarget(EditedJob job, Random& random);
MaybeEdit edit_setting(EditedJob job, Random& random);
/// The number of settings that the last one makes edits of.
std::size_t count_setting_edits();

}  // namespace dtnn
