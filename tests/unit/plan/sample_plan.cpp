#include "tests/unit/plan/sample_plan.hpp"

namespace dtnn::plan {

namespace {

Parameter parameter(const std::string& name, const std::string& role, Dims dims, int buffer) {
    Parameter p;
    p.name = name;
    p.role = role;
    p.dims = p.physical_dims = std::move(dims);
    p.buffer = buffer;
    p.layer = 1;
    p.place = {"model.yaml", 7, 5};
    return p;
}

Tensor tensor(const std::string& name, int buffer, Dims dims, DType dtype = DType::f32) {
    Tensor t;
    t.name = name;
    t.buffer = buffer;
    t.dtype = dtype;
    t.dims = std::move(dims);
    return t;
}

Step step(const std::string& name, const std::string& op, std::vector<int> sources,
          std::vector<int> destinations, StepPhase phase = StepPhase::forward) {
    Step s;
    s.name = name;
    s.op = op;
    s.kernel = "reference";
    s.sources = std::move(sources);
    s.destinations = std::move(destinations);
    s.flops = 100;
    s.bytes = 400;
    s.layer = 1;
    s.phase = phase;
    s.place = {"model.yaml", 7, 5};
    return s;
}

}  // namespace

// Persistent: weights [4,3] at 0, bias [3] at 64, velocity [4,3] at 128, source [2,4] at 192,
// labels [2] at 256, learning_rate at 320. Transient from 384.
Plan sample_plan() {
    Plan plan;
    plan.generator = "dtnnc 0.2.0";
    plan.name = "sample";
    plan.model = "one_dense";
    plan.target.isa = "avx2";
    plan.training.epochs = 3;
    plan.training.batch_size = 2;
    plan.training.steps_per_epoch = 5;
    plan.training.seed = 18446744073709551615u;
    plan.training.learning_rate = 0.1;
    plan.training.optimizer = "sgd";
    plan.training.optimizer_attributes = {{"momentum", 0.9}, {"nesterov", false}};
    plan.training.loss = "categorical_cross_entropy";
    plan.training.metrics = {
        {"categorical_accuracy", "categorical_accuracy", {}, "categorical_accuracy"}};
    plan.training.validation_split = 0.2;
    plan.dataset.name = "few";
    plan.dataset.type = "digits";
    plan.dataset.input().dims = plan.dataset.input().stored_dims = {4, 1, 1};
    plan.dataset.target().classes = 3;
    plan.dataset.train_samples = 10;
    plan.dataset.validation_samples = 2;
    plan.dataset.test_samples = 4;
    plan.dataset.source_train_samples = 12;
    plan.dataset.attributes = {{"noise", 0.25}, {"seed", std::int64_t{7}}};
    plan.dataset.transforms = {
        {"normalize", {{"mean", std::vector<double>{0.5}}, {"deviation", std::vector<double>{2}}}}};
    plan.training.schedules = {{"cosine", {{"epochs", std::int64_t{3}}}}};
    plan.training.groups = {{"*.bias", {{"weight_decay", 0.0}}}};
    plan.passes = {"attach_loss", "-fuse_epilogues", "in_place"};

    Layer flatten;
    flatten.name = "flatten_1";
    flatten.type = "flatten";
    flatten.output_shape = {4};
    flatten.output_axes = {AxisKind::feature};
    flatten.from = {"input"};
    flatten.place = {"model.yaml", 6, 5};
    Layer dense;
    dense.index = 1;
    dense.name = "dense_1";
    dense.type = "dense";
    dense.output_shape = {3};
    dense.output_axes = {AxisKind::feature};
    dense.weights_shape = {4, 3};
    dense.parameters = dense.trainable = 15;
    dense.attributes = {{"bias", true}, {"units", std::int64_t{3}}};
    dense.from = {"flatten_1"};
    dense.forward_flops = 24;
    dense.place = {"model.yaml", 7, 5};
    plan.layers = {flatten, dense};

    plan.buffers = {
        {"dense_1.weights", BufferRole::parameter, 0, 48, -1, 0, 0},
        {"dense_1.bias", BufferRole::parameter, 64, 12, -1, 0, 0},
        {"dense_1.weights.velocity", BufferRole::state, 128, 48, -1, 0, 0},
        {"source", BufferRole::input, 192, 32, -1, 0, 0},
        {"labels", BufferRole::input, 256, 8, -1, 0, 0},
        {"learning_rate", BufferRole::input, 320, 4, -1, 0, 0},
        {"logits", BufferRole::transient, 384, 24, 0, 0, 1},         // 6
        {"loss", BufferRole::transient, 448, 4, 0, 1, 3},            // 7
        {"probabilities", BufferRole::transient, 512, 24, 0, 1, 2},  // 8, its gradient in place
        {"diff_weights", BufferRole::transient, 384, 48, 0, 2, 3},   // 9, over the logits
        {"backward.workspace", BufferRole::workspace, 576, 100, 0, 2, 2},  // 10
        {"predictions", BufferRole::transient, 384, 24, 1, 0, 0},          // 11
    };
    plan.memory = {128, 64, 192, 320, 704, 2 * 2 * (16 + 4)};

    Parameter weights = parameter("dense_1.weights", "weights", {4, 3}, 0);
    weights.trainable = true;
    weights.initializer = {"glorot_uniform", 4, 3, 11};
    Parameter bias = parameter("dense_1.bias", "bias", {3}, 1);
    bias.trainable = true;
    Parameter velocity = parameter("dense_1.weights.velocity", "velocity", {4, 3}, 2);
    velocity.kind = ParameterKind::optimizer_state;
    velocity.optimizer_state = true;
    plan.parameters = {weights, bias, velocity};

    Program train;
    train.name = "train";
    train.batch = 2;
    train.tensors = {
        tensor("source", 3, {2, 4}),
        tensor("labels", 4, {2}, DType::i32),
        tensor("learning_rate", 5, {}),
        tensor("dense_1.weights", 0, {4, 3}),
        tensor("dense_1.bias", 1, {3}),
        tensor("dense_1.weights.velocity", 2, {4, 3}),
        tensor("logits", 6, {2, 3}),
        tensor("loss", 7, {}),
        tensor("probabilities", 8, {2, 3}),
        tensor("diff_logits", 8, {2, 3}),
        tensor("diff_weights", 9, {4, 3}),
        tensor("dense_1.weights.new", 0, {4, 3}),
        tensor("dense_1.weights.velocity.new", 2, {4, 3}),
    };
    train.tensors[3].order = {1, 0};
    train.steps = {
        step("dense_1.dense", "dense", {0, 3, 4}, {6}),
        step("softmax_cross_entropy", "softmax_cross_entropy", {6, 1}, {7, 8}),
        step("dense_1.dense_backward_weights", "dense_backward_weights", {0, 8}, {10},
             StepPhase::backward),
        step("dense_1.sgd_update", "sgd_update", {3, 10, 2, 5}, {11, 12}, StepPhase::update),
    };
    plan.refusals = {
        {{{"blis", "K = 4 is below 8"}, {"slow", "it was measured slower", 1.5e-3}}, 1e-3}};
    train.steps[0].refusals = 0;
    train.steps[0].layers = {0, 1};
    train.steps[0].attributes = {{"bias", true}, {"epilogue", "none"}};
    train.steps[2].attributes = {{"weights_shape", std::vector<std::int64_t>{4, 3}}};
    train.steps[2].workspace = 10;
    train.outputs = {{"loss", 7}};
    train.inputs = {
        {InputRole::feature, 0, 0}, {InputRole::target, 0, 1}, {InputRole::learning_rate, 0, 2}};

    Program evaluate;
    evaluate.name = "evaluate";
    evaluate.kind = ProgramKind::evaluate;
    evaluate.phase = ProgramPhase::inference;
    evaluate.batch = 2;
    evaluate.tensors = {tensor("source", 3, {2, 4}), tensor("dense_1.weights", 0, {4, 3}),
                        tensor("dense_1.bias", 1, {3}), tensor("predictions", 11, {2, 3})};
    evaluate.steps = {step("dense_1.dense", "dense", {0, 1, 2}, {3})};
    evaluate.steps[0].layers = {0, 1};
    evaluate.outputs = {{"predictions", 3}};
    evaluate.inputs = {{InputRole::feature, 0, 0}};
    plan.programs = {train, evaluate};

    plan.values = {{"training.batch_size",
                    "2",
                    OriginKind::file,
                    {"job.yaml", 3, 14},
                    Meaning::mathematics,
                    "every update averages over another number of samples, and an epoch has "
                    "another number of updates"},
                   {"training.epochs", "3", OriginKind::command_line, {"training.epochs=3", 0, 0}},
                   {"training.shuffle", "true", OriginKind::fallback, {}}};
    plan.resolved_spec = "kind: job\nname: \"s\xC3\xA4mple\"\n";
    return plan;
}

Plan parallel_sample_plan() {
    Plan plan = sample_plan();
    plan.target.ranks = 2;
    plan.training.steps_per_epoch = 3;  // five batches for two ranks
    plan.parallel.data = true;
    plan.parallel.bucket_bytes = 262144;
    plan.machine.name = "cluster";
    plan.machine.nodes = 4;
    plan.machine.network_latency = 2e-5;
    plan.machine.network_bandwidth = 1.25e9;
    plan.buffers.push_back({"batch_weight", BufferRole::input, 704, 4, -1, 0, 0});  // 12
    plan.memory.inputs += 64;
    plan.memory.arena += 64;
    Program& train = plan.programs[0];
    train.tensors.push_back(tensor("dense_1.weights.sent", 9, {4, 3}));     // 13
    train.tensors.push_back(tensor("dense_1.weights.reduced", 9, {4, 3}));  // 14
    train.tensors.push_back(tensor("batch_weight", 12, {}));                // 15
    train.inputs.push_back({InputRole::batch_weight, 0, 15});
    Step start = step("gradients_1.all_reduce_start", "all_reduce_start", {10}, {13});
    Step wait = step("gradients_1.all_reduce_wait", "all_reduce_wait", {13}, {14});
    for (Step* end : {&start, &wait}) {
        end->kernel = "communicator";
        end->phase = StepPhase::communication;
        end->layer = -1;
        end->attributes = {{"collective", std::int64_t{0}}};
    }
    train.steps.insert(train.steps.begin() + 3, {start, wait});
    train.steps[5].sources[1] = 14;
    plan.buffers[7].last_step = plan.buffers[9].last_step = 5;
    train.collectives = {
        {"gradients_1", CollectiveKind::all_reduce, 9, 0, 48, DType::f32, 3, 4, {0}, 4.5e-5}};
    return plan;
}

}  // namespace dtnn::plan
