/// Values whose batch is not the first of the file's axes, as recurrent layers and PyTorch's
/// attention have them: [steps, batch, features], rows of all steps and samples, three of them in
/// front.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/saturating.hpp"
#include "compiler/ir/axes.hpp"
#include "compiler/onnx/in/importer.hpp"

namespace dtnn::compiler::onnx {
namespace {

using Integers = std::vector<std::int64_t>;
using Pieces = std::vector<Piece>;

/// No value has more axes than this; it bounds what a file can ask for.
constexpr std::size_t kMostAxes = 16;

bool is_of_batch(const Piece& piece) {
    return piece.axis == 0;
}

bool has_batch(const Pieces& axis) {
    return std::any_of(axis.begin(), axis.end(), is_of_batch);
}

/// An extent that a Reshape asks for: of a sample's numbers, and whether the batch is among them.
/// Where the file's batch is fixed, its samples are among the numbers.
struct Asked {
    std::int64_t numbers;
    bool batch;
};

/// What the numbers of a shape ask for; nothing where they do not make up the value.
std::optional<std::vector<Asked>> asked_for(const View& view, const Dims& now,
                                            const Integers& wanted, bool zero_copies,
                                            std::int64_t file_batch) {
    const std::int64_t samples = std::max<std::int64_t>(file_batch, 1);
    std::vector<Asked> asked;
    std::optional<std::size_t> open;
    std::int64_t known = 1;
    bool batch = false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        Asked one{wanted[i], false};
        if (wanted[i] == 0 && zero_copies && i < now.size())
            one = {now[i], has_batch(view[i])};
        else if (const std::int64_t times = batch_of(double(wanted[i])); times > 0)
            one = {times, true};
        if (one.batch && file_batch > 0) one.numbers = saturating_product({one.numbers, samples});
        if (wanted[i] == -1) {
            if (open) return std::nullopt;
            open = i;
            one.numbers = 1;
        }
        if (one.numbers < 1) return std::nullopt;
        known = saturating_product({known, one.numbers});
        batch = batch || one.batch;
        asked.push_back(one);
    }
    const std::int64_t all = saturating_product({element_count(now), samples});
    if (open) {
        if (all % known != 0) return std::nullopt;
        asked[*open] = {all / known, !batch};
    } else if (known != all) {
        return std::nullopt;
    }
    return asked;
}

/// The pieces under these extents, wherever the batch comes to stand.
std::optional<View> in_groups(const View& view, const std::vector<Asked>& asked,
                              std::int64_t file_batch) {
    Pieces pieces;
    for (const Pieces& axis : view)
        pieces.insert(pieces.end(), axis.begin(), axis.end());
    if (file_batch == 1) std::erase_if(pieces, is_of_batch);
    View made(asked.size());
    for (std::size_t i = asked.size(); i-- > 0;) {
        std::int64_t need = asked[i].numbers;
        // Of a fixed batch only its number of samples tells where it is.
        bool batch = file_batch == 0 && asked[i].batch;
        while (need > 1 || batch) {
            if (pieces.empty()) return std::nullopt;
            if (is_of_batch(pieces.back())) {
                if (file_batch == 0 && !batch) return std::nullopt;
                if (file_batch > 0 && need % file_batch != 0) return std::nullopt;
                if (file_batch > 0) need /= file_batch;
                batch = false;
                made[i].insert(made[i].begin(), pieces.back());
                pieces.pop_back();
                continue;
            }
            if (need == 1) return std::nullopt;
            const auto piece = last_of(pieces, need);
            if (!piece) return std::nullopt;
            made[i].insert(made[i].begin(), *piece);
        }
    }
    if (!pieces.empty()) return std::nullopt;
    return made;
}

}  // namespace

void put_sample_in_front(View& view) {
    for (Pieces& axis : view)
        std::erase_if(axis, is_of_batch);
    if (!view.empty()) view[0].insert(view[0].begin(), Piece{0, 1, 1});
}

std::optional<View> regrouped_with_batch(const ImportedValue& value, const Integers& wanted,
                                         bool zero_copies, std::int64_t file_batch) {
    if (!value.rows.empty() || wanted.size() > kMostAxes) return std::nullopt;
    const View view = view_of(value);
    const auto asked = asked_for(view, value.dims(), wanted, zero_copies, file_batch);
    return asked ? in_groups(view, *asked, file_batch) : std::nullopt;
}

