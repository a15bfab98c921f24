/// Numbers that are known before the network runs: constants, shapes, and what is worked out of
/// them.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "base/saturating.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {

Dims broadcast_dims(const Dims& a, const Dims& b) {
    Dims dims(std::max(a.size(), b.size()), 1);
    for (const Dims* given : {&a, &b})
        for (std::size_t i = 0; i < given->size(); ++i) {
            std::int64_t& extent = dims[dims.size() - given->size() + i];
            extent = std::max(extent, (*given)[i]);
        }
    return dims;
}

std::vector<std::size_t> broadcast_places(const Dims& wanted, const Dims& dims) {
    if (dims.size() > wanted.size()) throw Refused("its inputs do not fit");
    if (element_count(wanted) > kMostFolded) throw Refused("it works out too many numbers");
    std::vector<std::size_t> made(std::size_t(element_count(wanted)), 0);
    std::size_t step = 1, inner = 1;
    for (std::size_t i = wanted.size(); i-- > 0;) {
        const std::size_t skipped = wanted.size() - dims.size();
        const auto extent = std::size_t(i < skipped ? 1 : dims[i - skipped]);
        const auto whole = std::size_t(wanted[i]);
        if (extent != 1 && extent != whole) throw Refused("its inputs do not fit");
        if (extent > 1)
            for (std::size_t at = 0; at < made.size(); ++at)
                made[at] += at / inner % whole * step;
        inner *= whole;
        step *= extent;
    }
    return made;
}

void read_shape(const NodeReader& node) {
    const ImportedValue& src = node.input(0);
    const Dims dims = src.dims();
    Numbers numbers(dims.begin(), dims.end());
    if (!src.is_constant()) numbers[src.batch_axis()] *= kBatch;
    const auto rank = std::int64_t(numbers.size());
    const auto place = [&](std::int64_t at) {
        return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
    };
    const std::int64_t start = place(node.integer("start", 0));
    const std::int64_t end = std::max(place(node.integer("end", rank)), start);
    ImportedValue made;
    made.constant = node.importer().constants().make(
        {end - start}, false,
        Numbers(numbers.begin() + std::ptrdiff_t(start), numbers.begin() + std::ptrdiff_t(end)));
    node.result(std::move(made));
}

void read_constant(const NodeReader& node) {
    ImportedValue made;
    Constants& constants = node.importer().constants();
    const AttributeProto* value = nullptr;
    if ((value = node.find("value")) && value->t)
        made.constant = constants.read(*value->t);
    else if ((value = node.find("value_float")) && value->f)
        made.constant = constants.make({}, true, {double(*value->f)});
    else if ((value = node.find("value_int")) && value->i)
        made.constant = constants.make({}, false, {double(*value->i)});
    else if ((value = node.find("value_floats")))
        made.constant = constants.make({std::int64_t(value->floats.size())}, true,
                                       {value->floats.begin(), value->floats.end()});
    else if ((value = node.find("value_ints")))
        made.constant = constants.make({std::int64_t(value->ints.size())}, false,
                                       {value->ints.begin(), value->ints.end()});
    else
        throw Refused("its value is no tensor of numbers", "");
    node.result(std::move(made));
}

namespace {

using Integers = std::vector<std::int64_t>;

struct Folding {
    const NodeReader& node;
    std::vector<const Constant*> in;
    Constants& constants;
    bool& spans_batch;  ///< whether the result has an axis as long as the batch

