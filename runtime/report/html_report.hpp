#pragma once
/// One page about one run, for people: no script, nothing loaded from elsewhere, readable in any
/// browser and on paper.

#include <string>

#include "plan/plan.hpp"
#include "runtime/report/history_reader.hpp"

namespace dtnn::runtime {

struct ReportParts {
    const plan::Plan* plan = nullptr;
    const RunHistory* history = nullptr;
    std::string folder;           ///< the run's, as the user named it
    std::string operator_times;   ///< a trace's table; may be empty
    bool has_checkpoint = false;  ///< there is one to go on from
};

/// UTF-8: how the run ended, curves of losses, metrics, learning rate and throughput, results on
/// the test split with the confusion matrix, the layer table, every setting with its origin, the
/// machine.
std::string html_report(const ReportParts& parts);

}  // namespace dtnn::runtime
