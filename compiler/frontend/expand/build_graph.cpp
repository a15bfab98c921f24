// From a validated model to its forward graph, through the operators' shape rules.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/name_pattern.hpp"
#include "compiler/frontend/expand/expansion_scope.hpp"
#include "compiler/frontend/expand/expansion_shapes.hpp"
#include "compiler/frontend/read/loss_check.hpp"
#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/tables/components.hpp"
#include "compiler/ir/graph.hpp"
#include "compiler/ir/printer.hpp"
#include "compiler/ops/axis.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/ops/loss/losses.hpp"
#include "plan/rules/label_sequences.hpp"
#include "plan/rules/parameter_groups.hpp"

namespace dtnn::compiler {
namespace {

/// Passes add inputs of these names, which the runtime fills by role, so the value of a layer that
/// is called so steps aside. (`source` is there before every layer.)
std::string value_name(const std::string& layer) {
    return is_reserved_input(layer) ? layer + ".dst" : layer;
}

class GraphBuilder {
  public:
    GraphBuilder(const JobSpec& job, std::int64_t batch, Diagnostics& diagnostics)
        : job_(job), diagnostics_(diagnostics) {
        graph_.name = job.model.name;
        for (std::size_t i = 0; i < job.model.inputs.size(); ++i) {
            const InputSpec& input = job.model.inputs[i];
            inputs_.push_back(graph_.add_input(
                input.name.empty() ? "source" : input.name,
                type_of_batch(batch, input.integers() ? DType::i32 : job.training.dtype,
                              shape_of(job.model, kModelInput - int(i)))));
        }
    }

    Graph build() {
        const std::vector<LayerSpec>& layers = job_.model.layers;
        if (diagnostics_.has_errors() || layers.empty()) return {};
        graph_.layers.reserve(layers.size());
        graph_.nodes.reserve(layers.size());
        graph_.values.reserve(4 * layers.size());
        graph_.parameters.reserve(2 * layers.size());
        values_.reserve(layers.size());
        for (const LayerSpec& layer : layers)
            if (!add(layer)) return std::move(graph_);
        graph_.outputs.push_back({"predictions", values_.back()});
        if (suits_labels()) check_predictions(layers.back());
        if (!diagnostics_.has_errors()) check_labels(job_, diagnostics_);
        if (!diagnostics_.has_errors()) check_model_end(job_, diagnostics_);
        if (!diagnostics_.has_errors()) check_groups();
        if (!diagnostics_.has_errors()) check_something_trains();
        return std::move(graph_);
    }

  private:
    ValueId value(int source) const {
        return source < 0 ? inputs_[std::size_t(-1 - source)] : values_[std::size_t(source)];
    }
    std::string name_of(int source) const {
        if (source >= 0) return graph_.layers[std::size_t(source)].name;
        const std::string& name = job_.model.input_of(source).name;
        return name.empty() ? "input" : name;
    }

