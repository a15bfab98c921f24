#include "compiler/onnx/out/export.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <memory>

#include "base/json.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "plan/json/json.hpp"
#include "plan/normalization.hpp"
#include "plan/rules/lengths.hpp"
#include "tools/command_line/command.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/output.hpp"
#include "tools/dtnnc/plan_source.hpp"
#include "tools/dtnnc/runtime_library.hpp"

namespace dtnn::tools {
namespace {

namespace onnx = compiler::onnx;

struct ExportCommand {
    std::string source, weights, output;
    int opset = onnx::kLeastOpset;
    std::string batch = "dynamic";
    bool preprocessing = false;
    bool outside = false;  ///< the weights go to a file beside the model
    CommonOptions common;
};

std::int64_t batch_of(const std::string& text) {
    if (text == "dynamic") return 0;
    std::int64_t batch = 0;
    const auto end = text.data() + text.size();
    if (std::from_chars(text.data(), end, batch).ptr != end || batch < 1 || batch > 1'000'000)
        throw UsageError(fmt::format(
            "--batch `{}` is no batch\nhelp: write `dynamic`, or a number of samples", text));
    return batch;
}

/// What the dataset's `normalize`s do to pixels, in order.
std::vector<onnx::PixelScale> pixel_scales(const plan::Dataset& dataset) {
    std::vector<onnx::PixelScale> scales;
    for (const plan::Component& component : dataset.transforms) {
        if (component.type != "normalize") continue;
        const Attributes& fields = component.attributes;
        onnx::PixelScale scale;
        if (const auto name = fields.find("constants"); name != fields.end()) {
            const auto* constants =
                plan::find_normalization_constants(std::get<std::string>(name->second));
            if (!constants) continue;
            scale = {constants->mean, constants->deviation};
        } else {
            scale = {std::get<std::vector<double>>(fields.at("mean")),
                     std::get<std::vector<double>>(fields.at("deviation"))};
        }
        for (std::vector<double>* list : {&scale.mean, &scale.deviation})
            if (list->size() == 1)
                list->assign(std::size_t(dataset.input().dims.front()), list->front());
        scales.push_back(std::move(scale));
    }
    return scales;
}

/// Whatever a program needs to know beside the network: what of it stands in the file as nodes is
/// not said.
std::map<std::string, std::string> metadata_of(
    const plan::Plan& plan, const onnx::ExportRequest& request,
    const std::map<std::string, std::string>& of_weights) {
    std::map<std::string, std::string> metadata{{"dtnn.model", plan.model}};
    metadata["dtnn.plan"] = plan::write_json(plan, [](std::string_view) {}).digits;
    for (const char* names : {"class_names", "feature_names"})
        if (const auto found = of_weights.find(names); found != of_weights.end())
            metadata[names] = found->second;
    if (!metadata.contains("class_names") && !plan.dataset.target().names.empty())
        metadata["class_names"] = write_json(Json(plan.dataset.target().names));
    if (request.pixels) return metadata;
    Json scales = Json::array();
    for (const onnx::PixelScale& scale : pixel_scales(plan.dataset))
        scales.push_back({{"mean", scale.mean}, {"deviation", scale.deviation}});
    if (const plan::Feature& input = plan.dataset.input(); !input.mean.empty())
        scales.push_back({{"mean", input.mean}, {"deviation", input.deviation}});
    if (!scales.empty()) metadata["normalization"] = write_json(scales);
    if (const plan::Feature& target = plan.dataset.target(); !target.mean.empty())
        metadata["target_scale"] =
            write_json(Json{{"mean", target.mean}, {"deviation", target.deviation}});
    return metadata;
}

void write_outside(onnx::ExportedModel& made, const std::string& output) {
    const std::string data = output + ".data";
    write_file(data, [&](const std::function<void(std::string_view)>& sink) {
        onnx::move_outside(made.model, std::filesystem::path(data).filename().string(), sink);
        return FilePatch{};
    });
    tell_written(data);
}

int export_model(const ExportCommand& command) {
    onnx::ExportRequest request{.opset = command.opset, .batch = batch_of(command.batch)};
    request.producer_version = DTNN_VERSION;
    compiler::Diagnostics diagnostics;
    const std::optional<plan::Plan> plan =
        named_plan(command.source, {}, command.common, diagnostics);
    if (const int exit_code = print_diagnostics(diagnostics, command.common); !plan)
        return exit_code;
    if (const std::string lengths = plan::lengths_array(plan->dataset); !lengths.empty())
        throw UsageError(fmt::format(
            "the samples of the plan have lengths (`{}`), and ONNX's layers know none\nhelp: "
            "export "
            "the same model by a job whose dataset has no `lengths`: its weights fit, and it is "
            "right for samples that have all steps",
            lengths));
    if (command.preprocessing) {
        if (!plan::has_image(plan->dataset))
            throw UsageError(
                "--with-preprocessing is for images, and the model does not read one\nhelp: leave "
                "it out; the metadata say what was normalised");
        request.pixels = pixel_scales(plan->dataset);
        if (const plan::Feature& target = plan->dataset.target(); !target.mean.empty())
            request.numbers = onnx::PixelScale{target.mean, target.deviation};
    }
    const compiler::Graph graph = onnx::graph_of(*plan);
    const UseWeights write = [&](const std::vector<StoredTensor>& tensors,
                                 const std::map<std::string, std::string>& metadata) {
        std::map<std::string, const StoredTensor*> weights;
        for (const StoredTensor& tensor : tensors)
            weights[tensor.name] = &tensor;
        request.metadata = metadata_of(*plan, request, metadata);
        onnx::ExportedModel made = onnx::export_graph(graph, weights, request);
        const std::int64_t bytes = onnx::tensor_bytes(made.model);
        constexpr std::int64_t kRoom = std::int64_t{1} << 26;  // nodes and names
        if (command.outside || bytes > onnx::kMostMessageBytes - kRoom)
            write_outside(made, command.output);
        write_file(command.output, onnx::write_model(made.model));
        tell_written(command.output,
                     fmt::format("{}, opset {}, weights of {}",
                                 count_text(std::int64_t(made.model.graph->node.size()), "node"),
                                 command.opset, bytes_text(double(bytes))));
        return 0;
    };
    // A network without parameters needs no file.
    if (graph.parameters.empty() && command.weights.empty()) return write({}, {});
    if (command.weights.empty())
        throw UsageError(
            "--weights is missing\nhelp: name the weights.safetensors of a run, or a file of "
            "another program that `dtnn-run predict` reads");
    return runtime_library().with_weights(*plan, command.weights, write);
}

std::function<int()> declare_export(OptionList& list) {
    auto given = std::make_shared<ExportCommand>();
    list.argument("SPEC|PLAN", given->source, "A job, a model or a plan");
    declare_common(list, given->common);
    list.text("--weights", given->weights, "A run's weights.safetensors, or an .npz",
              {.value = "FILE"});
    list.text("-o,--output", given->output, "File of the model",
              {.required = true, .value = "FILE"});
    list.number("--opset", given->opset, "Version of ONNX's operators",
                {.lowest = onnx::kLeastOpset, .highest = onnx::kMostOpset, .shows_default = true});
    list.text("--batch", given->batch, "dynamic, or the samples that each call has",
              {.shows_default = true, .value = "N", .offers = {"dynamic"}});
    list.flag("--with-preprocessing", given->preprocessing,
              "The file reads bytes of pixels, 0 to 255, and normalises them, and gives numbers in "
              "the target's units");
    list.flag("--external-data", given->outside,
              "Weights go to FILE.data beside the model, as those of more than 2 GB do anyway");
    return [given] { return export_model(*given); };
}

const RegisteredCommand kExportCommand(
    {.name = "export",
     .doc = "Writes a network and its weights as an ONNX file",
     .place = 120,
     .declare = declare_export,
     .purpose = Purpose::use,
     .exits = {{ExitCode::failed}, {ExitCode::invalid_spec}, {ExitCode::mismatch}},
     .examples =
         {{"dtnnc export plan.json --weights runs/first/weights.safetensors -o net.onnx",
           "what a run has trained, for ONNX Runtime"},
          {"dtnnc export job.yaml --weights runs/first/weights.safetensors -o net.onnx --batch 1 "
           "--with-preprocessing",
           "one image a call, as bytes"}},
     .details = "The file has the network as it predicts: batch norm by its moving statistics, no "
                "dropout. Inputs and outputs have the names and the axes that the spec gives them "
                "(images: batch, channels, height, width); the output is `predictions`."});

}  // namespace
}  // namespace dtnn::tools
