#include "tools/command_line/other_commands.hpp"

#include <algorithm>
#include <iterator>

namespace dtnn::tools {
namespace {

constexpr std::string_view kCompiler = "dtnnc", kRuntime = "dtnn-run";

constexpr std::string_view kTrains =
    "`dtnnc compile SPEC -o plan.json`, then `dtnn-run plan.json` trains";
constexpr std::string_view kUses =
    "dtnn-run does it, with trained weights: `dtnn-run evaluate PLAN --weights FILE`, or predict";
constexpr std::string_view kResumes = "`dtnn-run --resume RUN` goes on where a run stopped";
constexpr std::string_view kChecks = "`dtnnc check SPEC` finds every mistake";
constexpr std::string_view kCompiles = "`dtnnc compile SPEC -o plan.json` writes a plan";
constexpr std::string_view kLooks =
    "`dtnnc summary PLAN` prints the layers, `dtnnc graph` draws them";
constexpr std::string_view kCompilers = "it is a command of dtnnc: `dtnnc --help`";
constexpr std::string_view kRuntimes = "it is a command of dtnn-run: `dtnn-run --help`";
constexpr std::string_view kNames =
    "`dtnnc explain` lists the words, `dtnnc summary NAME` shows a model that ships; there is "
    "nothing to download";
constexpr std::string_view kPicture =
    "`dtnnc graph SPEC -o net.html` draws a network, `.svg` and `.png` too";
constexpr std::string_view kCounts =
    "`dtnnc summary SPEC --with flops` counts parameters, memory and work";
constexpr std::string_view kWatches =
    "a run writes history.jsonl as it goes, and `dtnn-run report RUN` makes a page of it";
constexpr std::string_view kPredicts =
    "`dtnn-run predict PLAN --weights FILE --input FILES -o answers.csv`";
constexpr std::string_view kGenerates = "`dtnn-run generate RUN --prompt TEXT` goes on with a text";
constexpr std::string_view kOtherFormats =
    "`dtnnc export` writes a network as ONNX, `dtnnc import` reads one; `dtnn-run weights export "
    "RUN -o weights.npz`, or .safetensors, takes weights alone elsewhere";
constexpr std::string_view kSlurm = "`dtnnc slurm PLAN -o job.sh` writes the batch script";

struct Other {
    std::string_view program;  ///< that does not have it
    std::string_view word;
    std::string_view help;
};

constexpr Other kCommands[] = {
    {kCompiler, "train", kTrains},
    {kCompiler, "fit", kTrains},
    {kCompiler, "run", kTrains},
    {kCompiler, "apply", kTrains},
    {kCompiler, "start", kTrains},
    {kCompiler, "evaluate", kUses},
    {kCompiler, "eval", kUses},
    {kCompiler, "predict", kUses},
    {kCompiler, "test", kUses},
    {kCompiler, "infer", kUses},
    {kCompiler, "generate", kGenerates},
    {kCompiler, "sweep",
     "`dtnnc compile SPEC --sweep PATH=V,V -o DIR` writes the plans, `dtnn-run sweep DIR` trains "
     "them"},
    {kCompiler, "resume", kResumes},
    {kCompiler, "report", kRuntimes},
    {kCompiler, "weights", kRuntimes},
    {kCompiler, "bench", kRuntimes},
    {kCompiler, "validate", kChecks},
    {kCompiler, "lint", kChecks},
    {kCompiler, "plan", kCompiles},
    {kCompiler, "build", kCompiles},
    {kCompiler, "show", kLooks},
    {kCompiler, "fmt", "`dtnnc resolve SPEC` prints a spec with everything said"},
    {kCompiler, "init", "`dtnnc explain job` has a spec to begin with"},
    {kCompiler, "new", "`dtnnc explain job` has a spec to begin with"},
    {kCompiler, "create", "`dtnnc explain job` has a spec to begin with"},
    {kCompiler, "describe", kLooks},
    {kCompiler, "info", kLooks},
    {kCompiler, "print", "`dtnnc resolve SPEC` prints a spec with everything said"},
    {kCompiler, "config", "`dtnnc resolve SPEC` prints a spec with everything said"},
    {kCompiler, "expand", "`dtnnc resolve SPEC` prints a spec with everything said"},
    {kCompiler, "ls", kNames},
    {kCompiler, "list", kNames},
    {kCompiler, "models", kNames},
    {kCompiler, "zoo", kNames},
    {kCompiler, "download", kNames},
    {kCompiler, "pull", kNames},
    {kCompiler, "convert", kOtherFormats},
    {kCompiler, "onnx", kOtherFormats},
    {kCompiler, "visualize", kPicture},
    {kCompiler, "plot", kPicture},
    {kCompiler, "draw", kPicture},
    {kCompiler, "params", kCounts},
    {kCompiler, "flops", kCounts},
    {kCompiler, "count", kCounts},
    {kCompiler, "profile", "`dtnn-run bench PLAN --per-step` measures, `dtnnc forecast` foretells"},
    {kCompiler, "estimate", "`dtnnc forecast PLAN --machine NAME` foretells time and memory"},
    {kCompiler, "version", "`dtnnc --version`"},
    {kCompiler, "sbatch", kSlurm},
    {kCompiler, "submit", kSlurm},
    {kRuntime, "fit", kTrains},
    {kRuntime, "run", kTrains},
    {kRuntime, "compile", kCompiles},
    {kRuntime, "build", kCompiles},
    {kRuntime, "check", kChecks},
    {kRuntime, "validate", kChecks},
    {kRuntime, "summary", kLooks},
    {kRuntime, "graph", kLooks},
    {kRuntime, "diff", kCompilers},
    {kRuntime, "explain", kCompilers},
    {kRuntime, "forecast", kCompilers},
    {kRuntime, "tune", kCompilers},
    {kRuntime, "data", kCompilers},
    {kRuntime, "settings", kCompilers},
    {kRuntime, "slurm", kSlurm},
    {kRuntime, "sbatch", kSlurm},
    {kRuntime, "resume", kResumes},
    {kRuntime, "test", "`dtnn-run evaluate PLAN --weights FILE --split test`"},
    {kRuntime, "compare", "`dtnn-run report RUN RUN` shows several beside each other"},
    {kRuntime, "export", "`dtnn-run weights export RUN -o FILE`"},
    {kRuntime, "onnx", kOtherFormats},
    {kRuntime, "convert", kOtherFormats},
    {kRuntime, "infer", kPredicts},
    {kRuntime, "inference", kPredicts},
    {kRuntime, "sample", kGenerates},
    {kRuntime, "chat", kGenerates},
    {kRuntime, "complete", kGenerates},
    {kRuntime, "status", kWatches},
    {kRuntime, "logs", kWatches},
    {kRuntime, "log", kWatches},
    {kRuntime, "history", kWatches},
    {kRuntime, "plot", kWatches},
    {kRuntime, "list", "`dtnn-run report FOLDER` shows the runs in a folder beside each other"},
    {kRuntime, "ls", "`dtnn-run report FOLDER` shows the runs in a folder beside each other"},
    {kRuntime, "version", "`dtnn-run --version`"},
    {kRuntime, "import", "`dtnn-run weights import FILE --plan PLAN -o OUT`"},
    {kRuntime, "profile", "`dtnn-run bench PLAN --per-step`, and `--trace FILE` of a run"},
    {kRuntime, "tensorboard", "`dtnn-run PLAN --tensorboard` writes event files into the run"},
};

constexpr std::string_view kSets =
    "the spec says it, and `--set` changes it: `--set training.epochs=3`, `--set "
    "training.optimizer.sgd.learning_rate=0.1`";
constexpr std::string_view kPlanSays =
    "the plan says it: `dtnnc compile SPEC --set training.epochs=3 -o plan.json`";
constexpr std::string_view kSweeps =
    "`--sweep training.batch_size=32,64 -o FOLDER` compiles several, `dtnn-run sweep FOLDER` "
    "trains them";
constexpr std::string_view kNamesSpec = "the spec is named by itself: `dtnnc compile job.yaml`";
constexpr std::string_view kFastest =
    "every plan is optimised; `--isa` chooses the instruction set, `dtnnc tune` measures kernels";
constexpr std::string_view kTold = "what was chosen and why: `dtnnc explain PLAN`, `--emit PHASE`";
constexpr std::string_view kTarget = "`dtnnc compile SPEC --target cuda` compiles for GPUs";
constexpr std::string_view kRanks =
    "`--ranks N` says how many; a rank takes a GPU where the plan is for them";
constexpr std::string_view kAsksForIt =
    "the script asks for what the plan needs; `--ranks` and `--nodes` spread it";

constexpr Other kOptions[] = {
    {kCompiler, "--epochs", kSets},
    {kCompiler, "--lr", kSets},
    {kCompiler, "--learning-rate", kSets},
    {kCompiler, "--batch-size", kSets},
    {kCompiler, "--seed", kSets},
    {kCompiler, "--optimizer", kSets},
    {kCompiler, "--device", kTarget},
    {kCompiler, "--gpu", kTarget},
    {kCompiler, "--gpus", kTarget},
    {kCompiler, "--cuda", kTarget},
    {kCompiler, "--var", kSets},
    {kCompiler, "--override", kSets},
    {kCompiler, "--overrides", kSets},
    {kCompiler, "-D", kSets},
    {kCompiler, "--define", kSets},
    {kCompiler, "--param", kSets},
    {kCompiler, "--multirun", kSweeps},
    {kCompiler, "-m", kSweeps},
    {kCompiler, "--grid", kSweeps},
    {kCompiler, "--config", kNamesSpec},
    {kCompiler, "--config-name", kNamesSpec},
    {kCompiler, "--config-path", "`--spec-path FOLDER` says where specs are looked for by name"},
    {kCompiler, "--spec", kNamesSpec},
    {kCompiler, "-O", kFastest},
    {kCompiler, "--optimize", kFastest},
    {kCompiler, "--march", kFastest},
    {kCompiler, "--verbose", kTold},
    {kCompiler, "-v", kTold},
    {kCompiler, "-j",
     "`--threads N`, or `threads` of the job, says how many threads the plan is for"},
    {kCompiler, "--devices", kTarget},
    {kCompiler, "--accelerator", kTarget},
    {kCompiler, "-p", "`--partition NAME`"},
    {kCompiler, "-N", "`--nodes N`"},
    {kCompiler, "-t", "`--time H:MIN:SEC`"},
    {kCompiler, "-A", "`--account NAME`"},
    {kCompiler, "--ntasks", kRanks},
    {kCompiler, "--ntasks-per-node", kRanks},
    {kCompiler, "--gres", kAsksForIt},
    {kCompiler, "--mem", kAsksForIt},
    {kCompiler, "--mem-per-cpu", kAsksForIt},
    {kCompiler, "--cpus-per-task", kAsksForIt},
    {kRuntime, "--epochs", kPlanSays},
    {kRuntime, "--set", kPlanSays},
    {kRuntime, "--lr", kPlanSays},
    {kRuntime, "--learning-rate", kPlanSays},
    {kRuntime, "--batch-size", kPlanSays},
    {kRuntime, "--seed", kPlanSays},
    {kRuntime, "--optimizer", kPlanSays},
    {kRuntime, "--threads", "OMP_NUM_THREADS, or `threads` of the job"},
    {kRuntime, "--device", kTarget},
    {kRuntime, "--gpu", kTarget},
    {kRuntime, "--gpus", kRanks},
    {kRuntime, "--devices", kRanks},
    {kRuntime, "--nnodes", kRanks},
    {kRuntime, "--num-nodes", kRanks},
    {kRuntime, "--world-size", kRanks},
    {kRuntime, "--overwrite", "`--force` writes over a run that is there"},
    {kRuntime, "--iterations", "`--steps N`"},
    {kRuntime, "--iters", "`--steps N`"},
    {kRuntime, "--profile", "`--per-step` says where the time goes, `--trace FILE` when"},
    {kRuntime, "--image", "`--input FILE`, or a folder, or a split"},
    {kRuntime, "--images", "`--input FILE`, or a folder, or a split"},
    {kRuntime, "--source", "`--input FILE`, or a folder, or a split"},
    {kRuntime, "--data", "the plan has its data; `--input FILE` is what predict reads"},
    {kRuntime, "--model", "the plan is the model: `dtnn-run PLAN`"},
    {kRuntime, "--plan", "the plan is named by itself: `dtnn-run PLAN`"},
    {kRuntime, "--config", "the plan is named by itself: `dtnn-run PLAN`"},
    {kRuntime, "--load", "`--resume RUN` goes on with a run, `--weights FILE` begins with weights"},
    {kRuntime, "--logdir",
     "`--output FOLDER` is the run's, `--tensorboard` writes event files into it"},
    {kRuntime, "--log-dir",
     "`--output FOLDER` is the run's, `--tensorboard` writes event files into it"},
    {kRuntime, "--save-dir", "`--output FOLDER` is the run's"},
    {kRuntime, "-v", "`--progress plain` and `--progress-every X` say what is shown"},
    {kRuntime, "--cuda", kTarget},
    {kRuntime, "--nproc-per-node", kRanks},
    {kRuntime, "--np", kRanks},
    {kRuntime, "-n", kRanks},
    {kRuntime, "-np", kRanks},
    {kRuntime, "--checkpoint",
     "`--resume RUN` goes on from the newest, `--weights FILE` begins with weights"},
    {kRuntime, "--ckpt-path",
     "`--resume RUN` goes on from the newest, `--weights FILE` begins with weights"},
    {kRuntime, "--pretrained", "`--weights FILE` begins with weights"},
    {kRuntime, "--verbose", "`--progress plain` and `--progress-every X` say what is shown"},
    {kRuntime, "--quiet", "`--progress none` shows nothing"},
};

template <std::size_t N>
std::string help_in(const Other (&table)[N], std::string_view program, std::string_view word) {
    const auto found = std::find_if(std::begin(table), std::end(table), [&](const Other& one) {
        return one.program == program && one.word == word;
    });
    return found == std::end(table) ? "" : std::string(found->help);
}

}  // namespace

std::string help_of_other_command(std::string_view program, std::string_view word) {
    return help_in(kCommands, program, word);
}

std::string help_of_other_option(std::string_view program, std::string_view option) {
    std::string dashed(option);
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    return help_in(kOptions, program, dashed);
}

}  // namespace dtnn::tools
