#pragma once
/// Which tensor of a file becomes which parameter of a plan, and how.
///
/// By name: a tensor goes to the parameter of its name (parameter_names.hpp), or of the name that
/// the map gives it, also without what PyTorch's wrappers put before all names. PyTorch's counts of
/// batches go nowhere.
/// By order: of the tensors that the map leaves, the k-th of a role (weight_order.hpp) goes to the
/// k-th parameter of that role that is not taken. The order is the file's or the natural one of the
/// names, whichever fits; where both fit and differ, or the file is sorted by name and names do not
/// tell two tensors' order by a number, that is an error, and one has to be asked for.
///
/// The axes are the plan's in a file that a run wrote or whose names are all the plan's, and those
/// of the layout that the map says. In another one they are those of the layout
/// (weight_layout.hpp) under which everything fits: a square dense layer that may lie either way
/// is an error.
///
/// PyDTNN 1.x calls arrays ID_LAYER_KEY ("5_Conv2D_weights"; LAYER is the class, KEY one of
/// weights, biases, gamma, beta, running_mean, running_var; layers in the order in which the model
/// adds them, paths of blocks one after another). A file of only such names is matched by order,
/// its layout is the one under which all shapes fit (weight_layout.hpp), and reals are converted
/// to the plan's type. Arrays of its versions 2 and 3 are pickled objects, which nothing here
/// reads.

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/checkpoint/name_map.hpp"
#include "runtime/checkpoint/weight_file.hpp"
#include "runtime/checkpoint/weight_layout.hpp"

namespace dtnn::runtime {

/// How tensors find their parameters.
enum class MatchBy {
    unsaid,  ///< by name, but by order for PyDTNN's files
    name,
    order,  ///< one of these, whichever fits
    file_order,
    name_order,
};
constexpr auto names_of(MatchBy) {
    return std::to_array<const char*>({"auto", "name", "order", "file_order", "name_order"});
}

/// The request, as on a command line.
struct WeightRequest {
    std::string path;
    /// A file (name_map.hpp), or what is shipped by this name (weight_maps.hpp); empty: what is
    /// shipped and fits, if there is one
    std::string map = {};
    std::string layout = "auto";  ///< a WeightLayout's name; auto: own, or found by the shapes
    MatchBy match = MatchBy::unsaid;
    bool allow_missing = false;  ///< parameters without a tensor, and tensors without a parameter
    bool cast = false;           ///< reals of another width
    /// Patterns of names of parameters that keep what they have; what would go to them is left out.
    std::vector<std::string> keep = {};
    std::vector<std::string> map_folders = {};  ///< where maps are shipped
};

struct WeightMatch {
    struct Pair {
        std::size_t parameter = 0;
        const StoredTensor* tensor = nullptr;
        FileForm form;
    };
    std::vector<Pair> pairs;           ///< in the plan's order
    std::vector<std::size_t> missing;  ///< parameters that no tensor goes to, or that keep theirs
    std::vector<std::string> unused;   ///< tensors that go to no parameter, and are not dropped
    std::vector<std::string> dropped;  ///< tensors that the map leaves out
    std::vector<std::string>
        differences;  ///< what keeps the pairs from being loaded; empty: nothing
    WeightLayout layout = WeightLayout::own;
    bool pydtnn = false;
    std::size_t alike = 0;  ///< parameters whose tensor has their extents, of whatever type
};

/// Parameters that are optimizer state take no part. The file outlives the match. What does not fit
/// (roles, types, shapes, numbers that are not finite) is told in `differences`; where the file
/// fits in two ways that is a RunError (exit 5).
WeightMatch match_weights(const plan::Plan& plan, const WeightFile& file,
                          const WeightRequest& request, NameMap map);

/// Whether PyDTNN 1.x would write an array of this name.
bool is_pydtnn_name(const std::string& name);

}  // namespace dtnn::runtime
