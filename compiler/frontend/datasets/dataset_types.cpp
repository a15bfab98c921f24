// The types of datasets: each is one file of this folder.

#include "compiler/frontend/datasets/dataset_type.hpp"

namespace dtnn::compiler {

const ComponentSet& dataset_types() {
    static const ComponentSet set = {"dataset",
                                     "types of datasets",
                                     "a type of dataset",
                                     {
#define DATASET_TYPE(name, ...) name##_type(),
#include "plan/dataset_types.def"
#undef DATASET_TYPE
                                     }};
    return set;
}

}  // namespace dtnn::compiler
