#include "runtime/checkpoint/weight_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/kept_parameters.hpp"
#include "runtime/checkpoint/parameter_names.hpp"
#include "runtime/checkpoint/parameter_tensors.hpp"
#include "runtime/checkpoint/stored_numbers.hpp"
#include "runtime/checkpoint/weight_order.hpp"
#include "runtime/exec/number_check.hpp"

namespace dtnn::runtime {
namespace {

bool is_real(DType dtype) {
    return dtype == DType::f32 || dtype == DType::f64 || is_reduced(dtype);
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
    Assignment(const plan::Plan& plan, const ParameterNames& names, const KeptParameters& kept,
               std::vector<std::string>& differences)
        : plan_(plan),
          names_(names),
          kept_(kept),
          differences_(differences),
          tensors_(plan.parameters.size()) {}

    /// False: the plan has no parameter of this name, nor keeps one.
    bool give(const std::string& parameter, const StoredTensor& tensor) {
        const auto place = names_.find(parameter);
        if (!place) return kept_.matches(parameter);
        const StoredTensor*& given = tensors_[*place];
        if (given != nullptr) {
            differences_.push_back(fmt::format("{} and {} both go to {}", given->name, tensor.name,
                                               plan_.parameters[*place].name));
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
        const std::vector<std::string> roles = roles_of(tensors);
        std::map<std::string, std::size_t> next;
        std::vector<const StoredTensor*> rest;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            const auto places = open.find(roles[i]);
            if (places == open.end() || next[roles[i]] == places->second.size()) {
                rest.push_back(tensors[i]);
            } else {
                tensors_[places->second[next[roles[i]]++]] = tensors[i];
            }
        }
        return rest;
    }

    /// The tensors whose names are not the plan's.
    /// `wrapper` stands before each name.
    std::vector<const StoredTensor*> give_by_name(std::span<const StoredTensor* const> tensors,
                                                  const std::string& wrapper) {
        std::vector<const StoredTensor*> rest;
        for (const StoredTensor* tensor : tensors) {
            if (!give(tensor->name, *tensor) &&
                (wrapper.empty() || !give(tensor->name.substr(wrapper.size()), *tensor)))
                rest.push_back(tensor);
        }
        return rest;
    }

    /// Parameters that keep what they have get none.
    std::vector<const StoredTensor*> tensors() const {
        std::vector<const StoredTensor*> taken = tensors_;
        for (std::size_t i = 0; i < taken.size(); ++i) {
            if (kept_.matches(plan_.parameters[i].name)) taken[i] = nullptr;
        }
        return taken;
    }

  private:
    const plan::Plan& plan_;
    const ParameterNames& names_;
    const KeptParameters& kept_;
    std::vector<std::string>& differences_;
    std::vector<const StoredTensor*> tensors_;
};

/// " (from NAME)" where a file calls a parameter otherwise.
std::string source_text(const plan::Parameter& parameter, const StoredTensor& tensor) {
    return tensor.name == parameter.name ? "" : fmt::format(" (from {})", tensor.name);
}

/// Why a tensor of this role is none for this parameter; empty: nothing is known against it. Roles
/// are an open set, as operators name their own: torch calls the two of norms by others'.
std::string role_difference(const std::string& role, const plan::Parameter& parameter) {
    const bool sound = role.empty() || role == parameter.role ||
                       (role == "weights" && parameter.role == "gamma") ||
                       (role == "bias" && parameter.role == "beta");
    return sound ? "" : fmt::format("is {} in the file and {} in the plan", role, parameter.role);
}

/// Fills pairs and the differences of roles, types and shapes under one layout.
void pair_up(const plan::Plan& plan, const std::vector<const StoredTensor*>& tensors,
             const LayoutRules& rules, WeightLayout layout, bool cast, WeightMatch& match) {
    match.layout = layout;
    match.alike = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i] == nullptr) continue;
        const plan::Parameter& parameter = plan.parameters[i];
        const StoredTensor& tensor = *tensors[i];
        const std::string source = source_text(parameter, tensor);
        // Who calls a parameter as the plan does means that one, whatever its name ends with.
        const std::string role = source.empty() ? "" : role_in(tensor.name);
        const std::string roles = role_difference(role, parameter);
        if (!roles.empty()) {
            match.differences.push_back(fmt::format("{}{} {}", parameter.name, source, roles));
            continue;
        }
        const std::vector<FileForm> forms = rules.forms(i, layout);
        const auto form = std::find_if(forms.begin(), forms.end(),
                                       [&](const FileForm& f) { return f.takes(tensor.dims); });
        if (form != forms.end()) ++match.alike;
        const bool convertible = cast && is_real(tensor.dtype) && is_real(parameter.dtype);
        if (form == forms.end() || (tensor.dtype != parameter.dtype && !convertible)) {
            std::string there;
            if (form == forms.end() && forms.front().dims != parameter.dims)
                there = fmt::format(", so {} in a file of {} weights",
                                    describe_tensor(parameter.dtype, forms.front().dims),
                                    name_of(layout));
            match.differences.push_back(fmt::format("{}{} is {} in the file and {} in the plan{}",
                                                    parameter.name, source, describe(tensor),
                                                    describe(parameter), there));
            continue;
        }
        match.pairs.push_back({i, &tensor, *form});
    }
}

