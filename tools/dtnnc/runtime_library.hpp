#pragma once
/// What `dtnnc` asks of the runtime: libdtnn_runtime.so, which it opens when a command reads data,
/// compares runs, generates code or measures. All else it does without: `dtnnc` may be copied
/// alone.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/tensor/stored_tensor.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/keras/import.hpp"
#include "plan/diff/diff.hpp"
#include "tools/dtnnc/options.hpp"
#include "tools/dtnnc/plan_source.hpp"

namespace dtnn::tools {

/// `dtnnc data`.
struct DataCommand {
    std::string source;             ///< a job, a dataset or a plan; or data
    std::int64_t samples = 10'000;  ///< of each split that are looked at; 0: all
    std::string contact_sheet;      ///< a PNG file; empty: none
    bool step = true;               ///< the job's training step is measured too
    std::string write;              ///< the file of the spec that is written; empty: none
    CommonOptions common;
};

/// `dtnnc tokens`.
struct TokensCommand {
    std::vector<std::string> texts;  ///< files and folders
    std::string vocabulary;
    std::string output;
    std::string end;      ///< an added token, behind every file; empty: none
    std::string pattern;  ///< of ranks; empty: their number says it
};

/// `dtnnc vocabulary`.
struct VocabularyCommand {
    std::vector<std::string> texts;  ///< files and folders
    std::int64_t size = 0;           ///< of tokens, at most
    std::int64_t least = 2;          ///< places in which two tokens stand that become one
    std::vector<std::string> added;  ///< tokens that are no text
    std::string output = "tokenizer.json";
};

/// `dtnnc diff FOLDER`.
struct CompareRunsCommand {
    std::string folder;
    std::string page;  ///< a file; empty: none
    bool quiet = false;
    Format format = Format::text;  ///< or json, csv
};

/// `dtnnc codegen`.
struct CodegenCommand {
    std::string plan;
    std::string step;       ///< empty: of all
    bool assembly = false;  ///< else LLVM's intermediate language
};

/// `dtnnc calibrate`.
struct CalibrateCommand {
    std::string output = "machine.yaml";  ///< "-": standard output
    std::string name;                     ///< of the machine; empty: the host's
    double seconds = 30;                  ///< about as long it measures
    bool ranks = false;                   ///< reductions between the ranks it was started with
    std::string target = "cpu";           ///< with memory of its own: measured, too
};

/// `dtnnc tune` for the CPU.
struct TuneKernelsCommand {
    std::string source;  ///< a spec, or a plan
    std::string output;  ///< of a spec: the plan that the times lead to; empty: none is written
    bool again = false;  ///< measures what is known, too
    int calls = 11;      ///< of a kernel
    CompileCommand compile;
    CommonOptions common;
};

/// `dtnnc tune` of a plan for a device.
struct TuneEnginesCommand {
    std::string plan;
    std::string output;  ///< empty: PLAN with ".tuned.json" in place of ".json"
    int repeats = 20;    ///< runs of an engine
};

/// Gets a plan's weights by their names, in logical form, and the metadata of their file; returns
/// the exit code.
using UseWeights = std::function<int(const std::vector<StoredTensor>& tensors,
                                     const std::map<std::string, std::string>& metadata)>;

/// Gets what a .keras file holds; `bytes` are those of its weights. Returns the exit code.
using UseKerasFile = std::function<int(const compiler::keras::KerasFile& file, std::size_t bytes)>;

/// The interface of libdtnn_runtime.so. Commands print, and return the exit code.
class RuntimeLibrary {
  public:
    virtual ~RuntimeLibrary() = default;

    /// Looks into a dataset's files, as compiler::FindData.
    virtual std::optional<compiler::DataFault> find_data(plan::Dataset& dataset) const = 0;
    /// Settles the changes that a comparison of plans leaves open (plan::Meaning::unread). Where
    /// both datasets are here, they are opened: other samples change the mathematics, the same ones
    /// do not. Where one is not, the change stays unknown, and its reason says which and why.
    /// `name_a` and `name_b` are what the user called the two sides.
    virtual void settle_samples(const plan::Plan& a, const plan::Plan& b, const std::string& name_a,
                                const std::string& name_b,
                                std::vector<plan::Change>& changes) const = 0;

    virtual int data(const DataCommand& command) const = 0;
    virtual int tokens(const TokensCommand& command) const = 0;
    virtual int vocabulary(const VocabularyCommand& command) const = 0;
    /// `trouble` is the exit code where the runs cannot be read; 0 and 1 say whether they differ.
    virtual int compare_runs(const CompareRunsCommand& command, int trouble) const = 0;
    virtual int codegen(const CodegenCommand& command) const = 0;
    virtual int calibrate(const CalibrateCommand& command) const = 0;
    virtual int tune_kernels(const TuneKernelsCommand& command) const = 0;
    virtual int tune_engines(const TuneEnginesCommand& command) const = 0;
    /// Reads a file of weights as `dtnn-run predict` does, and lets `use` have them.
    virtual int with_weights(const plan::Plan& plan, const std::string& path,
                             const UseWeights& use) const = 0;
    /// Reads a model that Keras has saved, and lets `use` have it.
    virtual int with_keras_file(const std::string& path, const UseKerasFile& use) const = 0;
    /// Writes a file, .safetensors or .npz by its name; the exit code.
    virtual int write_weights(const std::string& path, const std::vector<StoredTensor>& tensors,
                              const std::map<std::string, std::string>& metadata) const = 0;
};

/// The library is not beside the program, or of another build: exit code 1.
class NoRuntimeLibrary : public std::runtime_error {
  public:
    NoRuntimeLibrary(const std::string& fact, std::string help)
        : std::runtime_error(fact), help_(std::move(help)) {}
    const std::string& help() const { return help_; }

  private:
    std::string help_;
};

/// Opens the library at the first call. Throws NoRuntimeLibrary.
const RuntimeLibrary& runtime_library();

/// The library's entries: int(), and const RuntimeLibrary*(const std::string*), which is given what
/// has been read of standard input.
constexpr const char* kRuntimeVersionEntry = "dtnn_runtime_version";
constexpr const char* kRuntimeOpenEntry = "dtnn_runtime_open";
/// The version of this interface and of all types in it.
constexpr int kRuntimeVersion = 4;

}  // namespace dtnn::tools
