#include "compiler/frontend/lint/lint.hpp"

#include <algorithm>
#include <initializer_list>

#include "compiler/frontend/lint/lint_rule.hpp"

namespace dtnn::compiler {
namespace {

std::vector<LintRule> all_rules() {
    std::vector<LintRule> rules;
    for (const auto& some : {model_lints(), window_lints(), value_lints(), training_lints(),
                             data_lints(), job_lints()})
        rules.insert(rules.end(), some.begin(), some.end());
    return rules;
}

void lint(const JobSpec& job, std::initializer_list<LintScope> loaded, Diagnostics& diagnostics) {
    const LintSubject subject(job);
    for (const LintRule& rule : all_rules()) {
        if (std::find(loaded.begin(), loaded.end(), rule.scope) == loaded.end()) continue;
        LintVoice voice(rule.code, diagnostics);
        rule.look(subject, voice);
    }
}

}  // namespace

void lint_job(const JobSpec& job, Diagnostics& diagnostics) {
    if (job.model.layers.empty()) return;
    // The dataset and the training of a model alone were made up.
    if (job.model_alone)
        lint(job, {LintScope::model}, diagnostics);
    else
        lint(job, {LintScope::model, LintScope::dataset, LintScope::training, LintScope::job},
             diagnostics);
}

void lint_training(const TrainingSpec& training, Diagnostics& diagnostics) {
    JobSpec job;
    job.training = training;
    lint(job, {LintScope::training}, diagnostics);
}

void lint_dataset(const DatasetSpec& dataset, Diagnostics& diagnostics) {
    JobSpec job;
    job.dataset = dataset;
    lint(job, {LintScope::dataset}, diagnostics);
}

std::vector<Code> codes_of_rules() {
    std::vector<Code> codes;
    for (const LintRule& rule : all_rules())
        codes.push_back(rule.code);
    return codes;
}

}  // namespace dtnn::compiler
