#include "runtime/checkpoint/weight_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/parameter_tensors.hpp"

namespace dtnn::runtime {
namespace {

struct Spelling {
    std::string_view text;
    const char* role;
};
constexpr Spelling kSpellings[] = {
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

bool is_real(plan::DType dtype) {
    return dtype == plan::DType::f32 || dtype == plan::DType::f64;
}

std::string describe(const StoredTensor& tensor) {
    return describe_tensor(tensor.dtype, tensor.dims);
}
std::string describe(const plan::Parameter& parameter) {
    return describe_tensor(parameter.dtype, parameter.dims);
}

/// Which tensor each parameter gets; what cannot be one is told in `differences`.
class Assignment {
  public:
    Assignment(const plan::Plan& plan, std::vector<std::string>& differences)
        : plan_(plan), differences_(differences), tensors_(plan.parameters.size()) {
        for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
            if (!plan.parameters[i].optimizer_state) places_.emplace(plan.parameters[i].name, i);
        }
    }

    /// False: the plan has no parameter of this name.
    bool give(const std::string& parameter, const StoredTensor& tensor) {
        const auto place = places_.find(parameter);
        if (place == places_.end()) return false;
        const StoredTensor*& given = tensors_[place->second];
        if (given != nullptr) {
            differences_.push_back(
                fmt::format("{} and {} both go to {}", given->name, tensor.name, parameter));
        }
        given = &tensor;
        return true;
    }

    /// The tensors that are left over.
    std::vector<const StoredTensor*> give_by_order(std::span<const StoredTensor* const> tensors) {
        std::map<std::string, std::vector<std::size_t>> open;
        for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
            const plan::Parameter& parameter = plan_.parameters[i];
            if (!parameter.optimizer_state && tensors_[i] == nullptr)
                open[parameter.role].push_back(i);
        }
        std::map<std::string, std::size_t> next;
        std::vector<const StoredTensor*> rest;
        for (const StoredTensor* tensor : tensors) {
            const std::string role = role_in(tensor->name);
            const auto places = open.find(role);
            if (places == open.end() || next[role] == places->second.size()) {
                rest.push_back(tensor);
            } else {
                tensors_[places->second[next[role]++]] = tensor;
            }
        }
        return rest;
    }

    const std::vector<const StoredTensor*>& tensors() const { return tensors_; }

  private:
    const plan::Plan& plan_;
    std::vector<std::string>& differences_;
    std::map<std::string, std::size_t> places_;
    std::vector<const StoredTensor*> tensors_;
};

/// Whether an f64 tensor holds a finite number that f32 cannot.
bool overflows(const StoredTensor& tensor) {
    for (std::size_t at = 0; at < tensor.bytes.size(); at += sizeof(double)) {
        double value = 0;
        std::memcpy(&value, tensor.bytes.data() + at, sizeof value);
        const double size = value < 0 ? -value : value;
        if (size > double(std::numeric_limits<float>::max()) &&
            size <= std::numeric_limits<double>::max())
            return true;
    }
    return false;
}

/// Fills pairs and the differences of types and shapes under one layout.
void pair_up(const plan::Plan& plan, const std::vector<const StoredTensor*>& tensors,
             const LayoutRules& rules, WeightLayout layout, bool cast, WeightMatch& match) {
    match.layout = layout;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i] == nullptr) continue;
        const plan::Parameter& parameter = plan.parameters[i];
        const StoredTensor& tensor = *tensors[i];
        const std::vector<FileForm> forms = rules.forms(i, layout);
        const auto form = std::find_if(forms.begin(), forms.end(),
                                       [&](const FileForm& f) { return f.takes(tensor.dims); });
        const bool convertible = cast && is_real(tensor.dtype) && is_real(parameter.dtype);
        const std::string source =
            tensor.name == parameter.name ? "" : fmt::format(" (from {})", tensor.name);
        if (form == forms.end() || (tensor.dtype != parameter.dtype && !convertible)) {
            std::string wanted = describe(parameter);
            if (form == forms.end() && forms.front().dims != parameter.dims)
                wanted += fmt::format(", so {} in a file of {} weights",
                                      describe_tensor(parameter.dtype, forms.front().dims),
                                      name_of(layout));
            match.differences.push_back(fmt::format("{}{} is {} in the file and {} in the plan",
                                                    parameter.name, source, describe(tensor),
                                                    wanted));
            continue;
        }
        if (tensor.dtype == plan::DType::f64 && parameter.dtype == plan::DType::f32 &&
            overflows(tensor)) {
            match.differences.push_back(fmt::format("{}{} holds numbers that are too large for f32",
                                                    parameter.name, source));
            continue;
        }
        match.pairs.push_back({i, &tensor, *form});
    }
}

