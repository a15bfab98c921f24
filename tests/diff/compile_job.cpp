#include "tests/diff/compile_job.hpp"

#include <unistd.h>

#include <fstream>

#include "compiler/driver/compile_job.hpp"
#include "compiler/frontend/read/resolve_spec.hpp"

namespace dtnn {

namespace fs = std::filesystem;

SpecFolder::SpecFolder(const std::string& name) : home_(fs::current_path()) {
    folder_ = fs::temp_directory_path() / (name + "_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::current_path(folder_);
}

SpecFolder::~SpecFolder() {
    fs::current_path(home_);
    fs::remove_all(folder_);
}

void SpecFolder::write(const std::string& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

std::optional<plan::Plan> compile_job(const std::string& file, std::string& error,
                                      const std::vector<std::string>& settings,
                                      const plan::Plan* beside) {
    compiler::Diagnostics diagnostics;
    const compiler::LoadOptions load{{"."}, settings};
    const compiler::CompileOptions options =
        beside ? compiler::options_beside(*beside)
               : compiler::CompileOptions{.usual_isa = "avx2", .usual_threads = 2};
    auto plan = compiler::compile_file(file, load, options, diagnostics);
    if (!plan) {
        error = diagnostics.render(false);
        return std::nullopt;
    }
    for (plan::ResolvedValue& value : compiler::model_parameters(file, load))
        plan->values.push_back(std::move(value));
    return plan;
}

std::size_t count_layers(const std::string& file) {
    compiler::Diagnostics diagnostics;
    const compiler::JobSpec job = compiler::load_job(file, {{"."}, {}}, diagnostics);
    return diagnostics.has_errors() ? 0 : job.model.layers.size();
}

std::string resolve_job(const std::string& file) {
    compiler::Diagnostics diagnostics;
    const compiler::JobSpec job = compiler::load_job(file, {{"."}, {}}, diagnostics);
    return diagnostics.has_errors() ? "" : job.resolved_text;
}

}  // namespace dtnn