template <class T>
std::string number_difference(const StoredTensor& tensor, DType wanted) {
    const double most = wanted == DType::f32 ? double(std::numeric_limits<float>::max())
                                             : std::numeric_limits<double>::max();
    std::size_t bad = 0, first = 0;
    double value = 0;
    for (std::size_t at = 0; at + sizeof(T) <= tensor.bytes.size(); at += sizeof(T)) {
        T element;
        std::memcpy(&element, tensor.bytes.data() + at, sizeof element);
        if (std::abs(double(element)) <= most) continue;
        if (bad++ == 0) {
            first = at / sizeof(T);
            value = double(element);
        }
    }
    if (bad == 0) return "";
    std::vector<std::int64_t> index(tensor.dims.size());
    for (std::size_t axis = index.size(); axis-- > 0;) {
        index[axis] = std::int64_t(first) % tensor.dims[axis];
        first /= std::size_t(tensor.dims[axis]);
    }
    return fmt::format("holds {} at [{}], which {}{}", number_text(value), fmt::join(index, ","),
                       std::isfinite(value) ? "is too large for f32" : "is no finite number",
                       bad == 1 ? "" : fmt::format(" (the first of {})", bad));
}

/// Numbers that a training, or the plan's type, has no use for.
void check_numbers(const plan::Plan& plan, WeightMatch& match) {
    for (const WeightMatch::Pair& pair : match.pairs) {
        const plan::Parameter& parameter = plan.parameters[pair.parameter];
        const std::string fact = with_type_of(*pair.tensor, [&](auto number) {
            return number_difference<decltype(number)>(*pair.tensor, parameter.dtype);
        });
        if (!fact.empty())
            match.differences.push_back(
                fmt::format("{}{} {}", parameter.name, source_text(parameter, *pair.tensor), fact));
    }
}

/// A match that is tried: tensors in one way, arranged as one of the layouts.
struct Attempt {
    WeightMatch match;
    MatchBy way = MatchBy::name;
};

/// The first pair that two matches that fit do not share; nothing: they are the same.
std::optional<std::size_t> first_difference(const WeightMatch& a, const WeightMatch& b) {
    for (std::size_t i = 0; i < a.pairs.size(); ++i) {
        const WeightMatch::Pair &x = a.pairs[i], &y = b.pairs[i];
        if (x.tensor != y.tensor || !x.form.same_places(y.form)) return i;
    }
    return std::nullopt;
}

const char* const kSayOrder =
    "say --match file_order, or name_order (numbers by their values, so 2 before 10), or say in "
    "--map FILE which tensor is which parameter";

[[noreturn]] void refuse_two(const plan::Plan& plan, const std::string& path, const Attempt& a,
                             const Attempt& b, std::size_t pair) {
    const WeightMatch::Pair &x = a.match.pairs[pair], &y = b.match.pairs[pair];
    const plan::Parameter& parameter = plan.parameters[x.parameter];
    if (x.tensor != y.tensor) {
        const bool file_first = a.way == MatchBy::file_order;
        throw RunError(Exit::mismatch,
                       fmt::format("the weights {} fit in the order of the file, and otherwise in "
                                   "that of their names: {} would be {} or {}",
                                   path, parameter.name, (file_first ? x : y).tensor->name,
                                   (file_first ? y : x).tensor->name),
                       kSayOrder);
    }
    throw RunError(
        Exit::mismatch,
        fmt::format("the weights {} fit as {} and as {}, and {}{} {} is another in each", path,
                    name_of(a.match.layout), name_of(b.match.layout), parameter.name,
                    source_text(parameter, *x.tensor), describe(*x.tensor)),
        "say --layout own, torch, nchw, nhwc or nhwc_gpu: how the program arranges axes that "
        "has written them");
}

/// The one that fits; where none does, the one with the fewest differences. Two that fit and are
/// not the same are an error.
Attempt choose(const plan::Plan& plan, const std::string& path,
               const std::vector<Attempt>& attempts) {
    const Attempt* best = nullptr;
    for (const Attempt& attempt : attempts) {
        if (best == nullptr || attempt.match.differences.size() < best->match.differences.size()) {
            best = &attempt;
        } else if (best->match.differences.empty() && attempt.match.differences.empty()) {
            const auto pair = first_difference(best->match, attempt.match);
            if (pair) refuse_two(plan, path, *best, attempt, *pair);
        }
    }
    return *best;
}

/// The order of names must be one of numbers wherever tensors could take each other's places.
void require_numbered(const std::string& path, std::span<const StoredTensor* const> tensors) {
    const auto pair = told_apart_by_text(tensors);
    if (!pair) return;
    throw RunError(Exit::mismatch,
                   fmt::format("the order of the weights {} is not known: the file is sorted by "
                               "name, and {} and {} are both {}",
                               path, pair->first->name, pair->second->name, describe(*pair->first)),
                   kSayOrder);
}

