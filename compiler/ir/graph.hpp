#pragma once
/// The graph: a value type of vectors indexed by typed ids. Nodes are in topological order; every
/// value has one producer (or none: an input, a parameter, a state). No hidden edges. Passes copy
/// nodes and values many times, so those are small: names and types are kept by a pool that a graph
/// shares with the graphs made of it (pool.hpp) and are valid as long as one of them is there.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/pool.hpp"
#include "compiler/ir/taken_names.hpp"
#include "compiler/ir/value_list.hpp"
#include "compiler/support/typed_id.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

using plan::Place;

using NodeId = Id<struct NodeTag>;
using ParameterId = Id<struct ParameterTag>;
using LayerId = Id<struct LayerTag>;

enum class ValueKind : std::uint8_t { input, parameter, result };

struct Value {
    Name name;     ///< without % or @; unique in the graph; changed by Graph::rename
    TypeRef type;  ///< changed by Graph::set_type
    ValueKind kind = ValueKind::result;
    plan::InputRole role = plan::InputRole::feature;  ///< inputs only
    NodeId producer;                                  ///< results only
    int output = 0;         ///< which of the producer's outputs, of the features or targets
    ParameterId parameter;  ///< parameters only
};

using Phase = plan::StepPhase;

struct Node {
    Symbol op;  ///< a name in ops.def
    ValueList inputs;
    ValueList outputs;
    Attributes attributes;
    Phase phase = Phase::forward;
    LayerId layer;  ///< invalid: made by the compiler for the whole model (loss, metric)
    Origin place;   ///< the spec line that asked for it
};

/// A persistent value: weights, moving statistics, optimizer state.
struct Parameter {
    ValueId value;
    std::string name;  ///< "conv2d_1.weights"
    Symbol role;  ///< weights, bias, gamma, beta, running_mean, running_variance, velocity, ...
    plan::ParameterKind kind = plan::ParameterKind::weight;
    bool trainable = false;
    bool optimizer_state = false;
    bool by_rank = false;  ///< each rank has values of its own
    bool single = false;   ///< optimizer state: one number, not one for each weight
    Dims dims;  ///< as users know it; the value's type may be a finer view of the same elements
    plan::Initializer initializer;
    LayerId layer;
    Origin place;
};

/// At the end of a step `state` (a parameter, or what a program keeps: plan::InputRole) becomes
/// `value`. Memory planning makes both the same
/// buffer, and the schedule runs every other reader of `state` before the producer of `value`.
struct Update {
    ValueId state;
    ValueId value;
};

struct GraphOutput {
    std::string name;
    ValueId value;
};

/// Rows that copies of a graph share, used like a vector; adding to shared ones copies them first.
template <class Row>
class SharedTable {
  public:
    using Rows = std::vector<Row>;

    const Rows& rows() const {
        static const Rows none;
        return rows_ ? *rows_ : none;
    }
    operator const Rows&() const { return rows(); }
    std::size_t size() const { return rows().size(); }
    bool empty() const { return rows().empty(); }
    const Row& operator[](std::size_t index) const { return rows()[index]; }
    const Row& back() const { return rows().back(); }
    auto begin() const { return rows().begin(); }
    auto end() const { return rows().end(); }
    auto rbegin() const { return rows().rbegin(); }
    auto rend() const { return rows().rend(); }
    void push_back(Row row) { own().push_back(std::move(row)); }
    void reserve(std::size_t count) { own().reserve(count); }

  protected:
    Rows& own() {
        if (!rows_)
            rows_ = std::make_shared<Rows>();
        else if (rows_.use_count() > 1)
            rows_ = std::make_shared<Rows>(*rows_);
        return *rows_;
    }

  private:
    std::shared_ptr<Rows> rows_;  ///< null: empty
};

/// The parameters of a graph. Passes copy them all and change none.
class ParameterTable : public SharedTable<Parameter> {
  public:
    /// The values, in the order of the parameters, after a walk has given them new ids.
    void set_values(const std::vector<ValueId>& values);
};

