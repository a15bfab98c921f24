// Trainings whose batches go on where the ones before ended: what they ask of the rest of the job.

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "compiler/frontend/read/validation.hpp"
#include "compiler/ops/define.hpp"
#include "plan/dataset_types.hpp"

namespace dtnn::compiler {
namespace {

class CarriedStateCheck {
  public:
    CarriedStateCheck(const JobSpec& job, Diagnostics& diagnostics)
        : job_(job), training_(job.training.training), diagnostics_(diagnostics) {}

    void run() {
        samples();
        order();
        layers();
        ranks();
    }

  private:
    void refuse(const Span& span, const std::string& fact, const std::string& help) {
        Diagnostic& error = diagnostics_.error(Code::conflicting_fields, span, fact);
        error.help = help;
        const Span& place = span_or(job_.training.spans, "carry_state", job_.training.span);
        if (!(place.place == span.place))
            error.notes.push_back({place, "`carry_state` is given here"});
    }
    Span of_dataset(const char* field) const {
        return span_or(job_.dataset.spans, field, job_.dataset.span);
    }
    Span of_training(const char* field) const {
        return span_or(job_.training.spans, field, job_.training.span);
    }

    void samples() {
        const plan::Dataset& dataset = job_.dataset.dataset;
        const plan::DatasetType* type = plan::find_dataset_type(dataset.type);
        if (!type || type->form != plan::DatasetForm::tokens) {
            refuse(of_dataset("type"),
                   fmt::format("`carry_state` of training wants samples that go on where others "
                               "end, and those of a dataset of type {} do not",
                               dataset.type),
                   "leave it out, or train on text: `dtnnc explain text`");
            return;
        }
        const auto number = [&](const char* name) {
            const auto found = dataset.attributes.find(name);
            const auto* value = found == dataset.attributes.end()
                                    ? nullptr
                                    : std::get_if<std::int64_t>(&found->second);
            return value ? *value : 0;
        };
        const std::int64_t steps = number("steps"), stride = number("stride");
        if (stride > 0 && stride != steps)
            refuse(of_dataset("stride"),
                   fmt::format("`stride` of dataset is {}, and samples are of {} tokens: with "
                               "`carry_state` each goes on where the one before ended",
                               stride, steps),
                   "leave `stride` out: it is `steps` then");
        if (job_.dataset.sample_percentage != 100)
            refuse(of_dataset("sample_percentage"),
                   fmt::format("`sample_percentage` of dataset is {:g}, and with `carry_state` an "
                               "epoch takes all of a text, once",
                               job_.dataset.sample_percentage),
                   "leave it out");
    }

    void order() {
        if (job_.training.spans.contains("shuffle") && training_.shuffle)
            refuse(of_training("shuffle"),
                   "`shuffle` of training is true, and with `carry_state` samples come in the "
                   "order of the text",
                   "leave `shuffle` out");
        const char* const kept = training_.k_folds > 0            ? "k_folds"
                                 : training_.validation_split > 0 ? "validation_split"
                                                                  : nullptr;
        if (kept != nullptr)
            refuse(of_training(kept),
                   fmt::format("`{}` of training draws samples of validation from all over the "
                               "text, and with `carry_state` each goes on where the one before "
                               "ended",
                               kept),
                   "give the dataset a text of its own for them, `validation_path`, or "
                   "`test_as_validation: true`");
    }

    void layers() {
        bool any = false;
        for (const LayerSpec& layer : job_.model.layers) {
            const OpDef* def = find_op(layer.type);
            if (!def || !def->has_state) continue;
            any = true;
            if (!flag(layer.fields, "reversed")) continue;
            refuse(span_or(layer.spans, "reversed", layer.span),
                   fmt::format("`{}` goes from the last step to the first, and with `carry_state` "
                               "it would begin where the text before began",
                               layer.name),
                   "leave `reversed` out here, or `carry_state` of the training");
        }
        if (any || job_.model.layers.empty()) return;
        refuse(of_training("carry_state"),
               "`carry_state` of training carries the states of recurrent layers, and the model "
               "has none",
               "leave it out, or add such a layer: `rnn`, `lstm`, `gru`");
    }

    void ranks() {
        if (!job_.parallel.parallel.data || job_.parallel.parallel.local_steps == 0) return;
        refuse(span_or(job_.parallel.spans, "synchronise", job_.parallel.span),
               "ranks that move weights of their own take samples of their own, whose lanes "
               "`carry_state` does not know",
               "leave `synchronise` out: ranks that exchange gradients share the lanes");
    }

    const JobSpec& job_;
    const plan::Training& training_;
    Diagnostics& diagnostics_;
};

}  // namespace

void settle_carried_state(JobSpec& job, Diagnostics& diagnostics) {
    plan::Training& training = job.training.training;
    if (!training.carry_state) return;
    CarriedStateCheck(job, diagnostics).run();
    training.shuffle = false;
}

}  // namespace dtnn::compiler
