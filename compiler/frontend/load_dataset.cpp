#include "compiler/frontend/load_dataset.hpp"

#include <filesystem>

#include "compiler/frontend/compose/composition.hpp"
#include "compiler/frontend/read/validation.hpp"

namespace dtnn::compiler {

std::optional<DatasetSpec> load_dataset(const std::string& path, const LoadOptions& options,
                                        Diagnostics& diagnostics) {
    Composer composer(options, diagnostics);
    auto loaded = composer.load_root(path, {"dataset", "job", "model"});
    if (!loaded || loaded->kind->kind != SpecKind::dataset) return std::nullopt;
    const std::string file = loaded->file;
    const auto job = composer.compose_part(std::move(*loaded));
    if (!job) return std::nullopt;
    DatasetSpec spec =
        read_dataset(job->find("dataset")->value, std::filesystem::path(file).stem().string(),
                     options.find_data, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    return spec;
}

}  // namespace dtnn::compiler
