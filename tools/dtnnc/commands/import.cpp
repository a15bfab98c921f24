#include "compiler/onnx/in/import.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string_view>

#include "base/input_file.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "compiler/support/check.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {
namespace {

namespace keras = compiler::keras;
namespace onnx = compiler::onnx;

struct ImportCommand {
    std::string source, output, weights;
    CommonOptions common;
};

int refuse(const std::string& source, const std::vector<onnx::Refusal>& refusals) {
    std::string text = fmt::format("dtnnc: {} cannot be imported, for {}:\n", shown(source),
                                   count_text(std::int64_t(refusals.size()), "reason"));
    for (const onnx::Refusal& refusal : refusals) {
        text += fmt::format("  {}: {}\n", refusal.place, refusal.text);
        if (!refusal.help.empty()) text += fmt::format("    help: {}\n", refusal.help);
    }
    write_stderr(text);
    return int(ExitCode::mismatch);
}

/// The spec's own parameters are those that have weights, or it is our bug.
void check_parameters(const compiler::Graph& graph, const onnx::ImportedModel& made) {
    std::map<std::string, const Dims*> dims;
    for (const StoredTensor& tensor : made.tensors)
        dims[tensor.name] = &tensor.dims;
    for (const compiler::Parameter& parameter : graph.parameters) {
        const auto found = dims.find(parameter.name);
        DTNN_CHECK(found != dims.end() && *found->second == parameter.dims,
                   "the spec's `{}` is none of the imported weights", parameter.name);
    }
    DTNN_CHECK_COMPARE(graph.parameters.size(), ==, made.tensors.size());
}

/// Writes spec and weights, or says why not.
int finish(const ImportCommand& command, const onnx::ImportedModel& made) {
    if (!made.refusals.empty()) return refuse(command.source, made.refusals);

    compiler::LoadOptions load = load_options(command.common);
    load.texts[command.output] = made.spec;
    compiler::Diagnostics diagnostics;
    const compiler::JobSpec job = compiler::load_job(command.output, load, diagnostics);
    compiler::Graph graph;
    if (!diagnostics.has_errors()) graph = compiler::build_graph(job, 1, diagnostics);
    // A network whose result fits no dataset of classes is one all the same.
    if (graph.outputs.empty()) return print_diagnostics(diagnostics, command.common);
    check_parameters(graph, made);

    if (!made.tensors.empty()) {
        const int exit_code = runtime_library().write_weights(
            command.weights, made.tensors, {{"format", "dtnn"}, {"model", job.model.name}});
        if (exit_code != 0) return exit_code;
        std::int64_t numbers = 0;
        for (const StoredTensor& tensor : made.tensors)
            numbers += element_count(tensor.dims);
        tell_written(command.weights, fmt::format("{} parameters", grouped(numbers)));
    }
    write_file(command.output, made.spec);
    tell_written(command.output, count_text(std::int64_t(made.layers), "layer"));
    return 0;
}

constexpr const char* kFromPyTorch =
    "export the model: torch.onnx.export(model, example, \"net.onnx\")";
constexpr const char* kFromTensorFlow =
    "make ONNX of it: python3 -m tf2onnx.convert --saved-model FOLDER --output net.onnx";

/// What people have in the place of ONNX, by bytes that no ONNX file has there.
struct OtherFormat {
    std::size_t at;
    std::string_view bytes;
    const char* what;
    const char* help;
};
constexpr OtherFormat kOtherFormats[] = {
    {0, "\x89HDF", "an HDF5 file, as Keras 2 saves models",
     "save it by Keras 3: keras.models.load_model(\"FILE\").save(\"net.keras\")"},
    {0, "PK\x03\x04", "a zip file, as PyTorch writes; of Keras, its name ends in .keras",
     kFromPyTorch},
    {0, "\x80", "a pickle, which is a program, and none is run here", kFromPyTorch},
    {4, "TFL3", "a model of TensorFlow Lite", kFromTensorFlow},
    {8, "{\"", "weights without their network, as .safetensors has them",
     "write the network as a spec; dtnn-run weights import takes weights of others"},
    {0, "{", "JSON", "a plan is run as it is: dtnn-run FILE"},
    {0, "kind:", "a spec already", "dtnnc check FILE says what it lacks"},
};

void refuse_other_format(std::string_view bytes) {
    if (bytes.empty()) throw onnx::Refused("it is empty", "");
    for (const OtherFormat& other : kOtherFormats)
        if (bytes.size() > other.at && bytes.substr(other.at).starts_with(other.bytes))
            throw onnx::Refused(fmt::format("it is {}", other.what), other.help);
}

int import_onnx(const ImportCommand& command, const std::string& name) {
    std::error_code none;
    if (std::filesystem::exists(std::filesystem::path(command.source) / "saved_model.pb", none))
        return refuse(command.source,
                      {{"the folder", "it is a SavedModel of TensorFlow", kFromTensorFlow}});
    std::string bytes;
    if (const ReadFault fault =
            read_input(command.source, onnx::kMostMessageBytes, "an ONNX file", bytes))
        throw UsageError(fmt::format("cannot read {}: {}", command.source, fault.reason()));
    onnx::ModelProto model;
    try {
        refuse_other_format(bytes);
        model = onnx::read_model(bytes);
    } catch (const onnx::Refused& refused) {
        return refuse(command.source, {{"the file", refused.what(), refused.help()}});
    } catch (const ProtobufError& error) {
        return refuse(command.source, {{fmt::format("byte {}", error.offset()), error.what(),
                                        "name a file that an exporter of ONNX wrote, whole"}});
    }
    const std::filesystem::path folder = std::filesystem::path(command.source).parent_path();
    onnx::Constants constants(folder.empty() ? "." : folder.string(), bytes.size());
    return finish(command, onnx::import_model(model, name, constants));
}

int import_keras(const ImportCommand& command, const std::string& name) {
    return runtime_library().with_keras_file(
        command.source, [&](const keras::KerasFile& file, std::size_t bytes) {
            onnx::Constants constants(".", bytes);
            return finish(command, keras::import_model(file, name, constants));
        });
}

int import_model(const ImportCommand& command) {
    const std::string name = std::filesystem::path(command.output).stem().string();
    return command.source.ends_with(".keras") ? import_keras(command, name)
                                              : import_onnx(command, name);
}

std::function<int()> declare_import(OptionList& list) {
    auto given = std::make_shared<ImportCommand>();
    list.argument("FILE", given->source,
                  "A model as ONNX, of operator sets 7 to 23, or as Keras 3 saves it, .keras");
    declare_common(list, given->common);
    list.text("-o,--output", given->output, "File of the model's spec",
              {.required = true, .value = "FILE"});
    list.text("--weights", given->weights, "File of its weights, .safetensors or .npz",
              {.required = true, .value = "FILE"});
    return [given] { return import_model(*given); };
}

const RegisteredCommand kImportCommand(
    {.name = "import",
     .doc = "Reads an ONNX or a Keras file as a model's spec and its weights",
     .place = 130,
     .declare = declare_import,
     .purpose = Purpose::use,
     .exits = {{ExitCode::failed},
               {ExitCode::invalid_spec},
               {ExitCode::mismatch, "the file is broken, or has what no layer here does"}},
     .examples = {{"dtnnc import net.onnx -o net.yaml --weights net.safetensors",
                   "a network of PyTorch or TensorFlow, to be trained on here"},
                  {"dtnnc import net.keras -o net.yaml --weights net.safetensors",
                   "one of Keras 3, without Keras"}},
     .details = "What cannot be taken over is refused, all of it at once, each with its node or "
                "layer and what can be done. The spec trains like any other; it ends where the "
                "file ends, at logits more often than at a softmax. Nothing of a file is run: "
                "Lambda layers and classes of others are refused."});

}  // namespace
}  // namespace dtnn::tools
