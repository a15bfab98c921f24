#pragma once
/// The commands of dtnnc, one function each; main.cpp reads the command line. All return the exit
/// code.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "compiler/driver/compile_job.hpp"

namespace dtnn::tools {

struct CommonOptions {
    std::vector<std::string> settings;  ///< --set, in order
    /// --spec-path, then DTNN_SPEC_PATH, then the installed specs.
    std::vector<std::string> spec_path;
    std::string format = "text";  ///< text or json, and what a command takes besides
    std::string color = "auto";   ///< auto, always or never
    int max_errors = 20;          ///< shown as text; 0: all
    int ranks = 0;                ///< --ranks of commands that compile; 0: not given
};

/// What `compile` takes beyond them; `summary` and `diff` compile specs with the defaults.
struct CompileCommand {
    compiler::CompileOptions options;
    std::string memory_budget;      ///< "4GiB"; empty: the job's
    std::vector<std::string> emit;  ///< PHASE or PHASE:PROGRAM
};

/// Writes the plan of a job to `output`: a file, "-" for standard output, "" for NAME.plan.json
/// here.
int compile(const std::string& spec, const std::string& output, const CompileCommand& command,
            const CommonOptions& options);

/// What `summary` takes beyond the common options, whose format may also be table (the same as
/// text), markdown or csv.
struct SummaryCommand {
    std::vector<std::string> columns;  ///< empty: the usual ones
    std::vector<std::string> with;     ///< in addition
    int depth = 0;                     ///< of blocks; 0: every layer
};

/// The columns there are: "index, name, ..."
std::string column_names();

/// The layer table of a spec or a plan.
int summary(const std::string& spec_or_plan, const SummaryCommand& command,
            const CommonOptions& options);

/// What `graph` takes beyond the common options, whose format may be dot, svg, png or pdf; text
/// means what the output's ending says.
struct GraphCommand {
    std::string output;   ///< a file, or "-" for standard output (dot, unless a format is given)
    int depth = 0;        ///< of blocks; 0: every layer
    bool fused = false;   ///< the steps of a program instead of the layers
    std::string program;  ///< of them; empty: train
};

/// Draws the network of a spec or a plan.
int graph(const std::string& spec_or_plan, const GraphCommand& command,
          const CommonOptions& options);

/// What differs between two specs or plans, and what that means: 0 the same, 1 different, 2
/// trouble. With `summary` in one line.
int diff(const std::string& a, const std::string& b, bool summary, const CommonOptions& options);

/// Every mistake in the specs, nothing written: silent and 0 when there is none.
int check(const std::vector<std::string>& specs, const CommonOptions& options);

/// The same for every combination of `sweeps` ("path=v1,v2"): compile writes a folder of plans with
/// an index.json, `output` or NAME-sweep, whole or not at all, and prints a table of them; summary
/// prints the table only. A mistake names the combinations that have it.
int compile_sweep(const std::string& spec, const std::string& output,
                  const std::vector<std::string>& sweeps, const CompileCommand& command,
                  const CommonOptions& options);
int check_sweep(const std::vector<std::string>& specs, const std::vector<std::string>& sweeps,
                const CommonOptions& options);
int summary_sweep(const std::string& spec, const std::vector<std::string>& sweeps,
                  const CommonOptions& options);

/// The resolved document of any spec, to `output` or standard output; `origins` is comment (every
/// value says where it comes from) or none. As JSON: the values with their origins.
int resolve(const std::string& spec, const std::string& output, const std::string& origins,
            const CommonOptions& options);

/// Every setting of a job or plan outside its layers: value, unit, origin, what it is. Formats:
/// text, markdown, csv, json.
int settings(const std::string& spec_or_plan, const CommonOptions& options);

/// What `data` takes beyond the common options.
struct DataCommand {
    std::int64_t samples = 10'000;  ///< of each split that are looked at; 0: all
    std::string contact_sheet;      ///< a PNG file; empty: none
    bool step = true;               ///< the job's training step is measured too
};

/// What is in a dataset, what training sees of it, and whether it comes as fast as the job's
/// training step needs it. Reads the data: what is wrong with them is told as dtnn-run tells it,
/// with its exit code.
int data(const std::string& spec_or_plan, const DataCommand& command, const CommonOptions& options);

/// What `slurm` takes.
struct SlurmCommand {
    int ranks = 0;            ///< 0: the plan's
    int nodes = 0;            ///< 0: left to Slurm
    int signal_before = 120;  ///< seconds between the signal and the time limit
    bool requeue = true;      ///< a job that stopped after a checkpoint goes back into the queue
    std::string time, partition, account;
    std::string mpi = "pmi2";  ///< how srun wires the ranks up; empty: as Slurm is configured
    std::string run;           ///< the run's folder; empty: runs/NAME
};

/// The batch script of a plan, to `output` or standard output. Everything it asks for follows from
/// the plan; what does not fit the plan's machine is a warning.
int slurm(const std::string& plan, const std::string& output, const SlurmCommand& command);

/// What the product knows about a word: an operator, a field, a kind, a word of the language, a
/// diagnostic, a pass or a kernel. Of no word, the lists of them.
int explain(const std::string& word, const CommonOptions& options);

/// The reference pages, Markdown, into the folder `output`; files of other names are left there.
int reference(const std::string& output);

/// JSON Schemas for editors, of one kind or (empty) of all: to a folder, a file each, or to
/// standard output ("-" or empty), one of all kinds.
int schema(const std::string& output, const std::string& kind);

/// `auto` colours a terminal, unless NO_COLOR is set to something.
bool use_color(const std::string& color, std::FILE* stream);

/// Prints to standard error as text, or to standard output as JSON, when there is something to say;
/// returns their exit code.
int print_diagnostics(const compiler::Diagnostics& diagnostics, const CommonOptions& options);

}  // namespace dtnn::tools
