#include "tools/dtnn_run/start.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "runtime/base/run_error.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

Start::Start(const std::string& plan) : loaded(load_plan(plan)) {
    const ThreadChoice choice = choose_threads(loaded.plan.target.threads, wanted_threads);
    threads = choice.threads;
    if (!choice.warning.empty()) warn(choice.warning);
}

void warn(const std::string& text) {
    std::fprintf(stderr, "dtnn-run: warning: %s\n", text.c_str());
}

void require_number(const PassValues& values, const std::string& split) {
    if (values.samples > 0 && !std::isfinite(values.loss())) {
        throw RunError(Exit::diverged,
                       fmt::format("the loss on the {} split is {}", split, values.loss()),
                       "train with a smaller learning rate");
    }
}

}  // namespace dtnn
