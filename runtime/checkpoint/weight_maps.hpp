#pragma once
/// The maps (name_map.hpp) that are shipped beside the specs: `weights/SOURCE/FAMILY.json`, called
/// SOURCE/FAMILY.

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/checkpoint/name_map.hpp"
#include "runtime/checkpoint/weight_match.hpp"

namespace dtnn::runtime {

struct ShippedMap {
    std::string name;  ///< "torchvision/resnet"; empty: a user's own, or none
    NameMap map;
};

/// Those of a source, of one name, or all (an empty `name`), by name; of folders that have the same
/// name the first counts. A file that is no map is a RunError.
std::vector<ShippedMap> shipped_maps(const std::vector<std::string>& folders,
                                     const std::string& name);

/// The map that a request asks for, by which match_weights() goes:
///
/// - of a file, where it names one;
/// - of a source or a name that ships: the one under which every parameter of the plan that does
///   not keep what it has gets a tensor, else the one for the plan's model; none is a RunError;
/// - where it names nothing: the same among all that ship, for files that no run of ours wrote,
/// have
///   other names than the plan's, and are matched by name. None: an empty map.
///
/// Two that fit and do not send the same tensors to the same parameters are a RunError (exit 5).
ShippedMap wanted_map(const plan::Plan& plan, const WeightFile& file, const WeightRequest& request);

/// Which network a file's weights are of, as far as can be told: "the model `tiny`" by what a run
/// of ours has written, or "a network of torchvision/resnet (resnet18, resnet34)" where every
/// tensor has a name of a map that ships; empty: it is not known.
std::string network_of(const WeightFile& file, const std::vector<std::string>& map_folders);

/// The map by which weights of the plan are given names of others: of a file, or the one that ships
/// under the source or name and has a name for every parameter: the one for the plan's model, else
/// the only one. None, or several, are a RunError (exit 5).
ShippedMap map_for_others(const plan::Plan& plan, const std::string& name,
                          const std::vector<std::string>& folders);

}  // namespace dtnn::runtime
