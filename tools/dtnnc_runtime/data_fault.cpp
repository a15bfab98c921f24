#include "tools/dtnnc_runtime/data_fault.hpp"

#include "runtime/base/run_error.hpp"
#include "runtime/data/find_in_files.hpp"

namespace dtnn::tools {

std::optional<compiler::DataFault> find_data(plan::Dataset& dataset) {
    try {
        runtime::find_in_files(dataset);
        return std::nullopt;
    } catch (const runtime::RunError& error) {
        return compiler::DataFault{error.what(), error.help()};
    }
}

}  // namespace dtnn::tools
