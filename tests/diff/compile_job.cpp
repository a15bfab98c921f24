#include "tests/diff/compile_job.hpp"

#include <unistd.h>

#include <fstream>

#include "compiler/frontend/read/resolve_spec.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/lower/compile.hpp"

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

std::optional<plan::Plan> compile_job(const std::string& file, std::string& error) {
    compiler::Diagnostics diagnostics;
    const compiler::JobSpec job = compiler::load_job(file, {{"."}, {}}, diagnostics);
    if (!diagnostics.has_errors()) {
        compiler::CompileRequest request;
        request.job_name = job.name;
        request.model_name = job.model.name;
        request.build = [&](std::int64_t batch) { return build_graph(job, batch, diagnostics); };
        request.training = job.training.training;
        request.dataset = job.dataset.dataset;
        request.target.isa = "avx2";
        request.target.dtype = job.training.dtype;
        request.target.threads = job.threads > 0 ? job.threads : 2;
        request.target.data_workers = job.data_workers;
        request.memory_budget = job.memory_budget;
        request.values = job.values;
        request.resolved_spec = job.resolved_text;
        plan::Plan plan = compiler::compile(request, diagnostics);
        for (plan::ResolvedValue& value : compiler::model_parameters(file, {{"."}, {}}))
            plan.values.push_back(std::move(value));
        if (!diagnostics.has_errors()) return plan;
    }
    error = diagnostics.render(false);
    return std::nullopt;
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