    bool add(const LayerSpec& spec) {
        const OpDef& def = op(spec.type);
        const LayerId layer(graph_.layers.size());
        plan::Layer row;
        row.index = int(graph_.layers.size());
        row.name = spec.name;
        row.type = spec.type;
        row.attributes = spec.fields;
        row.place = spec.span.place;
        for (const int source : spec.sources)
            row.from.push_back(name_of(source));

        Node node;
        node.op = spec.type;
        node.attributes = spec.fields;
        if (def.takes_integers())
            node.attributes["dtype"] = std::string(plan::name_of(job_.training.dtype));
        node.layer = layer;
        node.place = spec.span.place;
        std::vector<Type> types;
        for (const int source : spec.sources) {
            node.inputs.push_back(value(source));
            types.push_back(graph_.type(value(source)));
        }

        // Parameters join the graph only when the layer fits: a refused layer must not leave half
        // of itself.
        std::vector<Operand> parameters;
        const Type input = types.front();
        for (const auto* rules : {&def.parameters, &spec.parameters}) {
            for (const ParameterRule& rule : *rules) {
                std::optional<Parameter> parameter = parameter_of(rule, spec, input);
                if (!parameter) continue;
                if (const auto shared = spec.shared.find(rule.role); shared != spec.shared.end()) {
                    const ValueId value = parameter_value(shared->second.layer, rule.role);
                    if (shared->second.form == SharedForm::transposed)
                        node.attributes[kTransposed] = true;
                    row.attributes.erase(rule.initializer_field());
                    types.push_back(graph_.type(value));
                    parameters.push_back({value, {}});
                    continue;
                }
                parameter->layer = layer;
                types.push_back(rule.type(input, spec.fields, job_.training.dtype));
                parameters.push_back({{}, std::move(*parameter)});
            }
        }
        if (spec.share) row.attributes[plan::kShare] = job_.model.layers[*spec.share].name;
        std::vector<Type> results;
        if (const auto error = infer(def, types, node.attributes, results)) {
            // Shapes fit a batch of one, or there were no layers; a larger batch may be too large.
            diagnostics_.error(Code::shape_error, spec.span,
                               fmt::format("in batches of {}, {}", input.dims[0], error->text));
            return false;
        }
        std::size_t operand = spec.sources.size();
        first_parameter_.push_back(graph_.parameters.size());
        for (auto& [shared, parameter] : parameters) {
            const Type& type = types[operand++];
            if (shared.valid()) {
                node.inputs.push_back(shared);
                continue;
            }
            parameter.initializer.stream = std::int64_t(graph_.parameters.size());
            const std::int64_t elements = element_count(parameter.dims);
            row.parameters += elements;
            row.trainable += parameter.trainable ? elements : 0;
            if (parameter.role == "weights") row.weights_shape = parameter.dims;
            node.inputs.push_back(graph_.add_parameter(std::move(parameter), type));
        }
        row.forward_flops =
            flops_per_sample(def, types, results, spec.sources.size(), node.attributes);
        const Type& result = results.front();
        row.output_shape.assign(result.dims.begin() + 1, result.dims.end());
        row.output_axes.assign(result.axes.begin() + 1, result.axes.end());
        graph_.layers.push_back(std::move(row));
        const NodeId id = graph_.add_node(std::move(node), results, value_name(spec.name));
        values_.push_back(graph_.node(id).outputs.front());
        return true;
    }

    /// What a layer reads of another one, or its own parameter.
    struct Operand {
        ValueId shared;
        Parameter own;
    };

    /// Of a layer that stands in the graph and has the parameter as its own.
    ValueId parameter_value(std::size_t layer, const std::string& role) const {
        std::size_t i = first_parameter_[layer];
        while (graph_.parameters[i].role != role)
            ++i;
        return graph_.parameters[i].value;
    }

    /// Nothing where the layer does not have it.
    static std::optional<Parameter> parameter_of(const ParameterRule& rule, const LayerSpec& spec,
                                                 const Type& input) {
        Parameter parameter;
        parameter.dims = rule.dims(input, spec.fields);
        if (parameter.dims.empty()) return std::nullopt;
        parameter.name = fmt::format("{}.{}", spec.name, rule.role);
        parameter.role = rule.role;
        parameter.trainable = rule.trainable;
        if (!rule.trainable) parameter.kind = plan::ParameterKind::moving_statistic;
        parameter.initializer = rule.initializer(parameter.dims, spec.fields);
        parameter.place = spec.span.place;
        return parameter;
    }

    static std::int64_t flops_per_sample(const OpDef& def, std::vector<Type> inputs,
                                         std::vector<Type> results, std::size_t activations,
                                         const Attributes& attributes) {
        for (std::size_t i = 0; i < activations; ++i)
            inputs[i].dims[0] = 1;
        for (Type& result : results)
            result.dims[0] = 1;
        return def.cost ? def.cost(inputs, results, attributes).flops : 0;
    }

    /// False where the loss is one of sequences and the labels are none, or the reverse: then it is
    /// not the predictions that are amiss.
    bool suits_labels() const {
        const plan::Training& training = job_.training.training;
        const LossInfo* loss = find_loss(training.loss, training.loss_attributes);
        return job_.model_alone || !loss ||
               loss->takes_labels(plan::LabelKind::sequence) ==
                   plan::has_sequences(job_.dataset.dataset);
    }

