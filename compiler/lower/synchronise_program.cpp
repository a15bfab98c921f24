#include "compiler/lower/synchronise_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "compiler/ops/emit.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"
#include "plan/rules/named_operators.hpp"

namespace dtnn::compiler {
namespace {

class Synchroniser {
  public:
    Synchroniser(const Graph& train, bool blocking) : train_(train), blocking_(blocking) {
        graph_.name = train.name;
        graph_.training = true;
        graph_.layers = train.layers;
    }

    Graph run(std::int64_t bucket_bytes) {
        std::vector<std::int64_t> bytes;
        for (const Parameter& parameter : train_.parameters) {
            if (!is_averaged(parameter)) continue;
            const Type& type = train_.type(parameter.value);
            parameters_.push_back(graph_.add_parameter(parameter, type));
            bytes.push_back(type.bytes());
        }
        if (parameters_.empty()) return std::move(graph_);
        share_ = graph_.add_input(plan::name_of(plan::InputRole::share),
                                  {graph_.type(parameters_[0]).dtype, {}, {}});
        std::size_t begin = 0;
        int number = 0;
        for (const std::size_t end : bucket_ends(bytes, bucket_bytes)) {
            start({parameters_.data() + begin, end - begin}, fmt::format("weights_{}", ++number));
            if (blocking_) end_all();
            begin = end;
        }
        end_all();
        return std::move(graph_);
    }

  private:
    struct Started {
        std::string name;
        std::span<const ValueId> parameters;
        ValueList sent;
    };

    bool is_averaged(const Parameter& parameter) const {
        if (parameter.optimizer_state && parameter.kind != plan::ParameterKind::average)
            return false;
        return std::any_of(train_.updates.begin(), train_.updates.end(),
                           [&](const Update& update) { return update.state == parameter.value; });
    }

    const Parameter& parameter_of(ValueId value) const {
        return graph_.parameter(graph_.value(value).parameter);
    }

    ValueId step(const Parameter& parameter, const char* op, ValueList inputs, Phase phase,
                 const std::string& name, Attributes attributes = {}) {
        Node node;
        node.op = op;
        node.attributes = std::move(attributes);
        node.inputs = std::move(inputs);
        node.phase = phase;
        node.layer = parameter.layer;
        node.place = parameter.place;
        return emit(graph_, std::move(node), name)[0];
    }

    ValueList end_of_exchange(const char* op, const std::string& name, ValueList inputs,
                              std::span<const ValueId> parameters, const std::string& suffix) {
        Node node;
        node.op = op;
        node.inputs = std::move(inputs);
        node.attributes = {{"collective", name}};
        node.phase = Phase::communication;
        std::vector<Type> types;
        std::vector<std::string> names;
        for (const ValueId parameter : parameters) {
            types.push_back(graph_.type(parameter));
            names.push_back(parameter_of(parameter).name + suffix);
        }
        const NodeId id = graph_.add_node(std::move(node), types, names.front(), names);
        return graph_.node(id).outputs;
    }

    void start(std::span<const ValueId> parameters, const std::string& name) {
        ValueList weighed;
        for (const ValueId value : parameters) {
            const Parameter parameter = parameter_of(value);
            ValueList operands;
            operands.push_back(value);
            operands.push_back(share_);
            weighed.push_back(step(parameter, plan::kWeigh, operands, Phase::communication,
                                   parameter.name + ".share"));
        }
        started_.push_back({name, parameters,
                            end_of_exchange(plan::operator_of(plan::kAllReduceStart), name, weighed,
                                            parameters, ".sent")});
    }

    void end_all() {
        for (const Started& one : started_) {
            const ValueList means = end_of_exchange(plan::operator_of(plan::kAllReduceWait),
                                                    one.name, one.sent, one.parameters, ".mean");
            for (std::size_t i = 0; i < one.parameters.size(); ++i) {
                const Parameter parameter = parameter_of(one.parameters[i]);
                ValueList operands;
                operands.push_back(means[i]);
                graph_.updates.push_back(
                    {one.parameters[i], step(parameter, plan::kCopy, operands, Phase::update,
                                             parameter.name + ".new", plan::copy_attributes())});
            }
        }
        started_.clear();
    }

    const Graph& train_;
    bool blocking_;
    Graph graph_;
    std::vector<ValueId> parameters_;
    ValueId share_;
    std::vector<Started> started_;  ///< and not waited for
};

}  // namespace

Graph synchronise_graph(const Graph& train, std::int64_t bucket_bytes, bool blocking) {
    return Synchroniser(train, blocking).run(bucket_bytes);
}

}  // namespace dtnn::compiler
