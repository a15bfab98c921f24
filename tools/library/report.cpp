#include "tools/library/report.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "base/json_text.hpp"
#include "compiler/support/check.hpp"
#include "runtime/base/files.hpp"
#include "tools/command_line/exit_codes.hpp"

namespace dtnn::library {
namespace {

using runtime::Exit;
using runtime::RunError;
using tools::ExitCode;

static_assert(DTNN_DONE == int(ExitCode::done) && DTNN_FAILED == int(ExitCode::failed) &&
              DTNN_USAGE == int(ExitCode::usage) &&
              DTNN_INVALID_SPEC == int(ExitCode::invalid_spec) &&
              DTNN_OVER_BUDGET == int(ExitCode::over_budget) &&
              DTNN_MISMATCH == int(ExitCode::mismatch) &&
              DTNN_DIVERGED == int(ExitCode::diverged) && DTNN_INTERNAL == int(ExitCode::internal));

/// The caller's floating point environment comes back, whatever the work does.
class DefaultArithmetic {
  public:
    DefaultArithmetic() {
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultArithmetic() { std::fesetenv(&before_); }
    DefaultArithmetic(const DefaultArithmetic&) = delete;
    DefaultArithmetic& operator=(const DefaultArithmetic&) = delete;

  private:
    std::fenv_t before_{};
};

std::string joined(const RunError& error) {
    return error.detail().empty() ? error.what()
                                  : fmt::format("{}; {}", error.what(), error.detail());
}

/// As Diagnostics::render_json, of what has no place.
std::string json_of(const std::vector<dtnn_report::One>& list) {
    std::string items;
    int errors = 0;
    for (const dtnn_report::One& one : list) {
        errors += int(one.severity == DTNN_ERROR);
        items += fmt::format(
            "{}\n{{\"code\":{},\"severity\":\"{}\",\"file\":{},\"line\":{},\"column\":{},"
            "\"width\":{},\"text\":{},\"notes\":[],\"chain\":[],\"help\":{}}}",
            items.empty() ? "" : ",", json_text(one.code),
            one.severity == DTNN_ERROR ? "error" : "warning", json_text(one.file), one.line,
            one.column, one.width, json_text(one.text), json_text(one.help));
    }
    return fmt::format("{{\"version\":1,\"errors\":{},\"warnings\":{},\"diagnostics\":[{}\n]}}\n",
                       errors, int(list.size()) - errors, items);
}

/// The report of a call; null where there is nothing to say.
std::unique_ptr<dtnn_report> report_of(dtnn_status status, const Said& said,
                                       const RunError* error) {
    if (error == nullptr && said.warnings.empty() && said.diagnostics.all().empty()) return nullptr;
    auto report = std::make_unique<dtnn_report>();
    report->status = status;
    for (const compiler::Diagnostic& one : said.diagnostics.all()) {
        const plan::Place& place = one.span.place;
        report->list.push_back(
            {one.severity == compiler::Severity::error ? DTNN_ERROR : DTNN_WARNING,
             compiler::dashed(compiler::info(one.code).name), place.file, place.line, place.column,
             place.file.empty() ? 0 : one.span.width, one.text, one.help});
    }
    const bool plain = error == nullptr && said.warnings.empty();
    report->text = said.diagnostics.all().empty() ? "" : said.diagnostics.render(false);
    for (const std::string& warning : said.warnings) {
        report->list.push_back({DTNN_WARNING, "", "", 0, 0, 0, warning, ""});
        report->text += fmt::format("warning: {}\n", warning);
    }
    if (error != nullptr) {
        report->list.push_back({DTNN_ERROR, "", "", 0, 0, 0, joined(*error), error->help()});
        report->text += fmt::format("error: {}\n", joined(*error));
        if (!error->help().empty()) report->text += fmt::format("help: {}\n", error->help());
    }
    report->json = plain ? said.diagnostics.render_json() : json_of(report->list);
    return report;
}

dtnn_status carry_out(const std::function<void(Said&)>& work,
                      std::unique_ptr<dtnn_report>& report) {
    Said said;
    const auto failed = [&](const RunError& error) {
        report = report_of(dtnn_status(error.exit()), said, &error);
        return dtnn_status(error.exit());
    };
    try {
        work(said);
        report = report_of(DTNN_DONE, said, nullptr);
        return DTNN_DONE;
    } catch (const Diagnosed&) {
        const dtnn_status status = said.diagnostics.exit_code();
        report = report_of(status, said, nullptr);
        return status;
    } catch (const RunError& error) {
        return failed(error);
    } catch (const std::bad_alloc&) {
        return failed(RunError(Exit::failed, "there is not enough memory",
                               "use a machine with more, or compile with a smaller "
                               "training.batch_size"));
    } catch (const std::system_error& error) {
        return failed(runtime::system_error(error));
    } catch (const std::exception& error) {
        return failed(RunError(Exit::internal, fmt::format("internal error: {}", error.what()),
                               "please report this"));
    }
}

struct Call {
    const std::function<void(Said&)>& work;
    std::unique_ptr<dtnn_report> report;
    dtnn_status status = DTNN_FAILED;  ///< where even the report has no memory

