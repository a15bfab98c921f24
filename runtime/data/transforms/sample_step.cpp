#include "runtime/data/transforms/sample_step.hpp"

#include <fmt/format.h>

#include <string>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

std::vector<std::int64_t> size_of(const ComponentFields& fields) {
    return fields.wholes("size", 2, 1, kMostExtent);
}

std::unique_ptr<SampleStep> make_step(std::span<const SampleStepKind> kinds, const char* what,
                                      const plan::Component& component) {
    std::string names;
    for (const SampleStepKind& kind : kinds) {
        if (component.type == kind.name)
            return kind.make == nullptr ? nullptr : kind.make(ComponentFields(component));
        names += (names.empty() ? "" : ", ") + std::string(kind.name);
    }
    throw RunError(Exit::mismatch,
                   fmt::format("the plan has the {} `{}`, which is unknown; there are {}", what,
                               component.type, names),
                   "compile the job again with the dtnnc of this version");
}

}  // namespace dtnn::runtime
