#pragma once
/// What must hold of a model that came in, wherever from.

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "compiler/frontend/specs.hpp"
#include "compiler/onnx/in/import.hpp"

namespace dtnn::fuzz {

[[noreturn]] inline void fail(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::abort();
}

/// The spec is taken, or refused in words; the tensors are its parameters'.
inline void check_spec_of(const compiler::onnx::ImportedModel& made) {
    compiler::LoadOptions load;
    load.texts["net.yaml"] = made.spec;
    compiler::Diagnostics diagnostics;
    const compiler::JobSpec job = compiler::load_job("net.yaml", load, diagnostics);
    if (diagnostics.has_errors()) return;
    const compiler::Graph graph = compiler::build_graph(job, 1, diagnostics);
    if (diagnostics.has_errors()) return;
    std::map<std::string, const StoredTensor*> tensors;
    for (const StoredTensor& tensor : made.tensors) {
        if (std::int64_t(tensor.bytes.size()) != 4 * element_count(tensor.dims))
            fail(tensor.name + " has other bytes than its shape");
        tensors[tensor.name] = &tensor;
    }
    for (const compiler::Parameter& parameter : graph.parameters) {
        const auto found = tensors.find(parameter.name);
        if (found == tensors.end() || found->second->dims != parameter.dims)
            fail(parameter.name + " has no weights");
    }
}

inline void check_imported(const compiler::onnx::ImportedModel& made) {
    for (const compiler::onnx::Refusal& refusal : made.refusals)
        if (refusal.place.empty() || refusal.text.empty()) fail("a refusal without a reason");
    if (made.refusals.empty()) check_spec_of(made);
}

}  // namespace dtnn::fuzz