    const Constant& x() const { return *in[0]; }
    Constant make(Dims dims, const Numbers& numbers) const {
        return constants.make(std::move(dims), x().real, numbers);
    }
    Integers list(std::size_t i) const {
        return i < in.size() && in[i] ? integers_of(*in[i]) : Integers{};
    }
    Integers axes(std::int64_t since) const {
        return node.opset() < since ? node.integers("axes") : list(1);
    }
    /// Extents, of which the batch is 1.
    Dims extents(std::size_t i) const {
        Dims dims = list(i);
        for (std::int64_t& extent : dims) {
            if (batch_of(double(extent)) == 1) {
                spans_batch = true;
                extent = 1;
            }
            if (extent < 0) throw Refused("it makes a constant without a sound shape");
        }
        return dims;
    }
};

void expect_same_numbers(const Dims& dims, const Constant& x) {
    if (element_count(dims) != x.elements())
        throw Refused(
            fmt::format("it makes [{}] of [{}]", fmt::join(dims, ","), fmt::join(x.dims, ",")));
}

Constant as(const Constant& x, Dims dims) {
    expect_same_numbers(dims, x);
    Constant made = x;
    made.dims = std::move(dims);
    return made;
}

Constant fold_reshape(const Folding& f) {
    Dims dims = f.list(1);
    std::int64_t known = 1, *open = nullptr;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] == 0 && i < f.x().dims.size()) dims[i] = f.x().dims[i];
        if (dims[i] == -1)
            open = &dims[i];
        else
            known = saturating_product({known, dims[i]});
    }
    if (open && known > 0) *open = f.x().elements() / known;
    return as(f.x(), dims);
}

Constant fold_squeeze(const Folding& f) {
    const Integers axes = f.axes(13);
    std::set<std::size_t> gone;
    for (const std::int64_t axis : axes)
        gone.insert(place_of_axis(axis, f.x().dims.size()));
    Dims dims;
    for (std::size_t i = 0; i < f.x().dims.size(); ++i)
        if (axes.empty() ? f.x().dims[i] != 1 : !gone.contains(i)) dims.push_back(f.x().dims[i]);
    return as(f.x(), dims);
}

Constant fold_unsqueeze(const Folding& f) {
    const Integers axes = f.axes(13);
    const std::size_t rank = f.x().dims.size() + axes.size();
    std::set<std::size_t> added;
    for (const std::int64_t axis : axes)
        added.insert(place_of_axis(axis, rank));
    Dims dims;
    std::size_t from = 0;
    for (std::size_t i = 0; i < rank; ++i)
        dims.push_back(added.contains(i) || from >= f.x().dims.size() ? 1 : f.x().dims[from++]);
    return as(f.x(), dims);
}

Constant fold_transpose(const Folding& f) {
    Integers order = f.node.integers("perm");
    if (order.empty())
        for (std::size_t i = f.x().dims.size(); i-- > 0;)
            order.push_back(std::int64_t(i));
    std::set<std::int64_t> all(order.begin(), order.end());
    if (order.size() != f.x().dims.size() || all.size() != order.size() ||
        (!all.empty() && (*all.begin() != 0 || *all.rbegin() + 1 != std::int64_t(order.size()))))
        throw Refused("its perm does not fit its input");
    return f.constants.transpose(f.x(), order);
}

/// Along one axis: `outer` times what is at `index` of it.
Constant take(const Folding& f, std::size_t axis, const Integers& indices, Dims dims) {
    const Dims& from = f.x().dims;
    const std::int64_t inner =
        element_count(Dims(from.begin() + std::ptrdiff_t(axis) + 1, from.end()));
    const std::int64_t outer =
        element_count(Dims(from.begin(), from.begin() + std::ptrdiff_t(axis)));
    if (saturating_product({outer, inner, std::int64_t(indices.size())}) > kMostFolded)
        throw Refused("it works out too many numbers");
    Numbers numbers;
    for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t index : indices) {
            if (index < 0) index += from[axis];
            if (index < 0 || index >= from[axis]) throw Refused("it reads beyond the end");
            for (std::int64_t i = 0; i < inner; ++i)
                numbers.push_back(f.x().at((o * from[axis] + index) * inner + i));
        }
    return f.make(std::move(dims), numbers);
}

Constant fold_gather(const Folding& f) {
    const std::size_t axis = place_of_axis(f.node.integer("axis", 0), f.x().dims.size());
    Dims dims(f.x().dims.begin(), f.x().dims.begin() + std::ptrdiff_t(axis));
    dims.insert(dims.end(), f.in.at(1)->dims.begin(), f.in.at(1)->dims.end());
    dims.insert(dims.end(), f.x().dims.begin() + std::ptrdiff_t(axis) + 1, f.x().dims.end());
    return take(f, axis, f.list(1), dims);
}

