/// Normalisation that a file writes as means, sums and products.
///
/// Exporters have many forms of it, so that no form is looked for: the nodes behind a mean are
/// worked out for a few samples, and what they make is held against (x - mean) / sqrt(variance +
/// epsilon) * gamma + beta (Ioffe and Szegedy, 2015; Ba et al., 2016; Wu and He, 2018), and against
/// x / sqrt(mean square + epsilon) * gamma (Zhang and Sennrich, 2019).

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>

#include "base/saturating.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {

/// Numbers that nodes make of samples that were made up.
struct Probe {
    ImportedValue base;
    std::set<std::size_t> axes;  ///< the file's, of the mean
    Dims dims;
    Numbers numbers;
    Numbers sums;  ///< single numbers that have been added: one of them is epsilon
};

namespace {

/// Small, middle and large ones, so that epsilon shows.
constexpr double kSizes[] = {1, 0.02, 3, 0.5};
constexpr std::int64_t kSamples = std::size(kSizes);

/// The extents of what is worked out. Axes without parameters are kept short: what is done to
/// their numbers is done to all alike.
Dims probe_dims(const ImportedValue& base, const std::set<std::size_t>& axes) {
    constexpr std::int64_t kShort = 3;
    Dims dims = base.dims();
    const View view = view_of(base);
    const int channel = is_image(base.type) ? 1 : int(base.type.dims.size()) - 1;
    for (std::size_t i = 1; i < dims.size(); ++i) {
        const bool parameters = std::any_of(view[i].begin(), view[i].end(),
                                            [&](const Piece& p) { return p.axis == channel; });
        if (!parameters && axes.size() + 1 < dims.size())
            dims[i] = std::min(dims[i], axes.contains(i) ? kShort : 1);
    }
    dims[0] = kSamples;
    return dims;
}

Numbers samples(const Dims& dims) {
    std::mt19937 random(1);
    Numbers numbers(std::size_t(element_count(dims)));
    const std::size_t each = numbers.size() / std::size_t(kSamples);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = kSizes[i / each] * (double(random()) / double(random.max()) - 0.4);
    return numbers;
}

struct Operand {
    Dims dims;
    Numbers numbers;
};

Operand mean(const Operand& x, const std::set<std::size_t>& axes) {
    Operand made{x.dims, {}};
    for (const std::size_t axis : axes)
        made.dims.at(axis) = 1;
    made.numbers.assign(std::size_t(element_count(made.dims)), 0);
    const std::vector<std::size_t> to = broadcast_places(x.dims, made.dims);
    for (std::size_t i = 0; i < to.size(); ++i)
        made.numbers[to[i]] += x.numbers[i];
    for (double& number : made.numbers)
        number *= double(made.numbers.size()) / double(to.size());
    return made;
}

Operand operand(const NodeReader& node, std::size_t i, const Probe& probe) {
    const ImportedValue& value = node.input(i);
    if (value.constant) return {value.constant->dims, numbers_of(*value.constant)};
    if (value.probe) return {value.probe->dims, value.probe->numbers};
    if (value.source == probe.base.source && value.dims() == probe.base.dims() &&
        value.lies_like(probe.base)) {
        const Dims dims = probe_dims(value, probe.axes);
        return {dims, samples(dims)};
    }
    throw Refused("it joins a mean with another value than the one it was taken of");
}

using Binary = double (*)(double, double);

Operand paired(const Operand& a, const Operand& b, Binary binary) {
    Dims dims = broadcast_dims(a.dims, b.dims);
    const auto from_a = broadcast_places(dims, a.dims), from_b = broadcast_places(dims, b.dims);
    Operand made{std::move(dims), {}};
    for (std::size_t i = 0; i < from_a.size(); ++i)
        made.numbers.push_back(binary(a.numbers[from_a[i]], b.numbers[from_b[i]]));
    return made;
}

Operand each(Operand x, double (*function)(double)) {
    std::transform(x.numbers.begin(), x.numbers.end(), x.numbers.begin(), function);
    return x;
}

std::set<std::size_t> axes_of(const NodeReader& node, std::size_t rank) {
    std::set<std::size_t> axes;
    if (node.node().op_type == "GlobalAveragePool")
        for (std::size_t i = 2; i < rank; ++i)
            axes.insert(i);
    else
        for (const std::int64_t axis : node.axes(1, 18).value_or(std::vector<std::int64_t>{}))
            axes.insert(place_of_axis(axis, rank));
    return axes;
}

std::optional<Operand> worked_out(const NodeReader& node, const Probe& probe) {
    const std::string& op = node.node().op_type;
    const Operand x = operand(node, 0, probe);
    if (op == "ReduceMean" || op == "GlobalAveragePool")
        return mean(x, axes_of(node, x.dims.size()));
    if (op == "Sqrt") return each(x, [](double v) { return std::sqrt(v); });
    if (op == "Reciprocal") return each(x, [](double v) { return 1 / v; });
    if (op == "Neg") return each(x, [](double v) { return -v; });
    if (op == "Identity" || op == "Cast") return x;
    static const std::map<std::string, Binary, std::less<>> binaries{
        {"Add", [](double a, double b) { return a + b; }},
        {"Sub", [](double a, double b) { return a - b; }},
        {"Mul", [](double a, double b) { return a * b; }},
        {"Div", [](double a, double b) { return a / b; }},
        {"Pow", [](double a, double b) { return std::pow(a, b); }}};
    const auto found = binaries.find(op);
    if (found == binaries.end()) return std::nullopt;
    return paired(x, operand(node, 1, probe), found->second);
}

/// A layer, and which of its parameters belongs to each number of a sample.
struct Normalisation {
    const char* type;
    Attributes fields;
    std::vector<std::size_t> parameter;
    std::size_t parameters;
};

/// Which layer goes over the axes of the mean, if one does.
std::optional<Normalisation> layer_over(const Probe& probe) {
    const Type& type = probe.base.type;
    const View view = view_of(probe.base);
    const bool image = is_image(type);
    const std::size_t channel = image ? 1 : type.dims.size() - 1;
    const std::int64_t channels = type.dims[channel];
    std::int64_t seen_channels = 1, seen_others = 1, others = 1;
    bool minor = true;  // channels that lie beside each other
    for (std::size_t i = 1; i < view.size(); ++i)
        for (const Piece& piece : view[i]) {
            if (piece.axis < 1) return std::nullopt;
            const bool of_channels = std::size_t(piece.axis) == channel;
            if (!of_channels) others *= piece.extent;
            if (!probe.axes.contains(i)) continue;
            (of_channels ? seen_channels : seen_others) *= piece.extent;
            minor = minor && (!of_channels || piece.step == 1);
        }
    Normalisation made{"layer_norm", {}, {}, std::size_t(channels)};
    const bool whole = seen_channels == channels && seen_others == others;
    if (image && whole && others > 1) {
        made.parameters = std::size_t(channels * others);
    } else if (seen_channels == channels && seen_others == 1) {
        if (image) made.fields["axis"] = std::string("channels");
    } else if (image && seen_others == others && minor) {
        made.type = "group_norm";
        made.fields["groups"] = channels / seen_channels;
    } else {
        return std::nullopt;
    }
    // The place of each number of the file's sample among ours.
    std::vector<std::size_t> ours(type.dims.size(), 1);
    for (std::size_t i = ours.size() - 1; i > 1; --i)
        ours[i - 1] = ours[i] * std::size_t(type.dims[i]);
    made.parameter.assign(1, 0);
    const bool each = made.parameters > std::size_t(channels);
    const auto add_axis = [&](std::int64_t extent, std::size_t step) {
        std::vector<std::size_t> next;
        for (const std::size_t place : made.parameter)
            for (std::int64_t at = 0; at < extent; ++at)
                next.push_back(place + step * std::size_t(at));
        made.parameter = std::move(next);
    };
    const Dims full = probe.base.dims(), dims = probe_dims(probe.base, probe.axes);
    for (std::size_t i = 1; i < view.size(); ++i) {
        if (dims[i] != full[i]) {
            add_axis(dims[i], 0);
            continue;
        }
        for (const Piece& piece : view[i]) {
            const bool counts = each || std::size_t(piece.axis) == channel;
            const std::size_t ours_step = each ? ours[std::size_t(piece.axis)] : 1;
            add_axis(piece.extent, counts ? ours_step * std::size_t(piece.step) : 0);
        }
    }
    return made;
}

/// gamma and beta by least squares; nothing where they do not make y of x.
std::optional<std::pair<Numbers, Numbers>> fitted(const Normalisation& layer, const Numbers& x,
                                                  const Numbers& y) {
    struct Sums {
        double one = 0, x = 0, y = 0, xx = 0, xy = 0;
    };
    std::vector<Sums> sums(layer.parameters);
    const std::size_t sample = layer.parameter.size();
    for (std::size_t i = 0; i < x.size(); ++i) {
        Sums& s = sums[layer.parameter[i % sample]];
        s.one += 1, s.x += x[i], s.y += y[i], s.xx += x[i] * x[i], s.xy += x[i] * y[i];
    }
    Numbers gamma, beta;
    for (const Sums& s : sums) {
        const double spread = s.one * s.xx - s.x * s.x;
        if (!(spread > 0)) return std::nullopt;
        gamma.push_back((s.one * s.xy - s.x * s.y) / spread);
        beta.push_back((s.y - gamma.back() * s.x) / s.one);
    }
    constexpr double kTolerance = 1e-6;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t p = layer.parameter[i % sample];
        const double wanted = gamma[p] * x[i] + beta[p];
        if (!(std::abs(y[i] - wanted) <= kTolerance * (std::abs(gamma[p]) + std::abs(beta[p]))))
            return std::nullopt;
    }
    return std::pair(std::move(gamma), std::move(beta));
}

