#pragma once
/// What the commands of dtnn-run share.

#include <optional>
#include <string>

#include "runtime/base/environment.hpp"
#include "runtime/exec/load.hpp"
#include "runtime/train/session.hpp"

namespace dtnn {

/// A plan and how many threads it will have. The thread count is settled before anything is read: a
/// mistake there is a mistake of usage.
struct Start {
    std::optional<int> wanted_threads = runtime::threads_from_environment();
    runtime::LoadedPlan loaded;
    int threads = 1;

    explicit Start(const std::string& plan);
};

/// "dtnn-run: warning: TEXT" on stderr.
void warn(const std::string& text);

/// A loss on the split that is no number is a RunError (exit 6).
void require_number(const runtime::PassValues& values, const std::string& split = "test");

}  // namespace dtnn
