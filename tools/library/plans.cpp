/// The functions of the header about plans.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/file_limits.hpp"
#include "base/spec_folders.hpp"
#include "compiler/driver/compile_job.hpp"
#include "compiler/frontend/load_machine.hpp"
#include "compiler/tuning/tuning_file.hpp"
#include "plan/devices.hpp"
#include "plan/diff/diff.hpp"
#include "plan/forecast/forecast_rows.hpp"
#include "plan/forecast/rates.hpp"
#include "plan/json/json.hpp"
#include "plan/rules/memory_need.hpp"
#include "plan/summary/summary.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/regular_file.hpp"
#include "tools/dtnnc_runtime/data_fault.hpp"
#include "tools/library/plan.hpp"
#include "tools/library/report.hpp"

namespace dtnn::library {
namespace {

std::vector<std::string> texts_of(const char* const* list, std::size_t count, const char* name) {
    if (count > 0) need(list, name);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) {
        need(list[i], name);
        texts.emplace_back(list[i]);
    }
    return texts;
}

/// The history of tuning that dtnnc would choose by; what is wrong with one that nobody has named
/// is a warning.
std::optional<compiler::TuningHistory> usual_tuning(Said& said) {
    const compiler::TuningFile file = compiler::usual_tuning_file();
    auto [history, mistake] = compiler::find_tuning(file.path);
    if (mistake.empty()) return std::move(history);
    if (file.named) throw wrong_argument(mistake, "`dtnnc tune` writes one; DTNN_TUNING names it");
    said.warnings.push_back(mistake + "; kernels are chosen without it");
    return std::nullopt;
}

/// As `dtnnc compile`: a job of `path`, or of the text that stands for it.
std::unique_ptr<dtnn_plan> compiled(const std::string& path, const std::string* text,
                                    const dtnn_compile_options* given, Said& said) {
    const dtnn_compile_options options = taken(given);
    compiler::LoadOptions load;
    load.settings = texts_of(options.settings, options.settings_count, "settings");
    load.spec_path = texts_of(options.spec_path, options.spec_path_count, "spec_path");
    for (std::string& folder : spec_folders())
        load.spec_path.push_back(std::move(folder));
    if (text != nullptr) load.texts.emplace(path, *text);
    load.ranks = options.ranks;
    load.find_data = tools::find_data;
    load.lint = true;

    compiler::CompileOptions choices;
    if (options.device != nullptr) choices.device = options.device;
    if (options.isa != nullptr) choices.isa = options.isa;
    choices.threads = options.threads;
    choices.memory_budget = options.memory_budget;
    if (options.ranks < 0 || options.memory_budget < 0)
        throw wrong_argument("ranks and memory_budget are numbers of at least 0");
    if (const auto mistake = compiler::find_mistake(choices))
        throw wrong_argument(mistake->text, mistake->help);
    std::optional<compiler::TuningHistory> tuning;
    if (options.without_tuning == 0 && plan::traits_of(choices.device).tunes_kernels)
        tuning = usual_tuning(said);
    if (tuning) choices.tuning = &*tuning;

    const compiler::JobSpec job = compiler::load_job(path, load, said.diagnostics);
    const plan::Training& training = job.training.training;
    if (training.k_folds > 0 && training.fold == 0 && !said.diagnostics.has_errors())
        throw wrong_argument(
            fmt::format("the job is cut into {} folds, and none is chosen", training.k_folds),
            fmt::format("set training.fold to one of 1 to {}", training.k_folds));
    std::optional<plan::Plan> plan = compiler::compile_job(job, choices, said.diagnostics);
    if (!plan) throw Diagnosed{};
    plan->generator = "dtnnc " DTNN_VERSION;
    auto result = std::make_unique<dtnn_plan>();
    result->loaded.text = plan::to_json(*plan);
    result->loaded.checksum = plan::checksum_of(result->loaded.text);
    result->loaded.plan = std::move(*plan);
    return result;
}

plan::SummaryForm summary_form(const std::string& word) {
    const std::pair<const char*, plan::SummaryForm> forms[] = {
        {"table", plan::SummaryForm::table},
        {"markdown", plan::SummaryForm::markdown},
        {"csv", plan::SummaryForm::csv},
        {"json", plan::SummaryForm::json}};
    for (const auto& [name, form] : forms)
        if (word == name) return form;
    throw wrong_argument(fmt::format("a summary has no form `{}`", word),
                         "name one of table, markdown, csv, json");
}

plan::Machine machine_of(const plan::Plan& plan, const char* name, Said& said) {
    if (name == nullptr && plan.machine.name.empty())
        throw wrong_argument("the job names no machine",
                             "name one; `dtnnc calibrate -o machine.yaml` writes one of this "
                             "machine");
    if (name == nullptr) return plan.machine;
    compiler::LoadOptions load;
    load.spec_path = spec_folders();
    const auto spec = compiler::load_machine(name, load, said.diagnostics);
    if (!spec) throw Diagnosed{};
    return spec->machine;
}

}  // namespace
}  // namespace dtnn::library

