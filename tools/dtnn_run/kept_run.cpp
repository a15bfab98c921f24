#include "tools/dtnn_run/kept_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "runtime/base/files.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/report/run_files.hpp"

namespace dtnn {

using namespace runtime;  // NOLINT(google-build-using-namespace): as the commands that use it

KeptRun::KeptRun(RunFolder the_folder, const LoadedPlan& its_plan, Session& its_session,
                 RunIdentity identity, LineFile::Begin begin,
                 const std::function<void(const std::string&)>& warn)
    : loaded(its_plan),
      session(its_session),
      folder(std::move(the_folder)),
      history(folder.history(), loaded.plan, begin,
              [this, warn] {
                  warn(
                      fmt::format("{} was removed while the run writes it; it is there again, "
                                  "with plan and history",
                                  folder.path()));
                  folder.write_plan(loaded);
              }),
      checkpoints(folder.path(), session.executor(), std::move(identity),
                  [this] { return history.flush(); }) {
    remove_half_written(folder.path());
}

void KeptRun::save() {
    // Someone may have removed it since; hours of training are not lost to that.
    create_folders(folder.path());
    const TrainedNames names = {class_names_of(session.source(), loaded.plan.dataset),
                                session.source().feature_names()};
    save_weights(session.executor(), folder.weights(), loaded.checksum, names);
    if (loaded.plan.training.average_decay > 0)
        save_evaluated_weights(session.executor(), folder.average_weights(), loaded.checksum,
                               names);
}

void KeptRun::tell_end(const TrainingResult& result, const PassValues& test) {
    // Behind whatever a checkpoint may have been written with: a run that goes on tells it again.
    history.stopped(result);
    history.restored(result);
    history.evaluate(test);
}

}  // namespace dtnn
