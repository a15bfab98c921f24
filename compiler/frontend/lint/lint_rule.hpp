#pragma once
/// A lint: a code of diagnostics.def and a function that looks at a spec and says what it finds.
/// Rules change nothing and know nothing of each other.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

/// The parts that a rule needs to have been loaded.
enum class LintScope { model, dataset, training, job };

/// A spec as rules see it.
class LintSubject {
  public:
    explicit LintSubject(const JobSpec& job) : job_(job) {}

    const JobSpec& job() const { return job_; }
    const std::vector<LayerSpec>& layers() const { return job_.model.layers; }
    const plan::Training& training() const { return job_.training.training; }
    const plan::Dataset& dataset() const { return job_.dataset.dataset; }

    /// The first layer that a layer reads; null: the model's input.
    const LayerSpec* source(const LayerSpec& layer) const;
    /// The nearest layer before this one that `passes` does not hold of, along first sources; null:
    /// there is none before the model's input.
    const LayerSpec* before(const LayerSpec& layer,
                            const std::function<bool(const LayerSpec&)>& passes) const;
    /// The layers that read it.
    std::vector<const LayerSpec*> readers(const LayerSpec& layer) const;
    /// The shape of what the layer reads first, without the batch.
    const Dims& input_shape(const LayerSpec& layer) const;
    /// The layer whose numbers are the predictions, and the last one before its probabilities.
    const LayerSpec& end() const;

    /// The place of a field of the training, by its path, or of the training itself.
    Span of_training(const std::string& path) const;
    Span of_dataset(const std::string& path) const;

  private:
    const JobSpec& job_;
    mutable std::vector<std::vector<const LayerSpec*>> readers_;  ///< made when first asked for
};

/// Speaks for one rule.
class LintVoice {
  public:
    LintVoice(Code code, Diagnostics& diagnostics) : code_(code), diagnostics_(diagnostics) {}

    Diagnostic& say(const Span& span, std::string text, std::string help);
    /// One warning for all of the layers, which may be hundreds: at the first, the next as notes.
    /// `text` is about the first.
    void say(const std::vector<const LayerSpec*>& layers, std::string text, std::string help);

  private:
    Code code_;
    Diagnostics& diagnostics_;
};

struct LintRule {
    Code code;
    LintScope scope;
    void (*look)(const LintSubject& subject, LintVoice& voice);
};

// The rules of each file.
std::span<const LintRule> model_lints();
std::span<const LintRule> window_lints();
std::span<const LintRule> value_lints();
std::span<const LintRule> training_lints();
std::span<const LintRule> data_lints();
std::span<const LintRule> job_lints();

/// Whether the layer passes its input on as it is, but for its shape.
bool keeps_numbers(const LayerSpec& layer);
/// Whether it is a convolution or a dense layer: a product with weights.
bool is_product(const LayerSpec& layer);
bool is_dropout(const LayerSpec& layer);  ///< with a rate above 0
/// Whether it gives probabilities or their logarithms: of classes that exclude each other, or each
/// by itself.
bool gives_distribution(const LayerSpec& layer);
bool gives_separate_probabilities(const LayerSpec& layer);

/// Whether a transform gives the channels mean 0.
bool is_centred(const plan::Dataset& dataset);

/// The field's value; null where it has another type or is not there.
template <class T>
const T* value_of(const Attributes& fields, const std::string& name) {
    const auto found = fields.find(name);
    return found == fields.end() ? nullptr : std::get_if<T>(&found->second);
}

}  // namespace dtnn::compiler
