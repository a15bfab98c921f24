/// Rotary embeddings (Su and others, 2021): pairs of numbers of every head that are turned by an
/// angle which grows with the step. Their sines and cosines are constants of the file; which base
/// they have is found from them, and each is held against it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/turn.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {

/// A sequence whose numbers stand where those they are paired with stood, and what they have been
/// multiplied by.
struct Exchanged {
    ImportedValue base;
    std::vector<std::int64_t> places;
    Numbers sines;  ///< by step and feature; empty: not yet
};

namespace {

using Integers = std::vector<std::int64_t>;

/// How heads are turned.
struct Rotation {
    std::int64_t width = 0;  ///< numbers of a head
    bool neighbours = false;
    double base = 10000;

    std::int64_t apart() const { return neighbours ? 1 : width / 2; }
    bool is_first(std::int64_t feature) const {
        const std::int64_t at = feature % width;
        return neighbours ? at % 2 == 0 : at < width / 2;
    }
    Turn turn(std::int64_t step, std::int64_t feature) const {
        const std::int64_t at = feature % width;
        return turn_of(step, neighbours ? at / 2 : at % (width / 2), width, base);
    }
};

/// Sines and cosines of steps, each with as many features, as the file has them: the sines of the
/// first of a pair are negative.
struct Waves {
    std::int64_t steps, features;
    Numbers sines, cosines;
};

/// The base that the second pair of the second step tells, to the digits that floats tell it with.
double base_of(const Waves& waves, const Rotation& rotation) {
    if (waves.steps < 2 || rotation.width < 4) return rotation.base;
    const std::int64_t second = waves.features + (rotation.neighbours ? 2 : 1);
    const double angle = std::abs(
        std::atan2(std::abs(waves.sines[std::size_t(second)]), waves.cosines[std::size_t(second)]));
    const double base = std::pow(angle, -double(rotation.width) / 2);
    if (!(base >= 1 && base < 1e30)) return 1;
    return std::stod(fmt::format("{:.5g}", base));
}

bool agrees(const Waves& waves, const Rotation& rotation) {
    for (std::int64_t t = 0; t < waves.steps; ++t)
        for (std::int64_t f = 0; f < waves.features; ++f) {
            constexpr double kNear = 2e-4;
            const Turn turn = rotation.turn(t, f);
            const auto place = std::size_t(t * waves.features + f);
            const double sine = rotation.is_first(f) ? -turn.sine : turn.sine;
            if (!(std::abs(waves.sines[place] - sine) < kNear &&
                  std::abs(waves.cosines[place] - turn.cosine) < kNear))
                return false;
        }
    return true;
}

/// With the width of the heads, if it is known, and the base that makes these waves.
std::optional<Rotation> rotation_of(const Waves& waves, bool neighbours, std::int64_t width) {
    std::vector<std::int64_t> widths{width};
    if (width == 0) {  // of neighbours: the waves begin again with each head
        widths.clear();
        constexpr std::size_t kMostWidths = 16;
        for (std::int64_t w = 2; w <= waves.features && widths.size() < kMostWidths; w += 2) {
            if (waves.features % w != 0) continue;
            const auto row = waves.cosines.end() - std::ptrdiff_t(waves.features);
            if (std::equal(row + std::ptrdiff_t(w), waves.cosines.end(), row)) widths.push_back(w);
        }
    }
    for (const std::int64_t w : widths) {
        Rotation rotation{w, neighbours};
        if (w < 2 || w % 2 != 0 || waves.features % w != 0) continue;
        rotation.base = base_of(waves, rotation);
        if (agrees(waves, rotation)) return rotation;
    }
    return std::nullopt;
}

[[noreturn]] void refuse_angles() {
    throw Refused(
        "it turns pairs of numbers by other angles than step * base^(-2 * pair / width)",
        "rotary embeddings whose angles are not stretched, of the steps from 0 on, can be");
}

void turn_heads(const NodeReader& node, const ImportedValue& src, const Waves& waves,
                const Rotation& rotation) {
    Attributes fields{{"heads", waves.features / rotation.width}};
    if (rotation.base != 10000) fields["base"] = rotation.base;
    if (rotation.neighbours) fields["pairs"] = std::string("neighbours");
    node.layer("rotary_embedding", std::move(fields), {&src});
}

/// Numbers for each step and feature of a sequence; nothing where the constant has others.
std::optional<Numbers> of_steps(const Constant& constant, const Type& type) {
    const Dims& dims = constant.dims;
    const std::size_t rank = dims.size();
    if (!constant.real || rank < 2 || rank > 3 || (rank == 3 && dims[0] != 1) ||
        dims[rank - 2] != type.dims[1] || dims[rank - 1] != type.dims[2])
        return std::nullopt;
    return numbers_of(constant);
}

/// The numbers that a value is the base times, by a formula of a row.
std::optional<Numbers> factors_of(Importer& importer, const ImportedValue& value,
                                  const ImportedValue& base) {
    if (value.source < 0 || !value.is_plain()) return std::nullopt;
    const ImportedLayer& shaped = importer.layer(value.source);
    if (shaped.type != "reshape" || shaped.sources[0] < 0) return std::nullopt;
    const ImportedLayer& formula = importer.layer(shaped.sources[0]);
    const auto factors = formula.parameters.find("value");
    if (factors == formula.parameters.end() || formula.sources[0] < 0 ||
        !importer.is_product(formula.type))
        return std::nullopt;
    const ImportedLayer& flat = importer.layer(formula.sources[0]);
    if (flat.type != "flatten") return std::nullopt;
    int source = flat.sources[0];  // or under another shape
    if (source != base.source && source >= 0 && importer.layer(source).type == "reshape")
        source = importer.layer(source).sources[0];
    if (source != base.source) return std::nullopt;
    return numbers_of(factors->second);
}

}  // namespace

