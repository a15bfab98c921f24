/// Arithmetic in several nodes that comes to one operator of ours: silu out of a sigmoid and a
/// product, gelu, mish. It is found by its values, as exporters write it in many forms.

#include <algorithm>
#include <array>
#include <cmath>

#include "base/expression/expression.hpp"
#include "compiler/onnx/in/importer.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/ops/expression/parse_infix.hpp"

namespace dtnn::compiler::onnx {
namespace {

constexpr std::size_t kMostMembers = 16, kMostComposites = 4, kMostSources = 4;
constexpr std::int64_t kMostOperations = 48;

/// What a layer gives, as arithmetic over one earlier value.
struct Composite {
    int entry;  ///< a layer, or -1, -2, ...: an input
    Expression over;
    std::vector<int> members;  ///< layers, the last is the one that gives it
};

constexpr std::array kPoints{-18.0, -9.0, -6.0,  -4.2, -3.0, -2.1, -1.3, -1.0,
                             -0.6,  -0.2, -0.01, 0.0,  0.01, 0.2,  0.6,  1.0,
                             1.3,   2.1,  3.0,   4.2,  6.0,  9.0,  18.0};
using Values = std::array<double, kPoints.size()>;

Values values_at_points(const Expression& expression) {
    Values values;
    for (std::size_t i = 0; i < kPoints.size(); ++i)
        values[i] = evaluate(expression, {&kPoints[i], 1});
    return values;
}

bool are_near(const Values& a, const Values& b) {
    constexpr double kNear = 2e-6;  // numbers of files are floats
    return std::equal(a.begin(), a.end(), b.begin(), [](double left, double right) {
        return std::abs(left - right) <= kNear * std::max(1.0, std::abs(right));
    });
}

/// The operator of one input, with its fields' defaults, that this is; null: none.
const OpDef* operator_like(const Expression& expression) {
    static const auto known = [] {
        std::vector<std::pair<const OpDef*, Values>> all;
        for (const OpDef* def : all_ops()) {
            if (!def->layer || def->expression.empty()) continue;
            const Expression own = parse_postfix(def->expression);
            if (input_count(own) == 1 && own != Expression::input_at(0))
                all.emplace_back(def, values_at_points(own));
        }
        return all;
    }();
    const Values values = values_at_points(expression);
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const auto& one) { return are_near(values, one.second); });
    return found == known.end() ? nullptr : found->first;
}

/// What the layer computes of its sources; nothing for layers that are no arithmetic by element.
std::optional<Expression> arithmetic_of(const ImportedLayer& layer) {
    const OpDef* def = find_op(layer.type);
    if (!def || !layer.parameters.empty() || layer.sources.size() > kMostSources)
        return std::nullopt;
    if (const auto given = layer.fields.find("expression"); given != layer.fields.end()) {
        std::vector<std::string> names;
        std::vector<Expression> inputs;
        for (std::size_t i = 0; i < layer.sources.size(); ++i) {
            names.push_back("x" + std::to_string(i));
            inputs.push_back(Expression::input_at(int(i)));
        }
        names.emplace_back("x");
        inputs.push_back(Expression::input_at(0));
        return substitute(parse_infix(std::get<std::string>(given->second), names), inputs);
    }
    Node node;
    node.op = def->name;
    for (std::size_t i = 0; i < layer.sources.size(); ++i)
        node.inputs.push_back(ValueId());
    node.attributes = layer.fields;
    for (const Field& field : def->fields)
        if (field.fallback) node.attributes.try_emplace(std::string(field.name), *field.fallback);
    const std::string text = expression_of(node);
    if (text.empty()) return std::nullopt;
    return parse_postfix(text);
}

}  // namespace

void Importer::name_formulas(std::vector<bool>& used) {
    std::vector<std::vector<int>> readers(layers_.size());
    for (std::size_t i = 0; i < layers_.size(); ++i)
        for (const int source : layers_[i].sources)
            if (used[i] && source >= 0) readers[std::size_t(source)].push_back(int(i));
    const auto dims_of = [&](int source) {
        if (source >= 0) return layers_[std::size_t(source)].value.type.dims;
        Dims dims = inputs_[std::size_t(-1 - source)].shape;
        dims.insert(dims.begin(), 1);
        return dims;
    };
    std::vector<std::vector<Composite>> composites(layers_.size());
    const auto of_source = [&](int source) {
        std::vector<Composite> all{{source, Expression::input_at(0), {}}};
        if (source >= 0)
            for (const Composite& composite : composites[std::size_t(source)])
                all.push_back(composite);
        return all;
    };
    const auto is_closed = [&](const Composite& composite) {
        return std::all_of(composite.members.begin(), composite.members.end() - 1, [&](int member) {
            return std::all_of(readers[std::size_t(member)].begin(),
                               readers[std::size_t(member)].end(), [&](int reader) {
                                   return std::count(composite.members.begin(),
                                                     composite.members.end(), reader) > 0;
                               });
        });
    };
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        ImportedLayer& layer = layers_[i];
        const auto own = used[i] ? arithmetic_of(layer) : std::nullopt;
        const bool by_element =
            own && std::all_of(layer.sources.begin(), layer.sources.end(), [&](int source) {
                return dims_of(source) == layer.value.type.dims;
            });
        if (!by_element) continue;
        std::vector<Composite>& here = composites[i];
        // Over each value that all sources are arithmetic over.
        for (const Composite& first : of_source(layer.sources[0])) {
            std::vector<Expression> inputs;
            std::set<int> members;
            for (const int source : layer.sources) {
                const std::vector<Composite> all = of_source(source);
                const auto same = std::find_if(all.begin(), all.end(), [&](const Composite& c) {
                    return c.entry == first.entry;
                });
                if (same == all.end()) break;
                inputs.push_back(same->over);
                members.insert(same->members.begin(), same->members.end());
            }
            members.insert(int(i));
            if (inputs.size() < layer.sources.size() || members.size() > kMostMembers ||
                here.size() == kMostComposites)
                continue;
            Expression over = simplify(substitute(*own, inputs));
            if (flops(over) <= kMostOperations)
                here.push_back({first.entry, std::move(over),
                                std::vector<int>(members.begin(), members.end())});
        }
        for (const Composite& composite : here) {
            if (composite.members.size() < 2 || !is_closed(composite)) continue;
            const OpDef* def = operator_like(composite.over);
            if (!def) continue;
            for (const int member : composite.members)
                used[std::size_t(member)] = member == int(i);
            if (composite.entry >= 0) {
                std::vector<int>& of_entry = readers[std::size_t(composite.entry)];
                std::erase_if(of_entry, [&](int reader) { return !used[std::size_t(reader)]; });
                of_entry.push_back(int(i));
            }
            layer.type = def->name;
            layer.fields.clear();
            layer.sources = {composite.entry};
            const int entry = composite.entry;  // `here` holds the composite
            here = {{entry, parse_postfix(def->expression), {int(i)}}};
            break;
        }
    }
}

}  // namespace dtnn::compiler::onnx
