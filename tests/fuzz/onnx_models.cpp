/// Any bytes at all as an ONNX file: it is refused with reasons, or gives a spec that the compiler
/// takes or refuses in words, whose parameters are the weights that came with it.

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "compiler/frontend/specs.hpp"
#include "compiler/onnx/in/import.hpp"

namespace {

using namespace dtnn;
using namespace dtnn::compiler;

[[noreturn]] void fail(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::abort();
}

void check_spec_of(const onnx::ImportedModel& made) {
    LoadOptions load;
    load.texts["net.yaml"] = made.spec;
    Diagnostics diagnostics;
    const JobSpec job = load_job("net.yaml", load, diagnostics);
    if (diagnostics.has_errors()) return;
    const Graph graph = build_graph(job, 1, diagnostics);
    if (diagnostics.has_errors()) return;
    std::map<std::string, const StoredTensor*> tensors;
    for (const StoredTensor& tensor : made.tensors) {
        if (std::int64_t(tensor.bytes.size()) != 4 * element_count(tensor.dims))
            fail(tensor.name + " has other bytes than its shape");
        tensors[tensor.name] = &tensor;
    }
    for (const Parameter& parameter : graph.parameters) {
        const auto found = tensors.find(parameter.name);
        if (found == tensors.end() || found->second->dims != parameter.dims)
            fail(parameter.name + " has no weights");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    try {
        const onnx::ModelProto model = onnx::read_model(bytes);
        onnx::Constants constants("/nonexistent", size);
        const onnx::ImportedModel made = onnx::import_model(model, "net", constants);
        for (const onnx::Refusal& refusal : made.refusals)
            if (refusal.place.empty() || refusal.text.empty()) fail("a refusal without a reason");
        if (made.refusals.empty()) check_spec_of(made);
    } catch (const ProtobufError& error) {
        if (error.offset() > size) fail("an offset beyond the file");
    }
    return 0;
}
