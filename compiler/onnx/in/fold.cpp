/// Numbers that are known before the network runs: constants, shapes, and what is worked out of
/// them.

#include "compiler/onnx/in/fold.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

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

Constant fold_range(const Folding& f) {
    const double start = f.x().at(0), step = f.at(2).at(0);
    if (batch_of(f.at(1).at(0)) == 1 && start == 0 && step == 1)
        return f.make({1}, {double(kSample)});
    const double count = std::ceil((f.at(1).at(0) - start) / step);
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
    const Constant &a = f.x(), &b = f.at(1);
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

using Truth = bool (*)(double, double);

/// Of numbers that may stand for the batch, which is equal to itself alone, and neither less nor
/// more than others.
Constant fold_truth(const Folding& f, Truth truth, bool of_batch) {
    const Constant &a = f.x(), &b = f.at(1);
    const Dims dims = broadcast_dims(a.dims, b.dims);
    const auto from_a = broadcast_places(dims, a.dims), from_b = broadcast_places(dims, b.dims);
    Numbers numbers;
    for (std::size_t i = 0; i < from_a.size(); ++i) {
        const double x = a.at(std::int64_t(from_a[i])), y = b.at(std::int64_t(from_b[i]));
        if (!of_batch && !a.real && (batch_of(x) || batch_of(y)))
            throw Refused("it compares the size of the batch", "");
        numbers.push_back(double(truth(x, y)));
    }
    return f.constants.make(dims, false, numbers);
}

Constant fold_where(const Folding& f) {
    const Constant &condition = f.x(), &a = f.at(1), &b = f.at(2);
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
    const auto truth = [](Truth holds, bool of_batch = false) {
        return [holds, of_batch](const Folding& f) { return fold_truth(f, holds, of_batch); };
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
        {"Equal", truth([](double a, double b) { return a == b; }, true)},
        {"Greater", truth([](double a, double b) { return a > b; })},
        {"GreaterOrEqual", truth([](double a, double b) { return a >= b; })},
        {"Less", truth([](double a, double b) { return a < b; })},
        {"LessOrEqual", truth([](double a, double b) { return a <= b; })},
        {"And", truth([](double a, double b) { return a != 0 && b != 0; })},
        {"Or", truth([](double a, double b) { return a != 0 || b != 0; })},
        {"Not", each([](double x) { return double(x == 0); })},
        {"Trilu", fold_trilu},
        {"Pad", fold_pad},
        {"Where", fold_where},
        {"Floor", each([](double x) { return std::floor(x); })},
        {"Ceil", each([](double x) { return std::ceil(x); })},
        {"Sqrt", each([](double x) { return std::sqrt(x); })},
        {"Neg", each([](double x) { return -x; })},
        {"Exp", each([](double x) { return std::exp(x); })},
        {"Reciprocal", each([](double x) { return 1 / x; })}};
    return all;
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