void regrouped_as(const NodeReader& node, const ImportedValue& src, View view) {
    if (view.empty()) throw Refused("it makes one number of all", "");
    ImportedValue value = settled(node, src, view);
    const bool in_front = view[0].size() == 1 && has_batch(view[0]);
    // Axes of 1 that a value has no more are no matter of layers alone.
    if (value.view.empty() || !src.view.empty() || !in_front) return node.result(std::move(value));
    const Dims dims = value.dims();
    reshaped(node, src, dims.size() == 1 ? Dims{1} : Dims(dims.begin() + 1, dims.end()));
}

void read_with_axes(const NodeReader& node, const ImportedValue& src,
                    const std::set<std::size_t>& axes, bool added) {
    View old = view_of(src);
    if (node.importer().file_batch() == 1)
        for (Pieces& axis : old)
            std::erase_if(axis, is_of_batch);
    View view;
    if (old.size() + axes.size() > kMostAxes) throw Refused("it has too many axes");
    if (added) {
        std::size_t from = 0;
        for (std::size_t i = 0; i < old.size() + axes.size(); ++i)
            view.push_back(axes.contains(i) ? Pieces{} : old[from++]);
    } else {
        for (std::size_t i = 0; i < old.size(); ++i) {
            if (!axes.contains(i))
                view.push_back(old[i]);
            else if (!old[i].empty())
                throw Refused("it takes away the batch, or an axis that is longer than 1", "");
        }
    }
    regrouped_as(node, src, std::move(view));
}

// ---- What does not ask where the batch is

namespace {

/// What looks at each number by itself, besides formulas.
bool is_by_number(const std::string& op) {
    static const std::set<std::string, std::less<>> all{"Add", "Sub", "Mul", "Div",     "Pow",
                                                        "Max", "Min", "Sum", "Dropout", "Clip"};
    return all.contains(op) || is_formula(op);
}

/// Whether the value's last axis is all features of a sequence.
bool ends_in_features(const ImportedValue& value) {
    const Dims& dims = value.type.dims;
    return value.type.axes == usual_axes(2) &&
           (dims[2] == 1 ? value.view.back().empty()
                         : value.view.back() == Pieces{{2, 1, dims[2]}});
}

/// The axes that all values of the network which the node reads have alike, if it can be read
/// without them: number by number, or along features that stay the last.
std::optional<View> common_view(const NodeReader& node) {
    const std::string& op = node.node().op_type;
    const bool normalises = op == "LayerNormalization" || op == "RMSNormalization";
    if (!normalises && !is_by_number(op)) return std::nullopt;
    const ImportedValue* first = nullptr;
    bool features = normalises;
    for (std::size_t i = 0; i < node.count(); ++i) {
        const ImportedValue* value = node.has(i) ? &node.of_any_length(i) : nullptr;
        if (!value) continue;
        if (value->is_constant()) {
            const Dims& dims = value->constant->dims;
            const std::int64_t numbers = value->constant->elements();
            if (numbers != 1 && numbers != dims.back()) return std::nullopt;
            features = features || numbers != 1;
            continue;
        }
        if (value->view.empty() || value->scores || value->probe) return std::nullopt;
        if (first && (value->view != first->view || value->type.dims != first->type.dims))
            return std::nullopt;
        if (!first) first = value;
    }
    if (!first || first->view.empty()) return std::nullopt;
    if (features && !ends_in_features(*first)) return std::nullopt;
    if (normalises && node.integer("axis", -1) != -1 &&
        node.integer("axis", -1) + 1 != std::int64_t(first->view.size()))
        return std::nullopt;
    return first->view;
}

}  // namespace

bool Importer::read_in_pieces(const NodeReader& node, const std::function<void()>& rule) {
    const auto view = common_view(node);
    if (!view) return false;
    std::map<std::string, ImportedValue> given;
    for (std::size_t i = 0; i < node.count(); ++i) {
        if (!node.has(i) || node.of_any_length(i).is_constant()) continue;
        ImportedValue& value = values_.at(node.node().input[i]);
        if (!given.try_emplace(node.node().input[i], value).second) continue;
        value.view.clear();
        value.order.resize(value.type.dims.size());
        std::iota(value.order.begin(), value.order.end(), 0);
    }
    const Dims dims = given.begin()->second.type.dims;
    const auto give_back = [&] {
        for (auto& [name, value] : given)
            values_.insert_or_assign(name, std::move(value));
    };
    try {
        rule();
    } catch (...) {
        give_back();
        throw;
    }
    ImportedValue made = values_.at(node.node().output[0]);
    give_back();
    if (made.is_constant() || made.type.dims != dims || !made.is_plain())
        throw Refused("it does more than to compute with the numbers of axes in pieces", "");
    made.view = *view;
    values_.insert_or_assign(node.node().output[0], std::move(made));
    return true;
}

}  // namespace dtnn::compiler::onnx