/// Whether nothing is added.
bool scales_alone(const std::pair<Numbers, Numbers>& fit) {
    constexpr double kNone = 1e-5;
    for (std::size_t i = 0; i < fit.first.size(); ++i)
        if (!(std::abs(fit.second[i]) <= kNone * std::abs(fit.first[i]))) return false;
    return true;
}

/// Whether the numbers are those of `from`, which are the base's with or without their mean,
/// divided by the root of their mean square; then the layer is the node's result.
bool is_divided(const NodeReader& node, const Probe& probe, const Normalisation& over,
                const Operand& from, bool centred) {
    const Normalisation* layer = &over;
    const Operand variance = mean(each(from, [](double v) { return v * v; }), probe.axes);
    for (const double epsilon : probe.sums) {
        Operand deviation = variance;
        for (double& number : deviation.numbers)
            number = std::sqrt(number + epsilon);
        const Operand normal = paired(from, deviation, [](double a, double b) { return a / b; });
        auto found = fitted(*layer, normal.numbers, probe.numbers);
        if (!found || !(centred || scales_alone(*found))) continue;
        Attributes fields = layer->fields;
        fields["epsilon"] = std::stod(fmt::format("{}", float(epsilon)));
        Importer& importer = node.importer();
        const Dims dims{std::int64_t(layer->parameters)};
        std::map<std::string, Constant> parameters{
            {"gamma", importer.constants().make(dims, true, found->first)}};
        if (centred) parameters["beta"] = importer.constants().make(dims, true, found->second);
        const int made =
            importer.add_layer(node.node(), centred ? layer->type : "rms_norm", std::move(fields),
                               {&probe.base}, std::move(parameters));
        ImportedValue value = importer.layer(made).value;
        value.order = probe.base.order;
        value.view = probe.base.view;
        node.result(std::move(value));
        return true;
    }
    return false;
}