using namespace dtnn::library;  // NOLINT(google-build-using-namespace): this file is its C side
namespace plan = dtnn::plan;

const char* dtnn_version() {
    return DTNN_VERSION;
}

const char* dtnn_specs() {
    static const std::string folder = [] {
        // Those of the environment come first.
        const std::vector<std::string> folders = dtnn::spec_folders();
        return folders.empty() ? std::string() : folders.back();
    }();
    return folder.empty() ? nullptr : folder.c_str();
}

dtnn_status dtnn_compile_file(const char* path, const dtnn_compile_options* options,
                              dtnn_plan** result, dtnn_report** report) {
    return guarded_with_room(report, [&](Said& said) {
        need(result, "plan");
        *result = nullptr;
        need(path, "path");
        *result = compiled(path, nullptr, options, said).release();
    });
}

dtnn_status dtnn_compile_text(const char* text, size_t bytes, const char* name,
                              const dtnn_compile_options* options, dtnn_plan** result,
                              dtnn_report** report) {
    return guarded_with_room(report, [&](Said& said) {
        need(result, "plan");
        *result = nullptr;
        need(text, "text");
        need(name, "name");
        const std::string copy(text, bytes);
        *result = compiled(name, &copy, options, said).release();
    });
}

dtnn_status dtnn_plan_read(const char* path, dtnn_plan** result, dtnn_report** report) {
    return guarded_with_room(report, [&](Said&) {
        need(result, "plan");
        *result = nullptr;
        need(path, "path");
        std::string text = dtnn::runtime::read_file(path, dtnn::kMostPlanBytes, "a plan",
                                                    dtnn::runtime::Exit::mismatch);
        auto plan = std::make_unique<dtnn_plan>();
        plan->loaded = dtnn::runtime::read_plan_text(std::move(text), path);
        *result = plan.release();
    });
}

dtnn_status dtnn_plan_parse(const char* text, size_t bytes, const char* name, dtnn_plan** result,
                            dtnn_report** report) {
    return guarded_with_room(report, [&](Said&) {
        need(result, "plan");
        *result = nullptr;
        need(text, "text");
        need(name, "name");
        auto plan = std::make_unique<dtnn_plan>();
        plan->loaded = dtnn::runtime::read_plan_text(std::string(text, bytes), name);
        *result = plan.release();
    });
}

void dtnn_plan_free(dtnn_plan* plan) {
    delete plan;
}

const char* dtnn_plan_text(const dtnn_plan* plan, size_t* bytes) {
    if (bytes != nullptr) *bytes = plan == nullptr ? 0 : plan->loaded.text.size();
    return plan == nullptr ? "" : plan->loaded.text.c_str();
}