/// The layer table of a model. It is written once, by the front end, and then belongs to every
/// graph that a pass makes of the model's.
using LayerTable = SharedTable<plan::Layer>;

/// For each value of a graph, the nodes that read it: once each, in order.
class Readers {
  public:
    explicit Readers(const struct Graph& graph);
    std::span<const NodeId> operator[](std::size_t value) const {
        return {nodes_.data() + begin_[value], nodes_.data() + end_[value]};
    }

  private:
    std::vector<std::uint32_t> begin_, end_;  // by value: a range of nodes_
    std::vector<NodeId> nodes_;
};

struct Graph {
    std::string name;
    bool training = false;  ///< set by specialise_phase; false: inference, or not yet decided
    std::vector<Node> nodes;
    std::vector<Value> values;
    ParameterTable parameters;
    std::vector<ValueId> inputs;
    std::vector<GraphOutput> outputs;
    std::vector<Update> updates;
    LayerTable layers;  ///< passes do not change it
    int prologue =
        0;  ///< the first `prologue` nodes run once per pass over data (set by hoist_invariant)

    Node& node(NodeId id) { return nodes[id.index()]; }
    const Node& node(NodeId id) const { return nodes[id.index()]; }
    Value& value(ValueId id) { return values[id.index()]; }
    const Value& value(ValueId id) const { return values[id.index()]; }
    const Type& type(ValueId id) const { return *values[id.index()].type; }
    const Parameter& parameter(ParameterId id) const { return parameters[id.index()]; }

    /// The role of an input is what its name says: the word of a role, "labels" or "targets" for
    /// the target; any other name is the next feature's.
    /// Its axes are the usual ones (axes.hpp) where the type has none.
    ValueId add_input(const std::string& name, Type type);
    /// Likewise of that role, whatever the name.
    ValueId add_input(const std::string& name, Type type, plan::InputRole role);
    /// The input of that role; an invalid id where there is none.
    ValueId find_input(plan::InputRole role) const;
    /// Adds the parameter and its value (named like it); `type` defaults to row-major
    /// `parameter.dims`.
    ValueId add_parameter(Parameter parameter, Type type);
    /// Appends a node with fresh result values of the given types, named after `name` ("name",
    /// "name.1", ...), made unique. Does not infer shapes: see ops/emit.hpp for that.
    /// Result i is called `result_names[i]` instead where that is given.
    NodeId add_node(Node node, const std::vector<Type>& types, const std::string& name,
                    const std::vector<std::string>& result_names = {});
    /// `wanted`, or with the first number that makes it unique among the values. The time does not
    /// depend on the size of the graph.
    Name unique_name(const std::string& wanted);
    bool has_value_named(const std::string& name);
    bool has_value_named(Name wanted) { return names_.contains(values, wanted); }
    void rename(ValueId value, const std::string& name);
    void rename(ValueId value, Name name);
    void set_type(ValueId value, const Type& type);
    /// Appends a value of a graph of the same pool under its name, or under the first number that
    /// makes it unique.
    ValueId add_value(const Value& value);
    /// Shares the pool of another graph, whose names and types the values of this one, which has
    /// none yet, may then have; and makes room for as many values.
    void continue_from(const Graph& other);
    /// Whether the pool keeps this very map of attributes.
    bool keeps(const Attributes& attributes) const { return pool_ && pool_->keeps(attributes); }
    /// How many names and types the pool keeps: those of values have numbers below.
    std::size_t pool_names() const { return pool_ ? pool_->names() : 0; }
    std::size_t pool_types() const { return pool_ ? pool_->types() : 0; }

    Readers readers() const { return Readers(*this); }

  private:
    Pool& pool();
    Name take_name(const std::string& wanted);

    std::shared_ptr<Pool> pool_;  ///< null: nothing kept yet
    TakenNames names_;
};

/// Whether an input of this name is no feature (Graph::add_input).
bool is_reserved_input(std::string_view name);

/// The node that produces the value; null for inputs and parameters.
const Node* producer(const Graph& graph, ValueId value);

}  // namespace dtnn::compiler
