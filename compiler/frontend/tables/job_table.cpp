#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/tables/tables.hpp"
#include "compiler/support/field_rows.hpp"

namespace dtnn::compiler {

namespace {

constexpr std::string_view kOwnWeights = "ranks' weights are averaged more or less often";

}  // namespace

const FieldTable& synchronise_table() {
    static const FieldTable table = {
        integer_field("every", kMustBeGiven, between(1, 1e9).in("updates"),
                      "updates that each rank makes of its own weights between two averages of "
                      "them; they are averaged at the end of every epoch as well",
                      mathematics(kOwnWeights),
                      fills<&ParallelSpec::parallel, &plan::Parallel::local_steps>()),
        choice_field("average", "avg", words_of<plan::WeightAverage>(),
                     "what a rank weighs in it: all the same, as many as it has training samples, "
                     "or the inverse of that",
                     mathematics("ranks weigh otherwise in their average"),
                     fills<&ParallelSpec::parallel, &plan::Parallel::average>()),
        choice_field(
            "participation", "all", words_of<plan::Participation>(),
            "an epoch ends with the data of the rank that has the fewest batches, or goes on with "
            "those that have data left; all receive the average",
            mathematics(
                "epochs end with other samples, and ranks weigh otherwise in their average"),
            fills<&ParallelSpec::parallel, &plan::Parallel::participation>()),
        integer_field("min_avail", 0, between(0, 1'000'000).in("ranks"),
                      "of avail2all: weights are not averaged while fewer ranks have data",
                      mathematics(kOwnWeights),
                      fills<&ParallelSpec::parallel, &plan::Parallel::min_avail>()),
    };
    return table;
}

const FieldTable& parallel_table() {
    static const FieldTable table = {
        {.name = "data",
         .type = FieldType::integer_or_choice,
         .doc = "how many ranks share the training, each with all weights and its part of every "
                "global batch: `auto` is any number, chosen when the run starts; a number is just "
                "that many; none is one rank",
         .change = mathematics("a global batch is a batch of every rank, so that updates average "
                               "over another number of samples"),
         .minimum = 1,
         .maximum = 1'000'000,
         .choices = {"auto", "none"},
         .unit = "ranks",
         .optional = true},
        choice_field("reduction", "overlapped", words_of<plan::ReductionMode>(),
                     "gradients are added up over the ranks while backward still computes others, "
                     "or each exchange is waited for at once",
                     performance("the same sums are taken earlier or later"),
                     fills<&ParallelSpec::parallel, &plan::Parallel::reduction>()),
        choice_field("batch_statistics", "local", words_of<plan::BatchStatistics>(),
                     "batch norm takes its means and variances, in training, of the rank's own "
                     "batch or of the global one",
                     mathematics("batch norm takes its statistics of other samples"),
                     fills<&ParallelSpec::parallel, &plan::Parallel::batch_statistics>()),
        choice_field("learning_rate_scaling", "none", words_of<plan::RateScaling>(),
                     "every learning rate is multiplied by the number of ranks, by its square "
                     "root, or not at all",
                     mathematics("updates have another size"),
                     fills<&ParallelSpec::parallel, &plan::Parallel::learning_rate_scaling>()),
        choice_field("optimizer", "replicated", words_of<plan::OptimizerState>(),
                     "every rank keeps the optimizer's whole state and makes every update, or each "
                     "keeps the state of its part of the weights and updates that part",
                     performance("the same updates are made, each by one rank or by all"),
                     fills<&ParallelSpec::parallel, &plan::Parallel::optimizer>()),
        choice_field(
            "wire", "full", words_of<plan::Compression>(),
            "how gradients travel: as they are; rounded to 16 bits (bf16, or fp16 with a power of "
            "two for every 256 numbers), half the bytes; or only the largest of them, what is left "
            "out being kept for the next time (top_k). f32 only",
            mathematics(
                "gradients are rounded, or left out for a time, on their way between ranks"),
            fills<&ParallelSpec::parallel, &plan::Parallel::compression>()),
        real_field(
            "density", 0.01, between(1e-6, 1),
            "of top_k: the part of the gradients that an exchange sends, at least 10 of them",
            mathematics("another part of the gradients reaches every update"),
            fills<&ParallelSpec::parallel, &plan::Parallel::density>()),
        quantity_field("bucket_size", kMayBeAbsent, at_least(1).in("bytes"),
                       "most bytes of gradients in one exchange; without it the compiler chooses, "
                       "by the machine's network",
                       performance("the same sums are taken in other portions"),
                       fills<&ParallelSpec::parallel, &plan::Parallel::bucket_bytes>()),
        record_field(
            "synchronise", synchronise_table(),
            "each rank moves weights of its own, and now and then all take the average (federated "
            "averaging): {every: 8}; without it ranks add up their gradients for every update",
            mathematics(kOwnWeights)),
        real_field("timeout", 300.0, between(0, 1e9).in("seconds"),
                   "a rank that waits longer for the others ends the job; 0: no limit",
                   performance(
                       "it is how long ranks wait before a job is given up, not what they compute"),
                   fills<&ParallelSpec::parallel, &plan::Parallel::timeout_seconds>()),
    };
    return table;
}

const FieldTable& kernel_wish_table() {
    static const FieldTable table = {
        choice_field(
            "prefer", "none", words_of<plan::KernelPreference>(),
            "kernels that come before all others wherever they can do a problem, whatever was "
            "estimated or measured: those that multiply by BLIS, on a cpu with avx2 at least",
            performance("the same values but for rounding")),
    };
    return table;
}

const FieldTable& generation_table() {
    static const FieldTable table = {
        integer_field("prompts", 1, between(1, 65536).in("texts"),
                      "texts that are written at once, a step of each at a time",
                      performance("each text is what it would be alone")),
    };
    return table;
}

const FieldTable& job_table() {
    static const FieldTable table = {
        kind_field("job"),
        name_field("the job's name; the file's name when not given", "it names the job"),
        extends_field("a job that this one is merged over, field by field"),
        description_field("what the job is, for people"),
        allow_field(),
        plain_field(FieldType::reference, "model", kMustBeGiven,
                    "the model: a name, a path, or the model itself",
                    mathematics("another function is trained")),
        plain_field(FieldType::reference, "dataset", kMustBeGiven,
                    "the dataset: a name, a path, or the dataset itself",
                    mathematics("the network sees other samples")),
        plain_field(FieldType::reference, "training", kMustBeGiven,
                    "the training: a name, a path, or the training itself",
                    mathematics("the weights are trained in another way")),
        integer_field("threads", 0, between(0, 1024).in("threads"),
                      "threads to plan workspaces for; 0 leaves it to the compiler",
                      performance("the same values but for rounding")),
        integer_field("data_workers", 1, between(1, 256).in("threads"),
                      "threads that prepare batches beside those that compute",
                      performance("samples do not depend on which thread prepares them")),
        flag_field("pin_threads", false, "each thread that computes stays on a core of its own",
                   performance("what is computed does not depend on where")),
        quantity_field(
            "memory_budget", kMayBeAbsent, at_least(1).in("bytes"),
            "the most memory a rank may use, such as 4GiB; a training keeps less and computes it "
            "again in backward where that makes it fit",
            performance(
                "what there is no room to keep is computed again in backward, to the same bits")),
        record_field("parallel", parallel_table(),
                     "how ranks share the training: {data: auto}; without it there is one rank",
                     mathematics("other ranks share the training, or share it in another way")),
        record_field("kernels", kernel_wish_table(),
                     "which kernels are chosen: {prefer: blis}; without it the fastest, by "
                     "estimate or measurement",
                     performance("the same values but for rounding")),
        record_field("generation", generation_table(),
                     "the plan has a program that writes text, for `dtnn-run generate`: {prompts: "
                     "4}, or {}; the layers of its model look back only, and its memory has room "
                     "for what they keep of all steps of a text; without it there is none",
                     performance("the same network is trained")),
        plain_field(FieldType::reference, "machine", kMayBeAbsent,
                    "the machine that the job is for: a name, a path, or the machine itself",
                    performance("it says what the computation runs on")),
    };
    return table;
}

}  // namespace dtnn::compiler