/// Whether the file's axes are the plan's beyond doubt: a run wrote it, or all names are the
/// plan's.
bool is_own(const plan::Plan& plan, const WeightFile& file,
            const std::vector<const StoredTensor*>& tensors) {
    if (const auto known = file.written_by_run()) return *known;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i] != nullptr && tensors[i]->name != plan.parameters[i].name) return false;
    }
    return true;
}

/// Tells what no tensor goes to, and which tensors go nowhere.
void tell_left(const plan::Plan& plan, const KeptParameters& kept,
               const std::vector<const StoredTensor*>& tensors,
               const std::vector<const StoredTensor*>& surplus, bool allowed, WeightMatch& match) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const plan::Parameter& parameter = plan.parameters[i];
        if (parameter.optimizer_state || tensors[i] != nullptr) continue;
        match.missing.push_back(i);
        if (!allowed && !kept.matches(parameter.name))
            match.differences.push_back(
                fmt::format("{} {} is missing", parameter.name, describe(parameter)));
    }
    for (const StoredTensor* tensor : surplus) {
        match.unused.push_back(tensor->name);
        if (!allowed)
            match.differences.push_back(
                fmt::format("{} {} is not in the plan", tensor->name, describe(*tensor)));
    }
}

std::vector<WeightLayout> layouts_for(const WeightRequest& request, const NameMap& map, bool pydtnn,
                                      bool own) {
    if (const auto said = parse_layout(request.layout)) return {*said};
    if (const auto said = parse_layout(map.layout())) return {*said};
    if (own) return {WeightLayout::own};
    if (pydtnn) return {std::begin(kPydtnnLayouts), std::end(kPydtnnLayouts)};
    return {WeightLayout::own, WeightLayout::torch, WeightLayout::nhwc, WeightLayout::nhwc_gpu};
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

WeightMatch match_weights(const plan::Plan& plan, const WeightFile& file,
                          const WeightRequest& request, NameMap map) {
    WeightMatch match;
    const ParameterNames names(plan);
    const KeptParameters kept(plan, request.keep);
    Assignment assignment(plan, names, kept, match.differences);
    const std::string wrapper = wrapper_in(file);
    std::vector<const StoredTensor*> rest;
    for (const StoredTensor& tensor : file.tensors) {
        const auto target = map.find(tensor.name, wrapper);
        if (is_batch_count(tensor)) continue;
        if (!target) {
            rest.push_back(&tensor);
        } else if (target->dropped) {
            match.dropped.push_back(tensor.name);
        } else if (!assignment.give(target->name, tensor)) {
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
    // A run's own file is in the order of its plan, whatever the names.
    const bool own_order = file.written_by_run().value_or(false);
    const bool either =
        request.match == MatchBy::order || (request.match == MatchBy::unsaid && match.pydtnn);
    const bool no_order = either && !own_order && sorted_as_text(rest);
    const LayoutRules rules(plan);
    std::vector<Attempt> attempts;
    const auto attempt = [&](std::span<const StoredTensor* const> tensors, MatchBy way) {
        Assignment tried = assignment;
        const std::vector<const StoredTensor*> surplus = way == MatchBy::name
                                                             ? tried.give_by_name(tensors, wrapper)
                                                             : tried.give_by_order(tensors);
        WeightMatch found = match;
        const std::vector<const StoredTensor*> taken = tried.tensors();
        tell_left(plan, kept, taken, surplus, request.allow_missing, found);
        const bool own = !match.pydtnn && is_own(plan, file, taken);
        for (const WeightLayout layout : layouts_for(request, map, match.pydtnn, own)) {
            Attempt made{found, way};
            pair_up(plan, taken, rules, layout, request.cast || match.pydtnn, made.match);
            // An attempt that neither fits nor comes nearer than another is not kept: a file may
            // have many tensors that are not the plan's.
            const auto as_near = [&](const Attempt& other) {
                return other.match.differences.size() <= made.match.differences.size();
            };
            if (made.match.differences.empty() ||
                std::none_of(attempts.begin(), attempts.end(), as_near))
                attempts.push_back(std::move(made));
        }
    };
    const std::vector<const StoredTensor*> by_names = in_order_of_names(rest);
    if (request.match == MatchBy::file_order || (either && !no_order))
        attempt(rest, MatchBy::file_order);
    if (request.match == MatchBy::name_order || (either && !own_order))
        attempt(by_names, MatchBy::name_order);
    const std::vector<Attempt> trusted = attempts;
    // Names that are sorted as text may still contradict the match, but are not taken in their
    // place.
    if (no_order) attempt(rest, MatchBy::file_order);
    if (attempts.empty()) attempt(rest, MatchBy::name);
    Attempt chosen = choose(plan, file.path, attempts);
    if (no_order && chosen.way == MatchBy::file_order) chosen = choose(plan, file.path, trusted);
    if (either && chosen.way == MatchBy::name_order && chosen.match.differences.empty())
        require_numbered(file.path, rest);
    check_numbers(plan, chosen.match);
    return std::move(chosen.match);
}

}  // namespace dtnn::runtime
