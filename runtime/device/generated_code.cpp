#include "runtime/device/generated_code.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/cache_folder.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/plugin.hpp"
#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::size_t kMostLoops = 4096;

/// The facts that machine code depends on besides its loop: where in the list of functions each is.
std::string key_of(const std::string& loop) {
    return fmt::format("{}:{}{}", kernels::kCodegenVersion,
#define DTNN_TERM(name, operands, form, value) #name " "
#include "base/expression/terms.def"
#undef DTNN_TERM
                       , loop);
}

/// The code of the process, by DTNN_CODEGEN; null: it is off.
std::unique_ptr<GeneratedCode> code_by_environment() {
    const char* const text = std::getenv("DTNN_CODEGEN");
    const std::string_view value = text == nullptr ? "on" : text;
    if (value == "off") return nullptr;
    if (value != "on")
        throw RunError(Exit::usage, fmt::format("DTNN_CODEGEN is `{}`: it is on or off", value),
                       "unset it, which is on");
    const std::string folder = cache_folder();
    return std::make_unique<GeneratedCode>(CodeCache(folder.empty() ? "" : folder + "/codegen"));
}

}  // namespace

const kernels::Generator* open_generator(std::string& lacking) {
    const Plugin plugin = open_plugin(kernels::kCodegenLibrary);
    if (plugin.handle == nullptr) {
        lacking = plugin.refused.empty() ? fmt::format("{} is not there (looked in {})",
                                                       kernels::kCodegenLibrary, plugin.looked)
                                         : plugin.refused;
        return nullptr;
    }
    check_plugin(plugin, kernels::kCodegenVersionEntry, kernels::kCodegenVersion);
    return plugin_function<kernels::Generator*()>(plugin, kernels::kCodegenOpenEntry)();
}

std::optional<kernels::Loop> loop_of(const kernels::Problem& problem) {
    kernels::Loop loop{{}, problem.dtype, kernels::vectors_of(problem.isa)};
    if (parse_postfix(problem.text("expression"), loop.expression) ||
        loop.expression.instructions.size() > kernels::kMostGeneratedInstructions)
        return std::nullopt;
    return loop;
}

GeneratedCode::GeneratedCode(CodeCache cache, const kernels::Generator* generator)
    : cache_(std::move(cache)), generator_(generator) {}

GeneratedCode* GeneratedCode::of_process() {
    static const std::unique_ptr<GeneratedCode> code = code_by_environment();
    return code.get();
}

kernels::LoopFunction GeneratedCode::loop_for(const kernels::Problem& problem) {
    const std::optional<kernels::Loop> loop = loop_of(problem);
    if (!loop || is_reduced(problem.dtype) ||
        kernels::vector_functions(problem.isa, problem.dtype) == nullptr)
        return nullptr;
    const std::string key = key_of(kernels::text_of(*loop));
    const std::lock_guard lock(mutex_);
    auto known = loops_.find(key);
    if (known == loops_.end()) {
        if (loops_.size() >= kMostLoops) return nullptr;
        const Stopwatch watch;
        const kernels::MachineCode* const code = code_of(*loop, key);
        figures_.seconds += watch.seconds();
        if (code == nullptr) ++figures_.interpreted;
        known = loops_.find(key);
    }
    if (!known->second) return nullptr;
    return reinterpret_cast<kernels::LoopFunction>(known->second->entry());
}

const kernels::MachineCode* GeneratedCode::code_of(const kernels::Loop& loop,
                                                   const std::string& key) {
    std::optional<kernels::MachineCode>& code = loops_[key];
    std::string mistake;
    if (const auto kept = cache_.find(key))
        code = kernels::MachineCode::load(*kept, kernels::kLoopSymbol, mistake);
    if (code) {
        ++figures_.found;
        return &*code;
    }
    if (generator_ == nullptr && figures_.lacking.empty())
        generator_ = open_generator(figures_.lacking);
    if (generator_ == nullptr) return nullptr;
    try {
        const std::string object = generator_->generate(loop, kernels::CodeForm::object);
        code = kernels::MachineCode::load(object, kernels::kLoopSymbol, mistake);
        if (!code) {
            figures_.lacking =
                fmt::format("code of {} is not run: {}", generator_->name(), mistake);
            return nullptr;
        }
        ++figures_.made;
        cache_.put(key, object);
    } catch (const kernels::CannotGenerate& reason) {
        figures_.lacking = reason.what();
        return nullptr;
    }
    return &*code;
}

CodeFigures GeneratedCode::figures() const {
    const std::lock_guard lock(mutex_);
    return figures_;
}

}  // namespace dtnn::runtime