dtnn_status dtnn_plan_write(const dtnn_plan* plan, const char* path, dtnn_report** report) {
    return guarded(report, [&](Said&) {
        need(plan, "plan");
        need(path, "path");
        dtnn::runtime::write_file(path, plan->loaded.text);
    });
}

const char* dtnn_plan_name(const dtnn_plan* plan) {
    return plan == nullptr ? "" : plan->loaded.plan.name.c_str();
}

const char* dtnn_plan_checksum(const dtnn_plan* plan) {
    return plan == nullptr ? "" : plan->loaded.checksum.c_str();
}

const char* dtnn_plan_resolved(const dtnn_plan* plan) {
    return plan == nullptr ? "" : plan->loaded.plan.resolved_spec.c_str();
}

dtnn_status dtnn_plan_summary(const dtnn_plan* plan, const char* form, int width, char** text,
                              dtnn_report** report) {
    return guarded(report, [&](Said&) {
        need(plan, "plan");
        need(text, "text");
        plan::SummaryOptions options;
        options.form = summary_form(form == nullptr ? "table" : form);
        if (width > 0) options.width = width;
        *text = given_text(plan::summary(plan->loaded.plan, options));
    });
}

dtnn_status dtnn_plan_diff(const dtnn_plan* a, const dtnn_plan* b, const char* form, char** text,
                           int* changes, dtnn_report** report) {
    return guarded(report, [&](Said&) {
        need(a, "a");
        need(b, "b");
        const std::string word = form == nullptr ? "text" : form;
        if (word != "text" && word != "json")
            throw wrong_argument(fmt::format("a difference has no form `{}`", word),
                                 "name text or json");
        const std::vector<plan::Change> found = plan::diff(a->loaded.plan, b->loaded.plan);
        if (text != nullptr)
            *text = given_text(
                word == "json" ? plan::diff_json(found)
                               : plan::diff_text(found, a->loaded.plan.name, b->loaded.plan.name));
        if (changes != nullptr)
            *changes = found.empty() ? 0 : plan::changes_mathematics(found) ? 2 : 1;
    });
}

dtnn_status dtnn_plan_forecast(const dtnn_plan* plan, const char* machine, const int* ranks,
                               size_t ranks_count, char** json, dtnn_report** report) {
    return guarded_with_room(report, [&](Said& said) {
        need(plan, "plan");
        need(json, "json");
        if (ranks_count > 0) need(ranks, "ranks");
        std::vector<int> counts(ranks, ranks + ranks_count);
        if (std::any_of(counts.begin(), counts.end(),
                        [](int count) { return count < 1 || count > plan::kMostRanks; }))
            throw wrong_argument(fmt::format("ranks are numbers from 1 to {}", plan::kMostRanks));
        const plan::Plan& its = plan->loaded.plan;
        const plan::Machine where = machine_of(its, machine, said);
        if (const auto missing = plan::missing_rates(where, its.target))
            throw wrong_argument(*missing);
        plan::ForecastRequest request;
        request.threads = its.target.threads;
        if (counts.empty()) counts = plan::usual_ranks(its, where, request.threads);
        *json = given_text(plan::forecast_json(plan::forecast_rows(its, where, counts, request),
                                               its, where, request.scaling));
    });
}

dtnn_status dtnn_plan_memory(const dtnn_plan* plan, dtnn_memory* memory) {
    return guarded(nullptr, [&](Said&) {
        need(plan, "plan");
        const plan::MemoryNeed whole = plan::memory_need(plan->loaded.plan);
        const plan::Memory& parts = plan->loaded.plan.memory;
        give({.size = 0,
              .host = whole.host,
              .certain = whole.certain,
              .device = whole.device,
              .arena = parts.arena,
              .parameters = parts.parameters,
              .optimizer = parts.optimizer,
              .transient = parts.transient,
              .staging = parts.staging,
              .samples = parts.samples},
             memory);
    });
}