bool same_forms(const WeightMatch& a, const WeightMatch& b) {
    return std::equal(a.pairs.begin(), a.pairs.end(), b.pairs.begin(), b.pairs.end(),
                      [](const WeightMatch::Pair& x, const WeightMatch::Pair& y) {
                          return x.form.same_places(y.form);
                      });
}

/// The layout under which everything fits; the one with the fewest differences where none is.
WeightMatch find_layout(const plan::Plan& plan, const std::vector<const StoredTensor*>& tensors,
                        const LayoutRules& rules, const WeightFile& file,
                        const WeightMatch& before) {
    std::optional<WeightMatch> best;
    for (const WeightLayout layout : kForeignLayouts) {
        WeightMatch match = before;
        pair_up(plan, tensors, rules, layout, true, match);
        if (best && best->differences.empty() && match.differences.empty() &&
            !same_forms(*best, match)) {
            throw RunError(Exit::mismatch,
                           fmt::format("the weights {} fit as {} and as {}", file.path,
                                       name_of(best->layout), name_of(layout)),
                           "say --layout nchw, nhwc or nhwc_gpu: the tensor format that they were "
                           "trained with");
        }
        if (!best || match.differences.size() < best->differences.size()) best = std::move(match);
    }
    return std::move(*best);
}

}  // namespace

bool is_pydtnn_name(const std::string& name) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto end = std::find_if_not(name.begin(), name.end(), digit);
    if (end == name.begin() || end == name.end() || *end != '_') return false;
    const std::string rest(end + 1, name.end());
    for (const std::string_view key :
         {"_weights", "_biases", "_gamma", "_beta", "_running_mean", "_running_var"}) {
        if (!rest.ends_with(key) || rest.size() == key.size()) continue;
        const std::string_view layer = std::string_view(rest).substr(0, rest.size() - key.size());
        return layer[0] >= 'A' && layer[0] <= 'Z' &&
               std::all_of(layer.begin(), layer.end(),
                           [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
    }
    return false;
}

std::string role_in(const std::string& name) {
    for (const Spelling& spelling : kSpellings) {
        if (name == spelling.text) return spelling.role;
        if (!name.ends_with(spelling.text)) continue;
        const char before = name[name.size() - spelling.text.size() - 1];
        if (before == '.' || before == '/' || before == '_' || before == ':') return spelling.role;
    }
    return "";
}

WeightMatch match_weights(const plan::Plan& plan, const WeightFile& file,
                          const WeightRequest& request, NameMap map) {
    WeightMatch match;
    Assignment assignment(plan, match.differences);
    std::vector<const StoredTensor*> rest;
    for (const StoredTensor& tensor : file.tensors) {
        const auto target = map.find(tensor.name);
        if (!target) {
            rest.push_back(&tensor);
        } else if (!target->dropped && !assignment.give(target->name, tensor)) {
            match.differences.push_back(
                fmt::format("{} (from {}) is not in the plan", target->name, tensor.name));
        }
    }
    for (const std::string& entry : map.unused())
        match.differences.push_back(
            fmt::format("the map's entry `{}` matches nothing in the file", entry));

    match.pydtnn = !rest.empty() && std::all_of(rest.begin(), rest.end(), [](const auto* tensor) {
        return is_pydtnn_name(tensor->name);
    });
    const bool by_order = request.match == "order" || (request.match == "auto" && match.pydtnn);
    std::vector<const StoredTensor*> surplus;
    if (by_order) {
        surplus = assignment.give_by_order(rest);
    } else {
        for (const StoredTensor* tensor : rest) {
            if (!assignment.give(tensor->name, *tensor)) surplus.push_back(tensor);
        }
    }
    const std::vector<const StoredTensor*>& tensors = assignment.tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const plan::Parameter& parameter = plan.parameters[i];
        if (parameter.optimizer_state || tensors[i] != nullptr) continue;
        match.missing.push_back(i);
        if (!request.allow_missing)
            match.differences.push_back(
                fmt::format("{} {} is missing", parameter.name, describe(parameter)));
    }
    for (const StoredTensor* tensor : surplus) {
        match.unused.push_back(tensor->name);
        if (!request.allow_missing)
            match.differences.push_back(
                fmt::format("{} {} is not in the plan", tensor->name, describe(*tensor)));
    }

    const LayoutRules rules(plan);
    if (request.layout == "auto" && match.pydtnn)
        return find_layout(plan, tensors, rules, file, match);
    const WeightLayout layout = request.layout == "auto"
                                    ? WeightLayout::own
                                    : parse_layout(request.layout).value_or(WeightLayout::own);
    pair_up(plan, tensors, rules, layout, request.cast || match.pydtnn, match);
    return match;
}

}  // namespace dtnn::runtime
