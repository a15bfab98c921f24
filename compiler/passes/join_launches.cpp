#include <algorithm>
#include <map>
#include <tuple>

#include "base/tensor/members.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/rewriting.hpp"
#include "plan/devices.hpp"

namespace dtnn::compiler {
namespace {

/// Of what the members of one node read first: gradients wait for those of all members.
constexpr std::int64_t kMostBytes = std::int64_t{32} << 20;

class Joiner {
  public:
    explicit Joiner(const Graph& graph)
        : graph_(graph), r_(graph), group_of_(graph.nodes.size(), kNone) {}

    std::optional<Graph> run() {
        collect();
        if (std::all_of(groups_.begin(), groups_.end(),
                        [](const Group& group) { return group.members.size() < 2; }))
            return std::nullopt;
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
            const std::size_t g = group_of_[n];
            if (g == kNone || groups_[g].members.size() < 2)
                r_.copy(graph_.nodes[n]);
            else if (groups_[g].place == n)
                join(groups_[g].members);
        }
        return r_.take();
    }

  private:
    static constexpr std::size_t kNone = ~std::size_t{0};

    struct Group {
        std::vector<std::size_t> members;
        std::size_t
            place;  ///< the node where all operands are there, and nobody reads a result yet
        std::int64_t bytes;
    };

    bool is_parameter(ValueId value) const {
        return graph_.value(value).kind == ValueKind::parameter;
    }

    /// Groups stay open for further members until one of their results is read.
    void collect() {
        std::map<std::tuple<std::string, Attributes::Map, Phase>, std::size_t> open;
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
            const Node& node = graph_.nodes[n];
            for (const ValueId input : node.inputs)
                if (graph_.value(input).kind == ValueKind::result)
                    if (const auto g = group_of_[graph_.value(input).producer.index()]; g != kNone)
                        std::erase_if(open, [&](const auto& one) {
                            return one.second == g && !of_parameters(groups_[g]);
                        });
            if (!op(node.op).joins || !is_parameter(node.inputs[0])) continue;
            const std::int64_t bytes = graph_.type(node.inputs[0]).bytes();
            const auto key = std::tuple(std::string(node.op), node.attributes.map(), node.phase);
            const auto [found, fresh] = open.try_emplace(key, groups_.size());
            if (!fresh && groups_[found->second].bytes + bytes > kMostBytes)
                found->second = groups_.size();
            if (found->second == groups_.size()) groups_.push_back({{}, n, 0});
            Group& group = groups_[found->second];
            group.members.push_back(n);
            group.bytes += bytes;
            if (!of_parameters(group)) group.place = n;
            group_of_[n] = found->second;
        }
    }

    /// Whether all that its members read is there before the first node.
    bool of_parameters(const Group& group) const {
        const ValueList& inputs = graph_.nodes[group.members[0]].inputs;
        return std::all_of(inputs.begin(), inputs.end(),
                           [&](ValueId v) { return graph_.value(v).kind != ValueKind::result; });
    }

    void join(const std::vector<std::size_t>& members) {
        Node joined;
        std::vector<Type> types;
        std::vector<std::string> names;
        for (const std::size_t n : members) {
            const Node node = r_.mapped(graph_.nodes[n]);
            if (joined.inputs.empty()) {
                joined = node;
                joined.layer = LayerId();
            } else {
                joined.inputs.insert(joined.inputs.end(), node.inputs.begin(), node.inputs.end());
            }
            for (const ValueId output : graph_.nodes[n].outputs) {
                types.push_back(graph_.type(output));
                names.emplace_back(graph_.value(output).name);
            }
        }
        joined.attributes[kMembers] = std::int64_t(members.size());
        const NodeId added = r_.add_node(std::move(joined), types, names[0], names);
        std::size_t result = 0;
        for (const std::size_t n : members)
            for (const ValueId output : graph_.nodes[n].outputs)
                r_.replace(output, r_.graph().node(added).outputs[result++]);
    }

    const Graph& graph_;
    Rewriter r_;
    std::vector<Group> groups_;
    std::vector<std::size_t> group_of_;  // by node
};

}  // namespace

/// On devices, where a launch takes as long as a small kernel, lets one node do what several do
/// alike to parameters of up to 32 MiB together (base/tensor/members.hpp): updates, averages, sums
/// of gradients, roundings.
///
///     %n = sgd_update(@w, %g, %rate)        %n, %m = sgd_update(@w, %g, %rate, @v, %h, %rate)
///     %m = sgd_update(@v, %h, %rate)   ->                {members=2}
///
/// What reads parameters alone stands where its first member stood, the rest where its last did. In
/// front of the schedule, which brings it forward. Must not fire on nodes whose attributes or
/// phases differ, nor on parts of parameters, which are no parameters.
std::optional<Graph> join_launches(const Graph& graph, PassContext& context) {
    if (!plan::traits_of(context.device).joins_launches) return std::nullopt;
    return Joiner(graph).run();
}

}  // namespace dtnn::compiler