bool begin_rotation(const NodeReader& node, const ImportedValue& src, std::size_t axis,
                    const Integers& places) {
    const Dims& dims = src.type.dims;
    if (axis != 2 || src.type.axes != usual_axes(2) || !src.is_plain() ||
        std::int64_t(places.size()) != dims[2] || places.size() < 2 || places[0] < 1)
        return false;
    // Each place and the one it is exchanged with.
    const std::int64_t apart = places[0];
    for (std::int64_t f = 0; f < dims[2]; ++f)
        if (places[std::size_t(f)] != (f / apart % 2 == 0 ? f + apart : f - apart)) return false;
    ImportedValue value = src;
    value.exchanged = std::make_shared<const Exchanged>(Exchanged{src, places, {}});
    node.result(std::move(value));
    return true;
}

bool rotate(const NodeReader& node) {
    Importer& importer = node.importer();
    std::optional<std::size_t> at;
    for (std::size_t i = node.count(); i-- > 0;)
        if (const ImportedValue* value = importer.find(node.node().input[i]);
            value && value->exchanged)
            at = i;
    if (!at) return false;
    const std::string& op = node.node().op_type;
    const Exchanged exchanged = *node.input(*at).exchanged;
    const Type& type = exchanged.base.type;
    if (op == "Shape") return false;
    if (node.count() == 2 && op == "Mul" && exchanged.sines.empty() &&
        node.input(1 - *at).is_constant()) {
        if (auto sines = of_steps(*node.input(1 - *at).constant, type)) {
            ImportedValue value = exchanged.base;
            value.exchanged = std::make_shared<const Exchanged>(
                Exchanged{exchanged.base, exchanged.places, std::move(*sines)});
            node.result(std::move(value));
            return true;
        }
    }
    if (node.count() == 2 && op == "Add" && !exchanged.sines.empty() &&
        !node.input(1 - *at).is_constant() && !node.input(1 - *at).exchanged) {
        if (auto cosines = factors_of(importer, node.input(1 - *at), exchanged.base)) {
            const Waves waves{type.dims[1], type.dims[2], exchanged.sines, std::move(*cosines)};
            const std::int64_t apart = exchanged.places[0];
            std::optional<Rotation> rotation = rotation_of(waves, false, 2 * apart);
            if (!rotation && apart == 1) rotation = rotation_of(waves, true, 0);
            if (!rotation) refuse_angles();
            turn_heads(node, exchanged.base, waves, *rotation);
            return true;
        }
    }
    throw Refused("it reads numbers that have changed places, of which no rotary embedding became",
                  "x * cosines + x[pairs] * sines is read, with constants of [steps, features]");
}

void read_rotary_embedding(const NodeReader& node) {
    const ImportedValue& src = node.activation();
    const Dims now = src.dims();
    const std::int64_t heads = node.integer("num_heads", 0);
    if (src.rank() != 3 || src.type.axes != usual_axes(2) || !src.is_plain() || heads < 1 ||
        src.type.dims[2] % (2 * std::min(heads, src.type.dims[2])) != 0)
        throw Refused(fmt::format("its input is [batch, {}], of {} heads",
                                  fmt::join(now.begin() + 1, now.end(), ", "), heads),
                      "[batch, steps, features] with `num_heads` can be");
    const std::int64_t steps = src.type.dims[1], features = src.type.dims[2];
    Rotation rotation{features / heads, node.integer("interleaved", 0) != 0};
    const std::int64_t half = rotation.width / 2;
    if (const std::int64_t turned = node.integer("rotary_embedding_dim", 0);
        turned != 0 && turned != rotation.width)
        throw Refused("it turns a part of each head", "");
    // [positions, pairs] with the places of steps, or [1, steps, pairs].
    const auto rows = [&](std::size_t i, const char* what) {
        const Constant& given = node.constant(i, what);
        Integers places;
        if (node.has(3)) places = integers_of(node.constant(3, "places"));
        const bool by_place = node.has(3);
        const Dims& dims = given.dims;
        if (dims.size() != (by_place ? 2U : 3U) || dims.back() != half || !given.real ||
            (by_place ? std::int64_t(places.size()) != steps : given.elements() != steps * half))
            throw Refused(fmt::format("its {} have the shape [{}], for {} steps of {} pairs", what,
                                      fmt::join(dims, ", "), steps, half));
        Numbers numbers;
        for (std::int64_t t = 0; t < steps; ++t)
            for (std::int64_t p = 0; p < half; ++p) {
                const std::int64_t row = by_place ? places[std::size_t(t)] : t;
                if (by_place && (row < 0 || row >= dims[0]))
                    throw Refused("it reads beyond the end of its angles");
                numbers.push_back(given.at(row * half + p));
            }
        return numbers;
    };
    const Numbers cosines = rows(1, "cosines"), sines = rows(2, "sines");
    Waves waves{steps, features, {}, {}};
    for (std::int64_t t = 0; t < steps; ++t)
        for (std::int64_t f = 0; f < features; ++f) {
            const std::int64_t at = f % rotation.width;
            const auto pair = std::size_t(t * half + (rotation.neighbours ? at / 2 : at % half));
            waves.cosines.push_back(cosines[pair]);
            waves.sines.push_back(rotation.is_first(f) ? -sines[pair] : sines[pair]);
        }
    rotation.base = base_of(waves, rotation);
    if (!agrees(waves, rotation)) refuse_angles();
    turn_heads(node, src, waves, rotation);
}

}  // namespace dtnn::compiler::onnx
