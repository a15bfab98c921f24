#include "runtime/report/run_watch.hpp"

#include <filesystem>
#include <vector>

#include "runtime/base/files.hpp"
#include "runtime/report/history_reader.hpp"

namespace dtnn::runtime {
namespace {

void add(Scalars& scalars, const std::string& prefix, const Measures& measures) {
    for (const auto& [name, value] : measures.numbers)
        scalars.emplace_back(prefix + name, value);
}

}  // namespace

RunWatch::RunWatch(const std::string& folder, const Executor& executor, const WatchRequest& request,
                   std::int64_t first_step)
    : folder_(folder), executor_(executor), request_(request) {
    if (!request_.tensorboard) return;
    board_ = std::make_unique<TensorBoard>(folder_ + "/tensorboard", first_step);
    board_->graph(executor_.plan());
    if (first_step == 0) histograms(0);
    // The lines that are there already were told before the run was stopped.
    if (first_step > 0) {
        const RunHistory history = read_history(folder_ + "/history.jsonl");
        if (!history.epochs.empty()) epochs_told_ = history.epochs.back().epoch;
    }
}

bool RunWatch::is_removed() const {
    std::error_code ignored;
    return !std::filesystem::exists(folder_ + "/history.jsonl", ignored);
}

void RunWatch::update() {
    // Someone may have removed the run's folder, even while this reads and writes: that is no
    // reason to stop. The history's writer makes it again, and the next update tells the rest.
    if (is_removed()) return;
    RunHistory history;
    try {
        history = read_history(folder_ + "/history.jsonl");
        write_file(folder_ + "/history.csv", history_csv(history));
    } catch (const RunError&) {
        if (is_removed()) return;
        throw;
    }
    if (!board_) return;
    for (const EpochRecord& epoch : history.epochs) {
        if (epoch.epoch <= epochs_told_) continue;
        epochs_told_ = epoch.epoch;
        for (std::size_t i = 0; i < epoch.steps.size(); ++i)
            board_->scalars(
                std::int64_t(epoch.steps[i]),
                {{"steps/loss", epoch.losses[i]}, {"steps/learning_rate", epoch.rates[i]}});
        Scalars scalars = {{"learning_rate", epoch.learning_rate},
                           {"samples_per_second", epoch.samples_per_second}};
        add(scalars, "train/", epoch.train);
        add(scalars, "validation/", epoch.validation);
        board_->scalars(epoch.step, scalars);
        histograms(epoch.epoch);
    }
    if (history.test.empty() || test_told_) return;
    test_told_ = true;
    Scalars scalars;
    add(scalars, "test/", history.test);
    board_->scalars(history.epochs.empty() ? 0 : history.epochs.back().step, scalars);
}

void RunWatch::histograms(std::int64_t epoch) {
    if (request_.histograms_every <= 0 || epoch % request_.histograms_every != 0) return;
    const plan::Plan& plan = executor_.plan();
    std::vector<double> values;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
        const plan::Parameter& parameter = plan.parameters[i];
        if (parameter.optimizer_state) continue;
        const auto count = std::size_t(element_count(parameter.dims));
        const HostView view = executor_.parameter_view(i);
        // The order of the elements does not matter.
        if (parameter.dtype == DType::f32) {
            const auto* first = reinterpret_cast<const float*>(view.bytes().data());
            values.assign(first, first + count);
        } else if (parameter.dtype == DType::f64) {
            const auto* first = reinterpret_cast<const double*>(view.bytes().data());
            values.assign(first, first + count);
        } else {
            continue;
        }
        board_->histogram(epoch, parameter.name, values);
    }
}

}  // namespace dtnn::runtime
