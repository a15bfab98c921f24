#include "compiler/frontend/datasets/dataset_fields.hpp"
#include "compiler/frontend/datasets/dataset_type.hpp"
#include "compiler/frontend/datasets/next_tokens.hpp"

namespace dtnn::compiler {
namespace {

const FieldTable& grammar_fields() {
    using namespace dataset_fields;
    static const FieldTable table = {
        steps_field(),
        seed(),
        train_samples(10'000),
        test_samples(2'000),
    };
    return table;
}

void settle_grammar(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics) {
    spec.dataset.target().classes = plan::find_dataset_type(spec.dataset.type)->classes;
    settle_next_tokens(fields, spec, diagnostics);
}

}  // namespace

ComponentInfo grammar_type() {
    return {.name = "grammar",
            .doc =
                "Sentences of a small language of 40 words, made by the program itself from a "
                "seed: nothing is read or downloaded. Verbs agree with nouns that may stand far "
                "before them; the least loss that a network can reach is known.",
            .example =
                "kind: dataset\ntype: grammar\nsteps: 64\ntrain_samples: 5000\n"
                "test_samples: 1000\n",
            .fields = &grammar_fields(),
            .settle = settle_grammar};
}

}  // namespace dtnn::compiler
