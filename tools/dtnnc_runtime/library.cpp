// libdtnn_runtime.so: the commands of dtnnc that need the runtime.

#include "runtime/base/run_error.hpp"
#include "tools/dtnnc/standard_input.hpp"
#include "tools/dtnnc_runtime/calibrate/calibrate.hpp"
#include "tools/dtnnc_runtime/calibrate/tune_engines.hpp"
#include "tools/dtnnc_runtime/calibrate/tune_kernels.hpp"
#include "tools/dtnnc_runtime/codegen.hpp"
#include "tools/dtnnc_runtime/compare_runs.hpp"
#include "tools/dtnnc_runtime/data.hpp"
#include "tools/dtnnc_runtime/data_fault.hpp"
#include "tools/dtnnc_runtime/find_data.hpp"
#include "tools/dtnnc_runtime/keras_file.hpp"
#include "tools/dtnnc_runtime/same_samples.hpp"
#include "tools/dtnnc_runtime/tokens.hpp"
#include "tools/dtnnc_runtime/weights.hpp"

namespace dtnn::tools {
namespace {

/// A command's exit code; of a RunError, which is printed, its own.
template <typename Run>
int exit_code_of(const Run& run) {
    try {
        return run();
    } catch (const runtime::RunError& error) {
        return print_run_error(error);
    }
}

class Commands final : public RuntimeLibrary {
  public:
    std::optional<compiler::DataFault> find_data(plan::Dataset& dataset) const override {
        return tools::find_data(dataset);
    }
    void settle_samples(const plan::Plan& a, const plan::Plan& b, const std::string& name_a,
                        const std::string& name_b,
                        std::vector<plan::Change>& changes) const override {
        tools::settle_samples(a, b, name_a, name_b, changes);
    }
    int data(const DataCommand& command) const override {
        return exit_code_of([&] { return tools::data(command); });
    }
    int tokens(const TokensCommand& command) const override {
        return exit_code_of([&] { return tools::tokens(command); });
    }
    int vocabulary(const VocabularyCommand& command) const override {
        return exit_code_of([&] { return tools::vocabulary(command); });
    }
    int compare_runs(const CompareRunsCommand& command, int trouble) const override {
        try {
            return tools::compare_runs(command);
        } catch (const runtime::RunError& error) {
            print_run_error(error);
            return trouble;
        }
    }
    int codegen(const CodegenCommand& command) const override {
        return exit_code_of([&] { return tools::codegen(command); });
    }
    int calibrate(const CalibrateCommand& command) const override {
        return exit_code_of([&] { return tools::calibrate(command); });
    }
    int tune_kernels(const TuneKernelsCommand& command) const override {
        return exit_code_of([&] { return tools::tune_kernels(command); });
    }
    int tune_engines(const TuneEnginesCommand& command) const override {
        return exit_code_of([&] { return tools::tune_engines(command); });
    }
    int with_weights(const plan::Plan& plan, const std::string& path,
                     const UseWeights& use) const override {
        return exit_code_of([&] { return tools::with_weights(plan, path, use); });
    }
    int with_keras_file(const std::string& path, const UseKerasFile& use) const override {
        return exit_code_of([&] { return tools::with_keras_file(path, use); });
    }
    int write_weights(const std::string& path, const std::vector<StoredTensor>& tensors,
                      const std::map<std::string, std::string>& metadata) const override {
        return exit_code_of([&] {
            tools::write_weights(path, tensors, metadata);
            return int(ExitCode::done);
        });
    }
};

}  // namespace
}  // namespace dtnn::tools

extern "C" {

int dtnn_runtime_version() {
    return dtnn::tools::kRuntimeVersion;
}

const dtnn::tools::RuntimeLibrary* dtnn_runtime_open(const std::string* standard_input) {
    dtnn::tools::take_standard_input(standard_input);
    static const dtnn::tools::Commands commands;
    return &commands;
}

}  // extern "C"