    void check_predictions(const LayerSpec& last) {
        const std::int64_t classes = job_.dataset.dataset.target().classes;
        const Type& type = graph_.type(values_.back());
        if (classes == 0) return;
        if (job_.dataset.dataset.target().kind == plan::LabelKind::input) {
            check_target(last, type);
            return;
        }
        if (plan::has_sequences(job_.dataset.dataset)) {
            check_sequences(last, classes, type);
            return;
        }
        if (!job_.dataset.dataset.target().dims.empty()) {
            check_places(last, classes, type);
            return;
        }
        const bool rows = is_rows(type);
        const std::int64_t given = features_of(type);
        if (rows && given == classes) return;
        const std::string fact =
            rows ? fmt::format("the model gives {} predictions", given)
                 : fmt::format("the model gives {} instead of a list of predictions",
                               sample_text(type));
        // The width of the predictions is most often decided by a dense layer before the last.
        Span span = last.span;
        std::string help =
            "end with `flatten` and `- dense: {units: " + std::to_string(classes) + "}`";
        if (rows)
            for (auto row = graph_.layers.rbegin(); row != graph_.layers.rend(); ++row)
                if (row->type == "dense" && row->output_shape == Dims{given}) {
                    span = {row->place, int(row->type.size())};
                    help = fmt::format("write `units: {}` for `{}`", classes, row->name);
                    break;
                }
        Diagnostic& error =
            diagnostics_.error(Code::classes_mismatch, span,
                               fmt::format("{}, but the dataset `{}` has {} classes", fact,
                                           job_.dataset.dataset.name, classes));
        const auto declared = job_.dataset.spans.find("classes");
        error.notes.push_back(
            {declared == job_.dataset.spans.end() ? job_.dataset.span : declared->second,
             "the dataset is here"});
        error.help = help;
    }

    /// Where a sample is its own label, the predictions are another of its shape, or a row of as
    /// many numbers.
    void check_target(const LayerSpec& last, const Type& type) {
        const Dims& dims = type.dims;
        const plan::Dataset& dataset = job_.dataset.dataset;
        const std::int64_t numbers = element_count(dataset.input().dims);
        const Dims& wanted = dataset.input().dims;
        if (gives(type, wanted, dataset.input().axes) || dims == Dims{dims[0], numbers}) return;
        Diagnostic& error = diagnostics_.error(
            Code::classes_mismatch, last.span,
            fmt::format("the model gives {}, but with `target: input` of the dataset `{}` it must "
                        "give what it reads, {}",
                        sample_text(type), dataset.name, shape_text(dataset.input().dims)));
        error.notes.push_back({span_or(job_.dataset.spans, "target", job_.dataset.span),
                               "the target is chosen here"});
        error.help = is_rows(type) || !plan::has_image(dataset)
                         ? fmt::format("end with `- dense: {{units: {}}}`",
                                       is_rows(type) ? numbers : wanted.back())
                         : fmt::format(
                               "end with {} filters of {} x {} pixels, such as `- conv2d: "
                               "{{filters: {}, kernel: 3, padding: same}}` behind the last "
                               "`upsample2d`",
                               wanted[0], wanted[1], wanted[2], wanted[0]);
    }

    /// Whether a batch of the type has samples of these axes.
    static bool gives(const Type& type, const Dims& sample, const Axes& axes) {
        return std::equal(type.dims.begin() + 1, type.dims.end(), sample.begin(), sample.end()) &&
               std::equal(type.axes.begin() + 1, type.axes.end(), axes.begin(), axes.end());
    }

    /// With a class for every pixel or step the predictions are what is read, with a feature for
    /// each class.
    void check_places(const LayerSpec& last, std::int64_t classes, const Type& type) {
        const plan::Dataset& dataset = job_.dataset.dataset;
        Dims wanted = dataset.input().dims;
        Axes axes = dataset.input().axes;
        if (const int features = feature_axis(axes); features >= 0) {
            wanted[std::size_t(features)] = classes;
        } else {
            wanted.push_back(classes);
            axes.push_back(AxisKind::feature);
        }
        if (gives(type, wanted, axes)) return;
        const bool image = plan::has_image(dataset);
        Diagnostic& error = diagnostics_.error(
            Code::classes_mismatch, last.span,
            fmt::format("the model gives {}, but the dataset `{}` has a label of {} classes for "
                        "each of {} {}, which takes {}",
                        sample_text(type), dataset.name, classes,
                        fmt::join(dataset.target().dims, "x"), image ? "pixels" : "steps",
                        sample_text(wanted, axes)));
        const auto declared = job_.dataset.spans.find("labels");
        error.notes.push_back(
            {declared == job_.dataset.spans.end() ? job_.dataset.span : declared->second,
             "the dataset is here"});
        error.help = fmt::format("end with `- {}}}` and `- softmax`",
                                 image ? fmt::format("conv2d: {{filters: {}, kernel: 1", classes)
                                       : fmt::format("dense: {{units: {}", classes));
    }

