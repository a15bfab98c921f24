#include "runtime/checkpoint/weight_order.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>

#include "runtime/checkpoint/name_pattern.hpp"

namespace dtnn::runtime {
namespace {

struct Spelling {
    std::string_view text;
    const char* role;
};
constexpr Spelling kSpellings[] = {
    {"hidden_weights", "hidden_weights"},
    {"recurrent_kernel", "hidden_weights"},
    {"hidden_bias", "hidden_bias"},
    {"weights", "weights"},
    {"weight", "weights"},
    {"kernel", "weights"},
    {"biases", "bias"},
    {"bias", "bias"},
    {"gamma", "gamma"},
    {"beta", "beta"},
    {"running_mean", "running_mean"},
    {"moving_mean", "running_mean"},
    {"running_variance", "running_variance"},
    {"running_var", "running_variance"},
    {"moving_variance", "running_variance"},
    {"moving_var", "running_variance"},
};

const Spelling* spelling_in(std::string_view name) {
    for (const Spelling& spelling : kSpellings) {
        if (name == spelling.text) return &spelling;
        if (!name.ends_with(spelling.text)) continue;
        const char before = name[name.size() - spelling.text.size() - 1];
        if (before == '.' || before == '/' || before == '_' || before == ':') return &spelling;
    }
    return nullptr;
}

/// The run of digits at `at`, without leading zeros; moves `at` behind it.
std::string_view number_at(std::string_view text, std::size_t& at) {
    std::size_t begin = at;
    while (at < text.size() && is_digit(text[at]))
        ++at;
    while (begin < at && text[begin] == '0')
        ++begin;
    return text.substr(begin, at - begin);
}

}  // namespace

std::string role_in(const std::string& name) {
    const Spelling* spelling = spelling_in(name);
    return spelling == nullptr ? "" : spelling->role;
}

std::string role_spelled(std::string_view text) {
    for (const Spelling& spelling : kSpellings) {
        if (text == spelling.text) return spelling.role;
    }
    return "";
}

std::vector<std::string> roles_of(std::span<const StoredTensor* const> tensors) {
    const auto layer_of = [](const StoredTensor& tensor, const Spelling& spelling) {
        return std::string_view(tensor.name).substr(0, tensor.name.size() - spelling.text.size());
    };
    std::set<std::string_view> norms;
    for (const StoredTensor* tensor : tensors) {
        const Spelling* spelling = spelling_in(tensor->name);
        // In a file the weight of a norm is a list; that of another layer has more axes.
        if (spelling != nullptr && spelling->text == "weight" && tensor->dims.size() == 1)
            norms.insert(layer_of(*tensor, *spelling));
    }
    std::vector<std::string> roles;
    for (const StoredTensor* tensor : tensors) {
        const Spelling* spelling = spelling_in(tensor->name);
        std::string role = spelling == nullptr ? "" : spelling->role;
        if (spelling != nullptr && norms.contains(layer_of(*tensor, *spelling))) {
            if (spelling->text == "weight") role = "gamma";
            if (spelling->text == "bias") role = "beta";
        }
        roles.push_back(std::move(role));
    }
    return roles;
}

NameDifference compare_names(std::string_view a, std::string_view b) {
    std::size_t i = 0, k = 0;
    while (i < a.size() && k < b.size()) {
        if (is_digit(a[i]) && is_digit(b[k])) {
            const std::string_view x = number_at(a, i), y = number_at(b, k);
            if (x.size() != y.size()) return {x.size() < y.size() ? -1 : 1, true};
            if (const int order = x.compare(y); order != 0) return {order, true};
        } else if (a[i] != b[k]) {
            return {static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[k]) ? -1 : 1,
                    false};
        } else {
            ++i;
            ++k;
        }
    }
    if (i < a.size() || k < b.size()) return {i < a.size() ? 1 : -1, false};
    return {a.compare(b), true};  // the same but for leading zeros
}

std::vector<const StoredTensor*> in_order_of_names(std::span<const StoredTensor* const> tensors) {
    std::vector<const StoredTensor*> sorted(tensors.begin(), tensors.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
        return compare_names(a->name, b->name).sign < 0;
    });
    return sorted;
}

bool sorted_as_text(std::span<const StoredTensor* const> tensors) {
    std::map<DType, std::string_view> last;
    return std::all_of(tensors.begin(), tensors.end(), [&](const StoredTensor* tensor) {
        std::string_view& before = last[tensor->dtype];
        const bool behind = before <= tensor->name;
        before = tensor->name;
        return behind;
    });
}

std::optional<std::pair<const StoredTensor*, const StoredTensor*>> told_apart_by_text(
    std::span<const StoredTensor* const> tensors) {
    const std::vector<const StoredTensor*> sorted = in_order_of_names(tensors);
    const std::vector<std::string> roles = roles_of(sorted);
    // Names whose first difference is one of text have neighbours between them of which that holds.
    std::map<std::tuple<std::string, DType, Dims>, const StoredTensor*> last;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const StoredTensor*& before = last[{roles[i], sorted[i]->dtype, sorted[i]->dims}];
        if (before != nullptr && !compare_names(before->name, sorted[i]->name).in_number)
            return std::pair{before, sorted[i]};
        before = sorted[i];
    }
    return std::nullopt;
}

}  // namespace dtnn::runtime
