#include "tests/unit/runtime/hand_made_plan.hpp"

#include <stdlib.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "runtime/data/pipeline.hpp"

namespace dtnn::runtime {
namespace {

using plan::BufferRole;
using plan::InputRole;

std::int64_t padded(std::int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

class Builder {
  public:
    explicit Builder(const HandMade& wish) : wish_(wish), real_(size_of(wish.dtype)) {}

    plan::Plan build() {
        describe();
        const std::int64_t features = element_count(wish_.shape);
        weights_ =
            buffer("dense_1.weights", BufferRole::parameter, features * wish_.classes * real_);
        bias_ = buffer("dense_1.bias", BufferRole::parameter, wish_.classes * real_);
        source_ = buffer("source", BufferRole::input, wish_.batch * features * real_);
        labels_ = buffer("labels", BufferRole::input, wish_.batch * 4);
        rate_ = buffer("learning_rate", BufferRole::input, real_);
        if (wish_.parallel) weight_ = buffer("batch_weight", BufferRole::input, real_);
        persistent_ = end_;
        parameters();

        std::set<std::int64_t> sizes;
        program("train", wish_.batch, true);
        if (wish_.train_samples % wish_.batch != 0) {
            program("train_tail", wish_.train_samples % wish_.batch, true);
        }
        program("evaluate", wish_.batch, false);
        for (const std::int64_t samples : {wish_.validation_samples, wish_.test_samples}) {
            const std::int64_t tail = samples % wish_.batch;
            if (tail == 0 || !sizes.insert(tail).second) continue;
            program(sizes.size() == 1 ? "evaluate_tail" : "evaluate_tail_2", tail, false);
        }
        plan_.memory.parameters =
            padded(features * wish_.classes * real_) + padded(wish_.classes * real_);
        plan_.memory.inputs = persistent_ - plan_.memory.parameters;
        plan_.memory.arena = most_;
        plan_.memory.transient = most_ - persistent_;
        plan_.memory.staging = Pipeline::staging_bytes(plan_);
        return plan_;
    }

  private:
    void describe() {
        plan_.generator = "by hand";
        plan_.name = "hand_made";
        plan_.model = "softmax_regression";
        plan_.target.dtype = wish_.dtype;
        plan_.dataset.input().dtype = wish_.dtype;
        plan_.target.isa = "baseline";
        plan_.target.threads = 2;
        plan_.parallel.data = wish_.parallel;
        plan_.training.epochs = wish_.epochs;
        plan_.training.batch_size = wish_.batch;
        plan_.training.steps_per_epoch = (wish_.train_samples + wish_.batch - 1) / wish_.batch;
        plan_.training.seed = 7;
        plan_.training.learning_rate = wish_.learning_rate;
        plan_.training.optimizer = "sgd";
        plan_.training.loss = "categorical_cross_entropy";
        plan_.training.metrics = {
            {"categorical_accuracy", "categorical_accuracy", {}, "categorical_accuracy"}};
        plan_.dataset.name = "made_up";
        plan_.dataset.type = "synthetic";
        plan_.dataset.input().dims = plan_.dataset.input().stored_dims = wish_.shape;
        plan_.dataset.target().classes = wish_.classes;
        plan_.dataset.train_samples = wish_.train_samples;
        plan_.dataset.validation_samples = wish_.validation_samples;
        plan_.dataset.test_samples = wish_.test_samples;
        plan_.dataset.source_train_samples = wish_.train_samples + wish_.validation_samples;
        plan_.dataset.attributes = {{"seed", std::int64_t{3}}};
        plan_.resolved_spec = "kind: job\nname: hand_made\n";
        plan::Layer layer;
        layer.name = "dense_1";
        layer.type = "dense";
        layer.output_shape = {wish_.classes};
        layer.output_axes = {AxisKind::feature};
        layer.from = {"input"};
        layer.place = {"hand.yaml", 3, 5};
        layer.parameters = layer.trainable = (element_count(wish_.shape) + 1) * wish_.classes;
        plan_.layers = {layer};
    }

    int buffer(const std::string& name, BufferRole role, std::int64_t bytes, int last_step = 0) {
        const bool transient = role == BufferRole::transient;
        plan_.buffers.push_back(
            {name, role, end_, bytes, transient ? int(plan_.programs.size()) : -1, 0, last_step});
        end_ += padded(bytes);
        most_ = std::max(most_, end_);
        return int(plan_.buffers.size()) - 1;
    }

    /// Dense weights as flatten leaves them: the rows follow the source's physical order.
    Dims weights_dims() const {
        Dims dims = wish_.shape;
        dims.push_back(wish_.classes);
        return dims;
    }
    Order weights_order() const {
        if (wish_.order.empty()) return {};
        Order order;
        for (std::size_t i = 1; i < wish_.order.size(); ++i)
            order.push_back(wish_.order[i] - 1);
        order.push_back(int(wish_.shape.size()));
        return order;
    }

    void parameters() {
        plan::Parameter weights;
        weights.name = "dense_1.weights";
        weights.role = "weights";
        weights.trainable = true;
        weights.dtype = wish_.dtype;
        weights.dims = {element_count(wish_.shape), wish_.classes};
        weights.physical_dims = weights_dims();
        weights.order = weights_order();
        weights.buffer = weights_;
        weights.initializer = {"glorot_uniform", weights.dims[0], weights.dims[1], 1};
        weights.layer = 0;
        plan::Parameter bias = weights;
        bias.name = "dense_1.bias";
        bias.role = "bias";
        bias.dims = bias.physical_dims = {wish_.classes};
        bias.order.clear();
        bias.buffer = bias_;
        bias.initializer = {"zeros", 0, 0, 2};
        plan_.parameters = {weights, bias};
    }

    int tensor(const std::string& name, int buffer, DType dtype, Dims dims, Order order = {}) {
        program_.tensors.push_back({{dtype, std::move(dims), std::move(order)}, name, buffer, 0});
        return int(program_.tensors.size()) - 1;
    }

    void step(const std::string& op, std::vector<int> sources, std::vector<int> destinations,
              Attributes attributes = {}, const std::string& suffix = "") {
        plan::Step step;
        step.name = "dense_1." + op + suffix;
        step.op = op;
        step.kernel = "reference";
        step.sources = std::move(sources);
        step.destinations = std::move(destinations);
        step.attributes = std::move(attributes);
        step.layer = 0;
        step.phase = op == "sgd_update" ? plan::StepPhase::update : plan::StepPhase::forward;
        step.place = {"hand.yaml", 3, 5};
        program_.steps.push_back(std::move(step));
    }

    int exchange(const std::string& op, const std::vector<int>& operands) {
        step(op, operands, operands, {{"collective", std::int64_t{0}}});
        program_.steps.back().kernel = "communicator";
        program_.steps.back().phase = plan::StepPhase::communication;
        return int(program_.steps.size()) - 1;
    }

    void program(const std::string& name, std::int64_t batch, bool training) {
        program_ = {};
        program_.name = name;
        program_.kind = training ? plan::ProgramKind::train : plan::ProgramKind::evaluate;
        program_.phase = training ? plan::ProgramPhase::training : plan::ProgramPhase::inference;
        program_.batch = batch;
        end_ = persistent_;
        const bool exchanges = training && wish_.parallel;
        const int last = exchanges ? 9 : training ? 6 : 2;
        const DType real = wish_.dtype;
        const std::int64_t rows = batch * wish_.classes * real_;
        const auto made = [&](const std::string& what, std::int64_t bytes) {
            return buffer(what, BufferRole::transient, bytes, last);
        };
        Dims source_dims = wish_.shape;
        source_dims.insert(source_dims.begin(), batch);
        const int source = tensor("source", source_, real, source_dims, wish_.order);
        const int labels = tensor("labels", labels_, DType::i32, {batch});
        const int weights = tensor("weights", weights_, real, weights_dims(), weights_order());
        const int bias = tensor("bias", bias_, real, {wish_.classes});
        const int logits = tensor("logits", made("logits", rows), real, {batch, wish_.classes});
        const int probabilities =
            tensor("probabilities", made("probabilities", rows), real, {batch, wish_.classes});
        const int loss = tensor("loss", made("loss", real_), real, {});
        const int accuracy = tensor("accuracy", made("accuracy", 8), DType::f64, {});
        step("dense", {source, weights, bias}, {logits}, {{"bias", true}});
        step("softmax_cross_entropy", {logits, labels}, {loss, probabilities});
        const auto measure = [&] {
            step("categorical_accuracy", {probabilities, labels}, {accuracy});
        };
        if (!exchanges) measure();
        program_.inputs = {{InputRole::feature, 0, source}, {InputRole::target, 0, labels}};
        program_.outputs = {{"loss", loss}, {"categorical_accuracy", accuracy}};
        if (training) update(source, labels, weights, bias, probabilities, rows, made, measure);
        plan_.programs.push_back(program_);
    }

    /// Between the start of the exchange and its end, where there is one, lies `measure`.
    template <class Made, class Measure>
    void update(int source, int labels, int weights, int bias, int probabilities, std::int64_t rows,
                const Made& made, const Measure& measure) {
        const DType real = wish_.dtype;
        const Dims dims = weights_dims();
        const int rate = tensor("learning_rate", rate_, real, {});
        const int diff = tensor("diff", made("diff", rows), real,
                                program_.tensors[std::size_t(probabilities)].dims);
        const std::int64_t weights_bytes = element_count(dims) * real_;
        const std::int64_t bias_bytes = wish_.classes * real_;
        const bool exchanges = wish_.parallel;
        const int bucket = exchanges ? made("gradients_1", padded(weights_bytes) + bias_bytes) : -1;
        const int diff_weights =
            tensor("diff_weights", exchanges ? bucket : made("diff_weights", weights_bytes), real,
                   dims, weights_order());
        const int diff_bias = tensor(
            "diff_bias", exchanges ? bucket : made("diff_bias", bias_bytes), real, {wish_.classes});
        if (exchanges) program_.tensors.back().offset = padded(weights_bytes);
        const int new_weights = tensor("weights.new", weights_, real, dims, weights_order());
        const int new_bias = tensor("bias.new", bias_, real, {wish_.classes});
        step("softmax_cross_entropy_backward", {probabilities, labels}, {diff});
        if (exchanges) {
            const int weight = tensor("batch_weight", weight_, real, {});
            step("weigh_gradient", {diff, weight}, {diff});
            program_.inputs.push_back({InputRole::batch_weight, 0, weight});
        }
        step("dense_backward_weights", {source, diff}, {diff_weights, diff_bias},
             {{"bias", true}, {"weights_shape", dims}});
        if (exchanges) {
            const std::vector<int> gradients = {diff_weights, diff_bias};
            plan::Collective collective;
            collective.name = "gradients_1";
            collective.kind = plan::CollectiveKind::all_reduce;
            collective.buffer = bucket;
            collective.bytes = padded(weights_bytes) + bias_bytes;
            collective.dtype = real;
            collective.parameters = {0, 1};
            collective.start = exchange("all_reduce_start", gradients);
            measure();
            collective.wait = exchange("all_reduce_wait", gradients);
            program_.collectives = {collective};
        }
        const Attributes sgd{{"momentum", 0.0}, {"nesterov", false}, {"weight_decay", 0.0}};
        step("sgd_update", {weights, diff_weights, rate}, {new_weights}, sgd, ".weights");
        step("sgd_update", {bias, diff_bias, rate}, {new_bias}, sgd, ".bias");
        program_.inputs.push_back({InputRole::learning_rate, 0, rate});
    }

    HandMade wish_;
    std::int64_t real_;
    plan::Plan plan_;
    plan::Program program_;
    std::int64_t end_ = 0;
    std::int64_t persistent_ = 0;
    std::int64_t most_ = 0;
    int weights_ = -1, bias_ = -1, source_ = -1, labels_ = -1, rate_ = -1, weight_ = -1;
};

}  // namespace

plan::Plan hand_made_plan(const HandMade& wish) {
    return Builder(wish).build();
}

}  // namespace dtnn::runtime
