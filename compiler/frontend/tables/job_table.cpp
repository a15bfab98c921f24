#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/tables/tables.hpp"

namespace dtnn::compiler {

namespace {

constexpr std::string_view kOwnWeights = "ranks' weights are averaged more or less often";

/// The words of a closed set of the plan.
template <NamedEnum Enum>
std::vector<std::string_view> words_of() {
    const auto names = names_of(Enum());
    return {names.begin(), names.end()};
}

}  // namespace

const FieldTable& synchronise_table() {
    static const FieldTable table = {
        {.name = "every",
         .type = FieldType::integer,
         .doc = "updates that each rank makes of its own weights between two averages of them; "
                "they are averaged at the end of every epoch as well",
         .change = mathematics(kOwnWeights),
         .minimum = 1,
         .maximum = 1e9,
         .unit = "updates",
         .member = fills<&ParallelSpec::parallel, &plan::Parallel::local_steps>()},
        {.name = "average",
         .type = FieldType::choice,
         .fallback = std::string("avg"),
         .doc = "what a rank weighs in it: all the same, as many as it has training samples, or "
                "the inverse of that",
         .change = mathematics("ranks weigh otherwise in their average"),
         .choices = words_of<plan::WeightAverage>(),
         .member = fills<&ParallelSpec::parallel, &plan::Parallel::average>()},
        {.name = "participation",
         .type = FieldType::choice,
         .fallback = std::string("all"),
         .doc = "an epoch ends with the data of the rank that has the fewest batches, or goes on "
                "with those that have data left; all receive the average",
         .change = mathematics(
             "epochs end with other samples, and ranks weigh otherwise in their average"),
         .choices = words_of<plan::Participation>(),
         .member = fills<&ParallelSpec::parallel, &plan::Parallel::participation>()},
        {.name = "min_avail",
         .type = FieldType::integer,
         .fallback = std::int64_t{0},
         .doc = "of avail2all: weights are not averaged while fewer ranks have data",
         .change = mathematics(kOwnWeights),
         .minimum = 0,
         .maximum = 1'000'000,
         .unit = "ranks",
         .member = fills<&ParallelSpec::parallel, &plan::Parallel::min_avail>()},
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
        {.name = "reduction",
         .type = FieldType::choice,
         .fallback = std::string("overlapped"),
         .doc = "gradients are added up over the ranks while backward still computes others, or "
                "each exchange is waited for at once",
         .change = performance("the same sums are taken earlier or later"),
         .choices = words_of<plan::ReductionMode>(),
         .member = fills<&ParallelSpec::parallel, &plan::Parallel::reduction>()},
        {.name = "batch_statistics",
         .type = FieldType::choice,
         .fallback = std::string("local"),
         .doc = "batch norm takes its means and variances, in training, of the rank's own batch or "
                "of the global one",
         .change = mathematics("batch norm takes its statistics of other samples"),
         .choices = words_of<plan::BatchStatistics>(),
         .member = fills<&ParallelSpec::parallel, &plan::Parallel::batch_statistics>()},
        {.name = "learning_rate_scaling",
         .type = FieldType::choice,
         .fallback = std::string("none"),
         .doc = "every learning rate is multiplied by the number of ranks, by its square root, or "
                "not at all",
         .change = mathematics("updates have another size"),
         .choices = words_of<plan::RateScaling>(),
         .member = fills<&ParallelSpec::parallel, &plan::Parallel::learning_rate_scaling>()},
        {.name = "optimizer",
         .type = FieldType::choice,
         .fallback = std::string("replicated"),
         .doc =
             "every rank keeps the optimizer's whole state and makes every update, or each keeps "
             "the state of its part of the weights and updates that part",
         .change = performance("the same updates are made, each by one rank or by all"),
         .choices = words_of<plan::OptimizerState>(),
         .member = fills<&ParallelSpec::parallel, &plan::Parallel::optimizer>()},
        {.name = "wire",
         .type = FieldType::choice,
         .fallback = std::string("full"),
         .doc = "how gradients travel: as they are; rounded to 16 bits (bf16, or fp16 with a power "
                "of two for every 256 numbers), half the bytes; or only the largest of them, what "
                "is left out being kept for the next time (top_k). f32 only",
         .change = mathematics(
             "gradients are rounded, or left out for a time, on their way between ranks"),
         .choices = words_of<plan::Compression>(),
         .member = fills<&ParallelSpec::parallel, &plan::Parallel::compression>()},
        {.name = "density",
         .type = FieldType::real,
         .fallback = 0.01,
         .doc = "of top_k: the part of the gradients that an exchange sends, at least 10 of them",
         .change = mathematics("another part of the gradients reaches every update"),
         .minimum = 1e-6,
         .maximum = 1,
         .member = fills<&ParallelSpec::parallel, &plan::Parallel::density>()},
        {.name = "bucket_size",
         .type = FieldType::quantity,
         .doc = "most bytes of gradients in one exchange; without it the compiler chooses, by the "
                "machine's network",
         .change = performance("the same sums are taken in other portions"),
         .minimum = 1,
         .unit = "bytes",
         .optional = true,
         .member = fills<&ParallelSpec::parallel, &plan::Parallel::bucket_bytes>()},
        {.name = "synchronise",
         .type = FieldType::record,
         .doc = "each rank moves weights of its own, and now and then all take the average "
                "(federated averaging): {every: 8}; without it ranks add up their gradients for "
                "every update",
         .change = mathematics(kOwnWeights),
         .optional = true,
         .fields = &synchronise_table()},
        {.name = "timeout",
         .type = FieldType::real,
         .fallback = 300.0,
         .doc = "a rank that waits longer for the others ends the job; 0: no limit",
         .change = performance(
             "it is how long ranks wait before a job is given up, not what they compute"),
         .minimum = 0,
         .maximum = 1e9,
         .unit = "seconds",
         .member = fills<&ParallelSpec::parallel, &plan::Parallel::timeout_seconds>()},
    };
    return table;
}

const FieldTable& kernel_wish_table() {
    static const FieldTable table = {
        {.name = "prefer",
         .type = FieldType::choice,
         .fallback = std::string("none"),
         .doc = "kernels that come before all others wherever they can do a problem, whatever was "
                "estimated or measured: those that multiply by BLIS, on a cpu with avx2 at least",
         .change = performance("the same values but for rounding"),
         .choices = words_of<plan::KernelPreference>()},
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
        {.name = "model",
         .type = FieldType::reference,
         .doc = "the model: a name, a path, or the model itself",
         .change = mathematics("another function is trained")},
        {.name = "dataset",
         .type = FieldType::reference,
         .doc = "the dataset: a name, a path, or the dataset itself",
         .change = mathematics("the network sees other samples")},
        {.name = "training",
         .type = FieldType::reference,
         .doc = "the training: a name, a path, or the training itself",
         .change = mathematics("the weights are trained in another way")},
        {.name = "threads",
         .type = FieldType::integer,
         .fallback = std::int64_t{0},
         .doc = "threads to plan workspaces for; 0 leaves it to the compiler",
         .change = performance("the same values but for rounding"),
         .minimum = 0,
         .maximum = 1024,
         .unit = "threads"},
        {.name = "data_workers",
         .type = FieldType::integer,
         .fallback = std::int64_t{1},
         .doc = "threads that prepare batches beside those that compute",
         .change = performance("samples do not depend on which thread prepares them"),
         .minimum = 1,
         .maximum = 256,
         .unit = "threads"},
        {.name = "pin_threads",
         .type = FieldType::boolean,
         .fallback = false,
         .doc = "each thread that computes stays on a core of its own",
         .change = performance("what is computed does not depend on where")},
        {.name = "memory_budget",
         .type = FieldType::quantity,
         .doc =
             "the most memory a rank may use, such as 4GiB; a training keeps less and computes it "
             "again in backward where that makes it fit",
         .change = performance(
             "what there is no room to keep is computed again in backward, to the same bits"),
         .minimum = 1,
         .unit = "bytes",
         .optional = true},
        {.name = "parallel",
         .type = FieldType::record,
         .doc = "how ranks share the training: {data: auto}; without it there is one rank",
         .change = mathematics("other ranks share the training, or share it in another way"),
         .optional = true,
         .fields = &parallel_table()},
        {.name = "kernels",
         .type = FieldType::record,
         .doc = "which kernels are chosen: {prefer: blis}; without it the fastest, by estimate or "
                "measurement",
         .change = performance("the same values but for rounding"),
         .optional = true,
         .fields = &kernel_wish_table()},
        {.name = "machine",
         .type = FieldType::reference,
         .doc = "the machine that the job is for: a name, a path, or the machine itself",
         .change = performance("it says what the computation runs on"),
         .optional = true},
    };
    return table;
}

}  // namespace dtnn::compiler