Constant fold_slice(const Folding& f) {
    const bool inputs = f.node.opset() >= 10;
    const Integers starts = inputs ? f.list(1) : f.node.integers("starts");
    const Integers ends = inputs ? f.list(2) : f.node.integers("ends");
    const Integers axes = inputs ? f.list(3) : f.node.integers("axes");
    const Integers steps = inputs ? f.list(4) : Integers{};
    if (starts.size() != 1 || ends.size() != 1) throw Refused("it cuts constants along two axes");
    const std::size_t axis = place_of_axis(axes.empty() ? 0 : axes[0], f.x().dims.size());
    const std::int64_t extent = f.x().dims[axis], step = steps.empty() ? 1 : steps[0];
    if (step == 0 || std::abs(step) > kFar) throw Refused("it goes by steps of 0");
    const auto place = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
        return std::clamp(at < 0 ? at + extent : at, least, most);
    };
    Integers indices;
    if (step > 0)
        for (std::int64_t i = place(starts[0], 0, extent); i < place(ends[0], 0, extent); i += step)
            indices.push_back(i);
    else
        for (std::int64_t i = place(starts[0], -1, extent - 1);
             i > (ends[0] < -extent ? -1 : place(ends[0], -1, extent - 1)); i += step)
            indices.push_back(i);
    Dims dims = f.x().dims;
    dims[axis] = std::int64_t(indices.size());
    return take(f, axis, indices, dims);
}

Constant fold_concat(const Folding& f) {
    const std::size_t axis = place_of_axis(f.node.integer("axis", 0), f.x().dims.size());
    Dims dims = f.x().dims;
    dims[axis] = 0;
    const std::int64_t outer =
        element_count(Dims(dims.begin(), dims.begin() + std::ptrdiff_t(axis)));
    for (const Constant* part : f.in) {
        if (!part || part->dims.size() != dims.size() || part->real != f.x().real ||
            part->elements() % std::max<std::int64_t>(outer, 1) != 0)
            throw Refused("its inputs do not fit");
        dims[axis] += part->dims[axis];
    }
    Numbers numbers;
    for (std::int64_t o = 0; o < outer; ++o)
        for (const Constant* part : f.in) {
            const std::int64_t each = part->elements() / outer;
            for (std::int64_t i = 0; i < each; ++i)
                numbers.push_back(part->at(o * each + i));
        }
    expect_same_numbers(dims, {Dims{std::int64_t(numbers.size())}, true, {}});
    return f.make(std::move(dims), numbers);
}

Constant fold_constant_of_shape(const Folding& f) {
    const Dims dims = f.extents(0);
    const AttributeProto* value = f.node.find("value");
    const bool given = value && value->t;
    const Constant one = given ? f.constants.read(*value->t) : f.constants.make({1}, true, {0});
    const std::int64_t count = element_count(dims);
    if (count > kMostFolded || one.elements() != 1)
        throw Refused("it makes a constant without a sound shape");
    return f.constants.make(dims, one.real, Numbers(std::size_t(count), one.at(0)));
}

Constant fold_expand(const Folding& f) {
    const Dims dims = broadcast_dims(f.x().dims, f.extents(1));
    Numbers numbers;
    for (const std::size_t place : broadcast_places(dims, f.x().dims))
        numbers.push_back(f.x().at(std::int64_t(place)));
    return f.make(dims, numbers);
}

Constant fold_tile(const Folding& f) {
    const Dims repeats = f.extents(1), &from = f.x().dims;
    if (repeats.size() != from.size()) throw Refused("it has not a number for each axis");
    Dims dims;
    for (std::size_t i = 0; i < from.size(); ++i)
        dims.push_back(saturating_product({from[i], repeats[i]}));
    const std::int64_t count = element_count(dims);
    if (count > kMostFolded) throw Refused("it works out too many numbers");
    std::vector<std::size_t> longer;  // the last first
    for (std::size_t axis = dims.size(); axis-- > 0;)
        if (dims[axis] > 1) longer.push_back(axis);
    Numbers numbers;
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t left = i, place = 0, step = 1;
        for (const std::size_t axis : longer) {
            place += left % dims[axis] % from[axis] * step;
            left /= dims[axis];
            step *= from[axis];
        }
        numbers.push_back(f.x().at(place));
    }
    return f.make(dims, numbers);
}