bool recognised(const NodeReader& node, const Probe& probe) {
    if (probe.dims != probe_dims(probe.base, probe.axes)) return false;
    const auto layer = layer_over(probe);
    if (!layer) return false;
    const Operand x{probe.dims, samples(probe.dims)};
    const Operand centred =
        paired(x, mean(x, probe.axes), [](double a, double b) { return a - b; });
    if (is_divided(node, probe, *layer, centred, true)) return true;
    return !layer->fields.contains("groups") && is_divided(node, probe, *layer, x, false);
}

void go_on(const NodeReader& node, Probe probe, Operand made) {
    node.importer().constants().take(std::int64_t(made.numbers.size() * sizeof(double)));
    probe.dims = std::move(made.dims);
    probe.numbers = std::move(made.numbers);
    if (recognised(node, probe)) return;
    ImportedValue value = probe.base;
    value.probe = std::make_shared<const Probe>(std::move(probe));
    node.result(std::move(value));
}

}  // namespace

void begin_normalisation(const NodeReader& node, const std::set<std::size_t>& axes,
                         bool of_squares) {
    Probe probe{node.viewed(), axes, {}, {}, {}};
    if (of_squares) {
        const int squares = probe.base.source;
        probe.base.source = node.importer().layer(squares).sources[0];
    }
    Operand x{probe_dims(probe.base, axes), {}};
    node.importer().constants().take(saturating_product({element_count(x.dims), 8}));
    x.numbers = samples(x.dims);
    if (of_squares) x = each(std::move(x), [](double v) { return v * v; });
    go_on(node, std::move(probe), mean(x, axes));
}

bool normalise(const NodeReader& node) {
    std::optional<Probe> next;
    Numbers sums;
    for (std::size_t i = 0; i < node.count(); ++i) {
        const ImportedValue* value = node.importer().find(node.node().input[i]);
        if (!value) continue;
        if (value->probe) {
            sums.insert(sums.end(), value->probe->sums.begin(), value->probe->sums.end());
            next = *value->probe;
        } else if (value->constant && node.node().op_type == "Add" &&
                   value->constant->elements() == 1) {
            sums.push_back(value->constant->at(0));
        }
    }
    if (!next) return false;
    auto made = worked_out(node, *next);
    constexpr std::size_t kMostSums = 16;
    if (!made || sums.size() > kMostSums)
        throw Refused("it goes on with a mean of which no normalisation became",
                      "height and width together, or one axis of a sequence, can be averaged; "
                      "layer, group, instance and root mean square norm are read");
    next->sums = std::move(sums);
    go_on(node, std::move(*next), std::move(*made));
    return true;
}

}  // namespace dtnn::compiler::onnx
