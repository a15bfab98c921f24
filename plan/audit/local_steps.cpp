#include "plan/audit/local_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plan/rules/local_steps.hpp"
#include "plan/rules/named_operators.hpp"

namespace dtnn::plan {

namespace {

class LocalStepsAudit {
  public:
    explicit LocalStepsAudit(const Plan& plan) : plan_(plan), of_buffer_(plan.buffers.size(), -1) {
        for (std::size_t p = 0; p < plan.parameters.size(); ++p)
            of_buffer_[std::size_t(plan.parameters[p].buffer)] = int(p);
    }

    std::vector<std::string> run() {
        check_settings();
        const Program* synchronise = find_program(plan_, ProgramKind::synchronise);
        if (!moves_locally(plan_.parallel)) {
            if (synchronise != nullptr)
                find("there is a program that averages weights, which are the same on all ranks");
            return std::move(findings_);
        }
        if (synchronise == nullptr) {
            find("ranks move weights of their own, and no program averages them");
            return std::move(findings_);
        }
        std::vector<bool> changed(plan_.parameters.size());
        for (const Program& program : plan_.programs) {
            if (&program == synchronise) continue;
            if (!program.collectives.empty())
                find("ranks exchange in program `{}` of local steps", program.name);
            for (const Step& step : program.steps)
                for (const int id : step.destinations)
                    if (const int parameter = parameter_of(program, id); parameter >= 0)
                        changed[std::size_t(parameter)] = true;
        }
        check_program(*synchronise, changed);
        return std::move(findings_);
    }

  private:
    template <class... Args>
    void find(fmt::format_string<Args...> format, Args&&... args) {
        findings_.push_back(fmt::format(format, std::forward<Args>(args)...));
    }

    void check_settings() {
        const Parallel& parallel = plan_.parallel;
        if (parallel.local_steps < 0 || parallel.min_avail < 0)
            find("weights are averaged every {} updates of at least {} ranks", parallel.local_steps,
                 parallel.min_avail);
        if (parallel.local_steps > 0 && (parallel.optimizer != OptimizerState::replicated ||
                                         parallel.compression != Compression::full))
            find("ranks move weights of their own, and share an optimizer or exchange in `{}`",
                 name_of(parallel.compression));
        if (parallel.private_data && !moves_locally(parallel))
            find("each rank has a dataset of its own, and all exchange gradients");
    }

    /// The parameter that a tensor is as a whole; -1: none.
    int parameter_of(const Program& program, int tensor) const {
        const Tensor& t = program.tensors[std::size_t(tensor)];
        const int parameter = of_buffer_[std::size_t(t.buffer)];
        if (parameter < 0) return -1;
        const Parameter& p = plan_.parameters[std::size_t(parameter)];
        return element_count(t.dims) == element_count(p.dims) && t.offset == p.offset ? parameter
                                                                                      : -1;
    }

    bool is_share(const Program& program, int tensor) const {
        const Input* share = find_input(program, InputRole::share);
        return share != nullptr && share->tensor == tensor;
    }

    void check_program(const Program& program, const std::vector<bool>& changed) {
        // By tensor: the parameter whose weighed values it holds; the one whose mean; -1.
        std::vector<int> weighed(program.tensors.size(), -1), mean(program.tensors.size(), -1);
        std::vector<int> averaged(plan_.parameters.size());
        for (const Step& step : program.steps) {
            const auto bad = [&] {
                find("synchronise: the step `{}` does not belong to an average", step.name);
            };
            if (const std::optional<ExchangeEnd> exchange = exchange_end_of(step.op)) {
                const bool ends = exchange->end == End::wait;
                for (std::size_t i = 0; i < std::min(step.sources.size(), step.destinations.size());
                     ++i) {
                    const int parameter = weighed[std::size_t(step.sources[i])];
                    if (parameter < 0) bad();
                    (ends ? mean : weighed)[std::size_t(step.destinations[i])] = parameter;
                }
            } else if (step.op == kWeigh && step.sources.size() == 2 &&
                       step.destinations.size() == 1 && is_share(program, step.sources[1])) {
                const int parameter = parameter_of(program, step.sources[0]);
                if (parameter < 0) bad();
                weighed[std::size_t(step.destinations[0])] = parameter;
            } else if (step.op == kCopy && step.sources.size() == 1 &&
                       step.destinations.size() == 1 && step.attributes == copy_attributes()) {
                const int parameter = parameter_of(program, step.destinations[0]);
                if (parameter < 0 || mean[std::size_t(step.sources[0])] != parameter)
                    bad();
                else
                    ++averaged[std::size_t(parameter)];
            } else {
                bad();
            }
        }
        for (std::size_t p = 0; p < plan_.parameters.size(); ++p) {
            const Parameter& parameter = plan_.parameters[p];
            const bool own = parameter.optimizer_state && parameter.kind != ParameterKind::average;
            if (averaged[p] != (changed[p] && !own ? 1 : 0))
                find("synchronise: `{}` is averaged {} times", parameter.name, averaged[p]);
            if (changed[p] && own != parameter.by_rank)
                find("`{}` is {}each rank's own", parameter.name, own ? "not " : "");
        }
    }

    const Plan& plan_;
    std::vector<int> of_buffer_;  ///< the parameter in a buffer, or -1
    std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> audit_local_steps(const Plan& plan) {
    return LocalStepsAudit(plan).run();
}

}  // namespace dtnn::plan