Constant fold_range(const Folding& f) {
    const double start = f.x().at(0), step = f.in.at(2)->at(0);
    if (batch_of(f.in.at(1)->at(0)) == 1 && start == 0 && step == 1)
        return f.make({1}, {double(kSample)});
    const double count = std::ceil((f.in.at(1)->at(0) - start) / step);
    if (!(count >= 0) || count > double(kMostFolded)) throw Refused("its range is not sound");
    Numbers numbers(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = start + step * double(i);
    return f.make({std::int64_t(numbers.size())}, numbers);
}

Constant fold_cast(const Folding& f) {
    const std::int64_t to = f.node.integer("to", kFloat);
    const bool real = to == kFloat || to == kDouble || to == kFloat16 || to == kBfloat16;
    Numbers numbers = numbers_of(f.x());
    if (!real)
        for (double& number : numbers)
            number = to == kBool ? double(number != 0) : std::trunc(number);
    return f.constants.make(f.x().dims, real, numbers);
}

using Operation = double (*)(double, double);

/// As NumPy broadcasts. What `scales` may be done to the batch.
Constant fold_pairs(const Folding& f, Operation operation, bool scales) {
    const Constant &a = f.x(), &b = *f.in.at(1);
    const Dims dims = broadcast_dims(a.dims, b.dims);
    const Numbers left = numbers_of(a), right = numbers_of(b);
    const auto from_a = broadcast_places(dims, a.dims), from_b = broadcast_places(dims, b.dims);
    Numbers numbers;
    for (std::size_t i = 0; i < from_a.size(); ++i) {
        const double x = left[from_a[i]], y = right[from_b[i]];
        const double value = operation(x, y);
        if (!a.real && (batch_of(x) || batch_of(y)) && !(scales && batch_of(value)))
            throw Refused("it computes with the size of the batch",
                          "export the model with -1 for the batch in its shapes");
        numbers.push_back(a.real ? value : std::trunc(value));
    }
    return f.constants.make(dims, a.real, numbers);
}

/// Of numbers that may stand for the batch, which is equal to itself alone.
Constant fold_equal(const Folding& f) {
    const Constant &a = f.x(), &b = *f.in.at(1);
    const Dims dims = broadcast_dims(a.dims, b.dims);
    const auto from_a = broadcast_places(dims, a.dims), from_b = broadcast_places(dims, b.dims);
    Numbers numbers;
    for (std::size_t i = 0; i < from_a.size(); ++i)
        numbers.push_back(double(a.at(std::int64_t(from_a[i])) == b.at(std::int64_t(from_b[i]))));
    return f.constants.make(dims, false, numbers);
}

Constant fold_where(const Folding& f) {
    const Constant &condition = f.x(), &a = *f.in.at(1), &b = *f.in.at(2);
    const Dims dims = broadcast_dims(condition.dims, broadcast_dims(a.dims, b.dims));
    const auto from = broadcast_places(dims, condition.dims);
    const auto from_a = broadcast_places(dims, a.dims), from_b = broadcast_places(dims, b.dims);
    Numbers numbers;
    for (std::size_t i = 0; i < from.size(); ++i)
        numbers.push_back(condition.at(std::int64_t(from[i])) != 0 ? a.at(std::int64_t(from_a[i]))
                                                                   : b.at(std::int64_t(from_b[i])));
    return f.constants.make(dims, a.real, numbers);
}

using Fold = std::function<Constant(const Folding&)>;

const std::map<std::string, Fold, std::less<>>& folds() {
    const auto pairs = [](Operation operation, bool scales = false) {
        return [operation, scales](const Folding& f) { return fold_pairs(f, operation, scales); };
    };
    const auto each = [](double (*function)(double)) {
        return [function](const Folding& f) {
            Numbers numbers = numbers_of(f.x());
            std::transform(numbers.begin(), numbers.end(), numbers.begin(), function);
            return f.make(f.x().dims, numbers);
        };
    };
    static const std::map<std::string, Fold, std::less<>> all{
        {"Identity", [](const Folding& f) { return f.x(); }},
        {"Reshape", fold_reshape},
        {"Squeeze", fold_squeeze},
        {"Unsqueeze", fold_unsqueeze},
        {"Transpose", fold_transpose},
        {"Gather", fold_gather},
        {"Slice", fold_slice},
        {"Concat", fold_concat},
        {"ConstantOfShape", fold_constant_of_shape},
        {"Expand", fold_expand},
        {"Tile", fold_tile},
        {"Range", fold_range},
        {"Cast", fold_cast},
        {"Add", pairs([](double a, double b) { return a + b; })},
        {"Sub", pairs([](double a, double b) { return a - b; })},
        {"Mul", pairs([](double a, double b) { return a * b; }, true)},
        {"Div", pairs([](double a, double b) { return a / b; }, true)},
        {"Pow", pairs([](double a, double b) { return std::pow(a, b); })},
        {"Mod", pairs([](double a, double b) { return a - std::floor(a / b) * b; })},
        {"Max", pairs([](double a, double b) { return std::max(a, b); })},
        {"Min", pairs([](double a, double b) { return std::min(a, b); })},
        {"Equal", fold_equal},
        {"Where", fold_where},
        {"Floor", each([](double x) { return std::floor(x); })},
        {"Ceil", each([](double x) { return std::ceil(x); })},
        {"Sqrt", each([](double x) { return std::sqrt(x); })},
        {"Neg", each([](double x) { return -x; })},
        {"Exp", each([](double x) { return std::exp(x); })},
        {"Reciprocal", each([](double x) { return 1 / x; })}};
    return all;
}

/// The results of a Split, which are several.
void fold_split(const Folding& f) {
    const std::size_t axis = place_of_axis(f.node.integer("axis", 0), f.x().dims.size());
    std::int64_t begin = 0;
    std::size_t result = 0;
    for (const std::int64_t part : split_parts(f.node, f.x().dims[axis])) {
        Dims dims = f.x().dims;
        dims[axis] = part;
        Integers indices;
        for (std::int64_t i = 0; i < part; ++i)
            indices.push_back(begin + i);
        ImportedValue made;
        made.constant = take(f, axis, indices, dims);
        made.spans_batch = f.spans_batch;
        f.node.importer().set(f.node.node().output.at(result++), std::move(made));
        begin += part;
    }
}

}  // namespace

