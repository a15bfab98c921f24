// Loading of specs: the shipped ones, composition, origins, and the resolved document.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "compiler/frontend/lint/lint.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/ir/graph.hpp"

namespace load_test {

namespace fs = std::filesystem;
using namespace dtnn;
using namespace dtnn::compiler;

namespace {

/// A folder of spec files, removed at the end.
class Folder {
  public:
    Folder() : path_(fs::temp_directory_path() / ("dtnn_load_" + std::to_string(::getpid()))) {
        fs::remove_all(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string write(const std::string& name, const std::string& text) const {
        const fs::path file = path_ / name;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
        return file.string();
    }

  private:
    fs::path path_;
};

JobSpec load(const std::string& file, const LoadOptions& options = {}) {
    Diagnostics diagnostics;
    JobSpec job = load_job(file, options, diagnostics);
    const std::string text = diagnostics.render(false);
    CAPTURE(text);
    REQUIRE_FALSE(diagnostics.has_errors());
    return job;
}

Graph graph_of(const JobSpec& job, std::int64_t batch = 1) {
    Diagnostics diagnostics;
    Graph graph = build_graph(job, batch, diagnostics);
    const std::string text = diagnostics.render(false);
    CAPTURE(text);
    REQUIRE_FALSE(diagnostics.has_errors());
    return graph;
}

std::int64_t parameters_of(const Graph& graph) {
    std::int64_t count = 0;
    for (const plan::Layer& layer : graph.layers)
        count += layer.parameters;
    return count;
}

const plan::ResolvedValue& value_of(const JobSpec& job, const std::string& path) {
    const auto found =
        std::find_if(job.values.begin(), job.values.end(),
                     [&](const plan::ResolvedValue& value) { return value.path == path; });
    REQUIRE_MESSAGE(found != job.values.end(), path << " is not among the resolved values");
    return *found;
}

std::string small_job() {
    return "kind: job\n"
           "model:\n"
           "  input: {shape: [1, 8, 8]}\n"
           "  layers:\n"
           "    - conv2d: {filters: 2, kernel: 3, padding: same, name: first}\n"
           "    - add:\n"
           "        - [conv2d: {filters: 2, kernel: [3, 1], padding: [1, 0]}, relu]\n"
           "        - []\n"
           "    - concat: {from: [add_1, first]}\n"
           "    - flatten\n"
           "    - dense: {units: 3}\n"
           "    - softmax\n"
           "dataset: {type: synthetic, shape: [1, 8, 8], classes: 3, train_samples: 100, "
           "test_samples: 10}\n"
           "training: {optimizer: {adam: {learning_rate: 1e-3}}, batch_size: 10, validation_split: "
           "0.25}\n"
           "memory_budget: 1GiB\n";
}

}  // namespace

TEST_CASE("every shipped spec is sound, and no lint speaks of it") {
    int jobs = 0;
    for (const auto& item : fs::recursive_directory_iterator("specs")) {
        if (item.path().extension() != ".yaml") continue;
        Diagnostics diagnostics;
        check_spec(item.path().string(), {}, diagnostics);
        CHECK_MESSAGE(diagnostics.all().empty(), diagnostics.render(false));
        ++jobs;
    }
    CHECK_GE(jobs, 15);
}

TEST_CASE("every lint has a rule, or is said where specs are read") {
    std::vector<Code> codes = codes_of_rules();
    codes.push_back(Code::large_batch);
    codes.push_back(Code::no_warm_up);
    CHECK_GE(lint_names().size(), 20);
    for (const std::string_view name : lint_names()) {
        CAPTURE(name);
        CHECK_EQ(std::count(codes.begin(), codes.end(), *find_lint(name)) > 0, true);
    }
    for (const Code code : codes)
        CHECK_MESSAGE(info(code).lint, info(code).name);
}

TEST_CASE("the reference models have their numbers of parameters") {
    const std::map<std::string, std::int64_t> expected = {
        {"simplecnn", 202'458}, {"simplemlp", 932'362}, {"vgg16_cifar10", 15'245'130}};
    for (const auto& one : expected) {
        CAPTURE(one.first);
        CHECK_EQ(parameters_of(graph_of(load("specs/models/pydtnn/" + one.first + ".yaml"))),
                 one.second);
    }
}

TEST_CASE("resolving twice gives the same job") {
    Folder folder;
    std::vector<std::string> files = {folder.write("small.yaml", small_job())};
    for (const char* place : {"specs/jobs", "specs/models"})
        for (const auto& item : fs::recursive_directory_iterator(place))
            if (item.path().extension() == ".yaml") files.push_back(item.path().string());
    for (const std::string& file : files) {
        CAPTURE(file);
        const JobSpec first = load(file);
        const JobSpec second = load(folder.write("again.yaml", first.resolved_text));
        CHECK_EQ(first.resolved_text, second.resolved_text);
        REQUIRE_EQ(first.values.size(), second.values.size());
        for (std::size_t i = 0; i < first.values.size(); ++i) {
            CHECK_EQ(first.values[i].path, second.values[i].path);
            CHECK_EQ(first.values[i].value, second.values[i].value);
            // The dataset and the training of a model alone are not in its document.
            if (!first.model_alone || first.values[i].path.starts_with("model."))
                CHECK_EQ(second.values[i].origin, plan::OriginKind::file);
        }
        const Graph one = graph_of(first, 4), two = graph_of(second, 4);
        REQUIRE_EQ(one.nodes.size(), two.nodes.size());
        for (std::size_t i = 0; i < one.nodes.size(); ++i) {
            CHECK_EQ(one.nodes[i].op, two.nodes[i].op);
            CHECK_EQ(one.nodes[i].attributes, two.nodes[i].attributes);
            CHECK_EQ(one.nodes[i].inputs, two.nodes[i].inputs);
        }
    }
}

TEST_CASE("every resolved value can be set by its path") {
    Folder folder;
    const std::string file = folder.write("job.yaml", small_job());
    const JobSpec job = load(file);
    const auto set = [&](const std::string& argument, const plan::ResolvedValue& value) {
        CAPTURE(argument);
        const JobSpec changed = load(file, {{}, {argument + "=" + value.value}});
        CHECK_EQ(changed.resolved_text, job.resolved_text);
        CHECK_EQ(value_of(changed, value.path).origin, plan::OriginKind::command_line);
    };
    for (const plan::ResolvedValue& value : job.values)
        if (!value.path.starts_with("model.layers.")) set(value.path, value);
    // Layers are set where they are written.
    set("model.layers.0.conv2d.filters", value_of(job, "model.layers.first.filters"));
    set("model.layers.1.add.branches.0.0.conv2d.kernel",
        value_of(job, "model.layers.conv2d_2.kernel"));
    set("model.layers.1.add.0.0.conv2d.bias", value_of(job, "model.layers.conv2d_2.bias"));
    set("model.layers.2.concat.from", value_of(job, "model.layers.concat_1.from"));
}

TEST_CASE("values know where they come from") {
    Folder folder;
    folder.write("training/base.yaml", "kind: training\nepochs: 7\nbatch_size: 32\n");
    const std::string file =
        folder.write("jobs/job.yaml",
                     "kind: job\nmodel: {input: {shape: [1, 28, 28]}, layers: [flatten, "
                     "dense: {units: 10}]}\ndataset: {type: digits}\n"
                     "training: {extends: base, batch_size: 16}\n");
    const JobSpec job = load(file, {{}, {"training.seed=5"}});
    CHECK_EQ(job.training.training.epochs, 7);
    CHECK_EQ(job.training.training.batch_size, 16);
    CHECK_EQ(job.training.training.seed, 5);

    const auto& epochs = value_of(job, "training.epochs");
    CHECK_EQ(epochs.origin, plan::OriginKind::file);
    CHECK(epochs.place.file.ends_with("training/base.yaml"));
    CHECK_EQ(epochs.place.line, 2);
    CHECK_EQ(epochs.place.column, 9);
    const auto& batch = value_of(job, "training.batch_size");
    CHECK_EQ(batch.place.file, file);
    CHECK_EQ(batch.place.line, 4);
    const auto& seed = value_of(job, "training.seed");
    CHECK_EQ(seed.origin, plan::OriginKind::command_line);
    CHECK_EQ(seed.place.file, "--set training.seed=5");
    CHECK_EQ(seed.place.column, 21);
    CHECK_EQ(value_of(job, "training.shuffle").origin, plan::OriginKind::fallback);
    CHECK_EQ(value_of(job, "model.layers.dense_1.units").value, "10");
}

TEST_CASE("another optimizer replaces the one of the base as a whole") {
    Folder folder;
    folder.write("base.yaml",
                 "kind: training\noptimizer: {sgd: {momentum: 0.5, learning_rate: 0.3}}\n");
    const auto job = [&](const std::string& training,
                         const std::vector<std::string>& settings = {}) {
        return load(folder.write("job.yaml",
                                 "kind: job\nmodel: {input: {shape: [1, 28, 28]}, layers: "
                                 "[flatten, dense: {units: "
                                 "10}]}\ndataset: {type: digits}\ntraining: {extends: base, " +
                                     training + "}\n"),
                    {{}, settings})
            .training.training;
    };
    CHECK_EQ(job("optimizer: {adam: {beta1: 0.8}}").optimizer, "adam");
    CHECK_EQ(job("optimizer: {adam: {beta1: 0.8}}").learning_rate, 0.001);
    CHECK_EQ(job("optimizer: {sgd: {learning_rate: 0.1}}").learning_rate, 0.1);
    CHECK_EQ(std::get<double>(
                 job("optimizer: {sgd: {learning_rate: 0.1}}").optimizer_attributes.at("momentum")),
             0.5);
    CHECK_EQ(job("optimizer: adam").optimizer, "adam");
    CHECK_EQ(job("epochs: 1", {"training.optimizer.adam.learning_rate=0.2"}).optimizer, "adam");
    CHECK_EQ(job("epochs: 1", {"training.optimizer.adam.learning_rate=0.2"}).learning_rate, 0.2);
    CHECK_EQ(job("epochs: 1", {"training.optimizer.sgd.learning_rate=0.2"}).learning_rate, 0.2);
}

TEST_CASE("a model alone gets a dataset that fits it") {
    Folder folder;
    const JobSpec job = load(folder.write(
        "net.yaml",
        "kind: model\ninput: {shape: [2, 5, 6]}\nlayers: [flatten, dense: {units: 7}, softmax]\n"));
    CHECK(job.model_alone);
    CHECK_EQ(job.name, "net");
    CHECK_EQ(job.model.name, "net");
    CHECK_EQ(job.dataset.dataset.type, "synthetic");
    CHECK_EQ(job.dataset.dataset.input().dims, Dims{2, 5, 6});
    CHECK_EQ(job.dataset.dataset.target().classes, 7);
    CHECK_EQ(value_of(job, "dataset.classes").origin, plan::OriginKind::fallback);
}

TEST_CASE("layers are named by type and number in the order of the layer table") {
    Folder folder;
    const Graph graph = graph_of(load(folder.write("job.yaml", small_job())), 5);
    std::vector<std::string> names;
    for (const plan::Layer& layer : graph.layers)
        names.push_back(layer.name);
    CHECK_EQ(names, std::vector<std::string>{"first", "conv2d_2", "relu_1", "add_1", "concat_1",
                                             "flatten_1", "dense_1", "softmax_1"});
    CHECK_EQ(graph.layers[3].from, std::vector<std::string>{"relu_1", "first"});
    CHECK_EQ(graph.layers[4].from, std::vector<std::string>{"add_1", "first"});
    CHECK_EQ(graph.layers[0].from, std::vector<std::string>{"input"});
    CHECK_EQ(graph.layers[4].output_shape, Dims{4, 8, 8});
    CHECK_EQ(graph.layers[0].weights_shape, Dims{2, 1, 3, 3});
    CHECK_EQ(graph.layers[0].parameters, 20);
    // 2 filters of 9 multiply-adds and a bias for each of 64 pixels.
    CHECK_EQ(graph.layers[0].forward_flops, 2 * 64 * (2 * 9 + 1));
    CHECK_EQ(graph.parameters[0].name, "first.weights");
    CHECK_EQ(graph.parameters[1].name, "first.bias");
    CHECK_EQ(graph.parameters[1].initializer.stream, 1);
    REQUIRE_EQ(graph.outputs.size(), 1);
    CHECK_EQ(graph.outputs[0].name, "predictions");
    CHECK_EQ(graph.type(graph.outputs[0].value).dims, Dims{5, 3});
    REQUIRE_EQ(graph.inputs.size(), 1);
    CHECK_EQ(graph.value(graph.inputs[0]).name, "source");
}

TEST_CASE("layers may have the names of what the runtime fills") {
    const Folder folder;
    const JobSpec job = load(folder.write("named.yaml", R"(
kind: model
input: {shape: [1, 4, 4]}
layers:
  - flatten: {name: source}
  - relu: {name: position}
  - tanh: {name: learning_rate}
  - dense: {units: 10, name: labels}
)"));
    const Graph graph = graph_of(job);
    REQUIRE(graph.inputs.size() == 1);
    CHECK(graph.value(graph.inputs[0]).name == "source");
    for (const Value& value : graph.values)
        for (const char* name : {"labels", "learning_rate", "position"})
            CHECK(value.name != name);
    CHECK(graph.layers.back().name == "labels");
    CHECK(graph.parameters[0].name == "labels.weights");
}

TEST_CASE("specs are found in the own folder, the sibling folder of the kind, then the spec path") {
    Folder folder;
    const std::string text = "kind: dataset\ntype: synthetic\nshape: [1, 2, 2]\nclasses: ";
    const std::string job_text =
        "kind: job\nmodel: {input: {shape: [1, 2, 2]}, layers: [flatten, dense: {units: 2}]}\n"
        "dataset: data\ntraining: {}\n";
    const std::string path =
        fs::path(folder.write("path/datasets/data.yaml", text + "5\n")).parent_path().parent_path();
    const std::string job = folder.write("jobs/job.yaml", job_text);
    CHECK_EQ(load(job, {{path}, {}}).dataset.dataset.target().classes, 5);
    folder.write("path/data.yaml", text + "4\n");
    CHECK_EQ(load(job, {{path}, {}}).dataset.dataset.target().classes, 4);
    folder.write("datasets/data.yaml", text + "3\n");
    CHECK_EQ(load(job, {{path}, {}}).dataset.dataset.target().classes, 3);
    folder.write("jobs/data.yaml", text + "2\n");
    CHECK_EQ(load(job, {{path}, {}}).dataset.dataset.target().classes, 2);
}

TEST_CASE("a job may have the name of its dataset") {
    Folder folder;
    folder.write("datasets/digits.yaml", "kind: dataset\ntype: digits\n");
    const std::string job = folder.write("jobs/digits.yaml",
                                         "kind: job\nmodel: {input: {shape: [1, 28, 28]}, layers: "
                                         "[flatten, dense: {units: 10}]}\ndataset: digits\n"
                                         "training: {}\n");
    CHECK_EQ(load(job).dataset.dataset.type, "digits");
}

TEST_CASE("broken specs never end the program") {
    // Every truncation and many single-byte changes of a sound spec: a diagnostic or a job, never
    // an exception.
    Folder folder;
    const std::string language =
        "kind: model\n"
        "parameters: {depth: 2, act: relu}\n"
        "defaults: {conv2d: {bias: false}}\n"
        "input: {shape: [1, 8, \"${4 * depth}\"]}\n"
        "blocks:\n"
        "  unit:\n"
        "    parameters: {k: integer, s: {type: integer, default: \"${k // 2}\"}}\n"
        "    layers: [conv2d: {filters: \"${k}\", kernel: 1, stride: \"${s}\"}, \"${act}\"]\n"
        "layers:\n"
        "  - repeat: {times: \"${depth}\", name: st, index: i, layers: [unit: {k: \"${i + 2}\"}]}\n"
        "  - if: {condition: \"${in.channels > 2}\", then: [add: {from: [st_2, st]}], else: "
        "[tanh]}\n"
        "  - flatten\n";
    const std::string replacements = "[]{}:,-&*!|>'\"%@`#\t\n 0a";
    int refused = 0;
    for (const std::string& text : {small_job(), language})
        for (std::size_t at = 0; at < text.size(); ++at)
            for (int change = 0; change < 2; ++change) {
                std::string broken = text;
                if (change == 0)
                    broken.resize(at);
                else
                    broken[at] = replacements[(at * 7) % replacements.size()];
                Diagnostics diagnostics;
                check_spec(folder.write("broken.yaml", broken), {}, diagnostics);
                refused += diagnostics.has_errors() ? 1 : 0;
                for (const Diagnostic& diagnostic : diagnostics.all())
                    if (!diagnostic.span.place.file.empty())
                        CHECK_GE(diagnostic.span.place.line, 1);
            }
    CHECK_GT(refused, 1000);
}

}  // namespace load_test