    /// With a sequence of labels the predictions are a row for each of any number of steps.
    void check_sequences(const LayerSpec& last, std::int64_t classes, const Type& type) {
        const bool steps =
            Axes(type.axes.begin() + 1, type.axes.end()) == Axes{AxisKind::step, AxisKind::feature};
        if (steps && type.dims.back() == classes) return;
        Diagnostic& error = diagnostics_.error(
            Code::classes_mismatch, last.span,
            fmt::format(
                "the model gives {}, but the dataset `{}` has a sequence of labels for each "
                "sample, which takes steps of {} numbers, one for each class",
                sample_text(type), job_.dataset.dataset.name, classes));
        error.notes.push_back(
            {span_or(job_.dataset.spans, "labels", job_.dataset.span), "the labels are said here"});
        error.help = steps
                         ? fmt::format(
                               "write `- dense: {{units: {}}}` before the `log_softmax`; "
                               "`classes` of the dataset counts the blank",
                               classes)
                         : "keep the steps: leave out `last_step`, `flatten` and means over steps; "
                           "`reshape: {shape: [steps, features]}` makes some of an image";
    }

    const std::vector<plan::ParameterGroup>& groups() const {
        return job_.training.training.groups;
    }

    /// Of the group that counts for the parameter.
    std::optional<std::size_t> group_of(const Parameter& parameter) const {
        const plan::ParameterGroup* group = plan::group_of(job_.training.training, parameter.name);
        if (!group) return std::nullopt;
        return std::size_t(group - groups().data());
    }

    Span group_span(std::size_t index, std::string_view field) const {
        return span_or(job_.training.spans, fmt::format("groups[{}].{}", index, field),
                       job_.training.span);
    }

    /// A group whose pattern is misspelt, or covered by another, would silently train otherwise
    /// than was meant.
    void check_groups() {
        for (std::size_t i = 0; i < groups().size(); ++i) {
            std::vector<std::string> names;
            std::optional<std::size_t> taker;  // the last group that counts for what matches
            for (const Parameter& parameter : graph_.parameters) {
                if (!parameter.trainable) continue;
                names.push_back(parameter.name);
                if (matches_pattern(parameter.name, groups()[i].pattern))
                    taker = std::max(taker, group_of(parameter));
            }
            if (taker == i) continue;
            if (taker) {
                Diagnostic& error = diagnostics_.error(
                    Code::unmatched_pattern, group_span(i, "parameters"),
                    fmt::format("groups before this one take every parameter that matches `{}`",
                                groups()[i].pattern),
                    "of the groups that match a parameter the first counts: put this one first");
                error.notes.push_back({group_span(*taker, "parameters"), "this is one of them"});
                continue;
            }
            Diagnostic& error = diagnostics_.error(
                Code::unmatched_pattern, group_span(i, "parameters"),
                fmt::format("no parameter that is trained matches `{}`", groups()[i].pattern));
            error.help = suggest(groups()[i].pattern, names, "");
            constexpr std::size_t kShown = 4;
            if (error.help.empty() && !names.empty())
                error.help = fmt::format(
                    "the parameters are called {}{}",
                    fmt::join(names.begin(),
                              names.begin() + static_cast<long>(std::min(kShown, names.size())),
                              ", "),
                    names.size() > kShown ? " and so on" : "");
        }
    }

    /// A model that has parameters and freezes them all would run for hours to no end.
    void check_something_trains() {
        std::optional<std::size_t> last;  // that freezes a parameter
        for (const Parameter& parameter : graph_.parameters) {
            if (!parameter.trainable) continue;
            if (!group_freezes(job_.training.training, parameter.name)) return;
            last = group_of(parameter);
        }
        if (!last) return;
        diagnostics_.error(
            Code::nothing_trains, group_span(*last, "frozen"),
            "the groups freeze every parameter of the model; nothing is left to train",
            "take the parameters that should learn out of the groups with `frozen`");
    }

    const JobSpec& job_;
    Diagnostics& diagnostics_;
    Graph graph_;
    std::vector<ValueId> inputs_;
    std::vector<ValueId> values_;
    std::vector<std::size_t> first_parameter_;  ///< of the graph's, by layer
};

}  // namespace

Graph build_graph(const JobSpec& job, std::int64_t batch, Diagnostics& diagnostics) {
    return GraphBuilder(job, batch, diagnostics).build();
}

}  // namespace dtnn::compiler