bool fold(const NodeReader& node) {
    ImportedValue made;
    if (node.node().op_type == "Split" && node.of_any_length(0).is_constant()) {
        const ImportedValue whole = node.of_any_length(0);
        made.spans_batch = whole.spans_batch;
        fold_split({node, {&*whole.constant}, node.importer().constants(), made.spans_batch});
        return true;
    }
    const auto found = folds().find(node.node().op_type);
    if (found == folds().end() || node.count() == 0) return false;
    std::vector<const Constant*> in;
    for (std::size_t i = 0; i < node.count(); ++i) {
        const ImportedValue* value = node.has(i) ? &node.of_any_length(i) : nullptr;
        if (value && !value->is_constant()) return false;
        in.push_back(value ? &*value->constant : nullptr);
        made.spans_batch |= value && value->spans_batch;
    }
    // Others than these give another length, or other numbers.
    static const std::set<std::string, std::less<>> kKeepBatch{
        "Identity", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Concat", "Cast", "Expand"};
    if (made.spans_batch && !kKeepBatch.contains(found->first)) return false;
    if (!in[0]) return false;
    // Weights may be turned round, whatever their size; with others it is computed.
    const bool moves =
        found->first == "Transpose" || found->first == "Reshape" || found->first == "Identity";
    const std::size_t least = found->first == "Where" ? 3 : 1;
    if (in.size() < least || std::count(in.begin(), in.begin() + std::ptrdiff_t(least), nullptr))
        throw Refused("it has too few inputs");
    for (const Constant* constant : in)
        if (constant && !moves && constant->elements() > kMostFolded)
            throw Refused("it works out too many numbers");
    made.constant =
        found->second({node, std::move(in), node.importer().constants(), made.spans_batch});
    node.result(std::move(made));
    return true;
}

}  // namespace dtnn::compiler::onnx
