#include "runtime/checkpoint/kept_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

KeptParameters::KeptParameters(const plan::Plan& plan, const std::vector<std::string>& patterns) {
    for (const std::string& text : patterns) {
        std::string fault;
        auto pattern = NamePattern::parse(text, fault);
        if (!pattern)
            throw RunError(Exit::usage, fmt::format("`{}` is no pattern of names: {}", text, fault),
                           "name parameters as the plan does, with * for any text: head_1/*");
        std::string last;
        for (const plan::Parameter& parameter : plan.parameters) {
            if (!parameter.optimizer_state && (last.empty() || !pattern->match(last)))
                last = parameter.name;
        }
        if (!pattern->match(last))
            throw RunError(
                Exit::mismatch,
                fmt::format("no parameter of the plan's model `{}` is called {}", plan.model, text),
                fmt::format("its last parameter is `{}`; `dtnn-run weights list RUN` shows all, "
                            "and * stands for any text",
                            last));
        patterns_.push_back(std::move(*pattern));
    }
}

bool KeptParameters::matches(const std::string& name) const {
    return std::any_of(patterns_.begin(), patterns_.end(),
                       [&](const NamePattern& pattern) { return pattern.match(name).has_value(); });
}

}  // namespace dtnn::runtime