    void run() noexcept {
        try {
            status = carry_out(work, report);
        } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for what is to be said
        }
    }
    dtnn_status end(dtnn_report** to) noexcept {
        if (to != nullptr) *to = report.release();
        return status;
    }
};

constexpr std::size_t kStackBytes = std::size_t{8} << 20;

}  // namespace

void need(const void* argument, const char* name) {
    if (argument == nullptr) throw wrong_argument(fmt::format("{} is NULL", name));
}

dtnn_status guarded(dtnn_report** report, const std::function<void(Said&)>& work) noexcept {
    const DefaultArithmetic arithmetic;
    Call call{work, nullptr};
    call.run();
    return call.end(report);
}

dtnn_status guarded_with_room(dtnn_report** report,
                              const std::function<void(Said&)>& work) noexcept {
    const DefaultArithmetic arithmetic;
    Call call{work, nullptr};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    pthread_t thread{};
    const int error = pthread_create(
        &thread, &attributes,
        [](void* context) -> void* {
            static_cast<Call*>(context)->run();
            return nullptr;
        },
        &call);
    pthread_attr_destroy(&attributes);
    if (error != 0) {
        return guarded(report, [&](Said&) {
            throw RunError(Exit::failed,
                           fmt::format("no thread can be made: {}", std::strerror(error)),
                           runtime::kMoreProcesses);
        });
    }
    pthread_join(thread, nullptr);
    return call.end(report);
}

char* given_text(const std::string& text) {
    auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

}  // namespace dtnn::library

// ---- The functions of the header about reports

using dtnn::library::give;
using dtnn::library::guarded;
using dtnn::library::Said;

void dtnn_free(char* text) {
    std::free(text);
}

void dtnn_report_free(dtnn_report* report) {
    delete report;
}

dtnn_status dtnn_report_status(const dtnn_report* report) {
    return report == nullptr ? DTNN_DONE : report->status;
}

const char* dtnn_report_text(const dtnn_report* report) {
    return report == nullptr ? "" : report->text.c_str();
}

const char* dtnn_report_json(const dtnn_report* report) {
    return report == nullptr ? "{\"version\":1,\"errors\":0,\"warnings\":0,\"diagnostics\":[\n]}\n"
                             : report->json.c_str();
}

size_t dtnn_report_count(const dtnn_report* report) {
    return report == nullptr ? 0 : report->list.size();
}

dtnn_status dtnn_report_diagnostic(const dtnn_report* report, size_t index,
                                   dtnn_diagnostic* diagnostic) {
    return guarded(nullptr, [&](Said&) {
        if (index >= dtnn_report_count(report))
            throw dtnn::library::wrong_argument("there are fewer diagnostics");
        const dtnn_report::One& one = report->list[index];
        give({.size = 0,
              .severity = one.severity,
              .code = one.code.c_str(),
              .file = one.file.c_str(),
              .line = one.line,
              .column = one.column,
              .width = one.width,
              .text = one.text.c_str(),
              .help = one.help.c_str()},
             diagnostic);
    });
}
