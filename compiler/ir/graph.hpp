#pragma once
/// The graph: a value type of vectors indexed by typed ids. Nodes are in topological order; every
/// value has one producer (or none: an input, a parameter, a state). No shared ownership, no hidden
/// edges.

#include <string>
#include <vector>

#include "compiler/support/typed_id.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

using plan::Attributes;
using plan::Dims;
using plan::DType;
using plan::Order;
using plan::Place;

using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;
using ParameterId = Id<struct ParameterTag>;
using LayerId = Id<struct LayerTag>;

/// Logical shape (batch first; batch, channels, height, width for images) and, after the layout
/// pass, the physical order of the axes (empty: row-major).
struct Type {
    DType dtype = DType::f32;
    Dims dims;
    Order order;
    bool operator==(const Type&) const = default;
    std::int64_t elements() const { return plan::element_count(dims); }
    std::int64_t bytes() const { return elements() * plan::size_of(dtype); }
};

enum class ValueKind { input, parameter, result };

struct Value {
    std::string name;  ///< without % or @; unique in the graph
    Type type;
    ValueKind kind = ValueKind::result;
    NodeId producer;        ///< results only
    int output = 0;         ///< which of the producer's outputs
    ParameterId parameter;  ///< parameters only
};

enum class Phase { forward, backward, update, metric };

struct Node {
    std::string op;  ///< a name in ops.def
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
    Attributes attributes;
    Phase phase = Phase::forward;
    LayerId layer;  ///< invalid: made by the compiler for the whole model (loss, metric)
    Place place;    ///< the spec line that asked for it
};

/// A persistent value: weights, moving statistics, optimizer state.
struct Parameter {
    ValueId value;
    std::string name;  ///< "conv2d_1.weights"
    std::string
        role;  ///< weights, bias, gamma, beta, running_mean, running_variance, velocity, ...
    bool trainable = false;
    bool optimizer_state = false;
    Dims dims;  ///< as users know it; the value's type may be a finer view of the same elements
    plan::Initializer initializer;
    LayerId layer;
    Place place;
};

/// At the end of a step `state` (a parameter) becomes `value`. Memory planning makes both the same
/// buffer, and the schedule runs every other reader of `state` before the producer of `value`.
struct Update {
    ValueId state;
    ValueId value;
};

struct GraphOutput {
    std::string name;
    ValueId value;
};

struct Graph {
    std::string name;
    bool training = false;  ///< set by specialise_phase; false: inference, or not yet decided
    std::vector<Node> nodes;
    std::vector<Value> values;
    std::vector<Parameter> parameters;
    std::vector<ValueId> inputs;
    std::vector<GraphOutput> outputs;
    std::vector<Update> updates;
    std::vector<plan::Layer> layers;  ///< the layer table; passes do not change it
    int prologue =
        0;  ///< the first `prologue` nodes run once per pass over data (set by hoist_invariant)

    Node& node(NodeId id) { return nodes[id.index()]; }
    const Node& node(NodeId id) const { return nodes[id.index()]; }
    Value& value(ValueId id) { return values[id.index()]; }
    const Value& value(ValueId id) const { return values[id.index()]; }
    const Type& type(ValueId id) const { return values[id.index()].type; }
    const Parameter& parameter(ParameterId id) const { return parameters[id.index()]; }

    ValueId add_input(std::string name, Type type);
    /// Adds the parameter and its value (named like it); `type` defaults to row-major
    /// `parameter.dims`.
    ValueId add_parameter(Parameter parameter, Type type);
    /// Appends a node with fresh result values of the given types, named after `name` ("name",
    /// "name.1", ...), made unique. Does not infer shapes: see ops/emit.hpp for that.
    NodeId add_node(Node node, const std::vector<Type>& types, const std::string& name);
    std::string unique_name(const std::string& wanted) const;

    /// For each value, the nodes that read it, in order.
    std::vector<std::vector<NodeId>> readers() const;
};

const char* name_of(Phase phase);

}  // namespace dtnn::compiler
