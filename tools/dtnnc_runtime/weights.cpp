#include "tools/dtnnc_runtime/weights.hpp"

#include "base/spec_folders.hpp"
#include "runtime/checkpoint/weight_exchange.hpp"
#include "runtime/checkpoint/weight_file.hpp"
#include "runtime/checkpoint/weights.hpp"

namespace dtnn::tools {

int with_weights(const plan::Plan& plan, const std::string& path, const UseWeights& use) {
    const runtime::ReadWeights read =
        runtime::read_weights(plan, {.path = path, .map_folders = spec_folders()});
    const runtime::ExchangedWeights own = runtime::own_weights(plan, read.match);
    return use(own.tensors, read.file.metadata);
}

void write_weights(const std::string& path, const std::vector<StoredTensor>& tensors,
                   const std::map<std::string, std::string>& metadata) {
    runtime::write_weight_file(path, tensors, metadata);
}

}  // namespace dtnn::tools
