#include "compiler/frontend/load_dataset.hpp"

#include <filesystem>

#include "compiler/frontend/compose/composition.hpp"
#include "compiler/frontend/read/validation.hpp"

namespace dtnn::compiler {

std::optional<DatasetSpec> load_dataset(const std::string& path, const LoadOptions& options,
                                        Diagnostics& diagnostics) {
    Composer composer(options, diagnostics);
    auto loaded = composer.load_root(path);
    if (!loaded || loaded->kind->name != "dataset") return std::nullopt;
    // A part of a job by itself; settings have the same paths as in a job.
    const std::string file = loaded->file;
    SourceNode job = make_map(Span{{file, 1, 1}, 1});
    loaded->tree.span = Span{{file, 1, 1}, 1};
    job.entries.push_back({"dataset", Span{}, std::move(loaded->tree)});
    if (!composer.compose_job(job, file)) return std::nullopt;
    DatasetSpec spec = read_dataset(job.find("dataset")->value,
                                    std::filesystem::path(file).stem().string(), diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
    return spec;
}

}  // namespace dtnn::compiler
