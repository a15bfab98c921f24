#pragma once
/// Machine code for the expressions of elementwise kernels: made by libdtnn_codegen.so when a
/// kernel is bound, and kept on disk for the next run. It gives the same bits as the interpreter,
/// which runs what there is no code for.
///
/// The environment: DTNN_CODEGEN=off interprets everything; DTNN_CACHE_DIR is where code is kept,
/// else $XDG_CACHE_HOME/dtnn, else $HOME/.cache/dtnn; empty: nowhere.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "kernels/catalogue.hpp"
#include "kernels/codegen/generator.hpp"
#include "kernels/codegen/machine_code.hpp"
#include "runtime/device/code_cache.hpp"

namespace dtnn::runtime {

/// That of libdtnn_codegen.so; null, and why, where there is none.
const kernels::Generator* open_generator(std::string& lacking);

/// The loop of a kernel's problem; nothing: it has no expression that code is made for.
std::optional<kernels::Loop> loop_of(const kernels::Problem& problem);

/// The numbers of loops that were asked for so far, by what came of them.
struct CodeFigures {
    int made = 0;
    int found = 0;        ///< on disk
    int interpreted = 0;  ///< could not be made
    double seconds = 0;   ///< that this took
    std::string lacking;  ///< why none is made; empty: they are
};

class GeneratedCode {
  public:
    /// `generator` null: that of libdtnn_codegen.so, opened when the first loop is not on disk.
    GeneratedCode(CodeCache cache, const kernels::Generator* generator = nullptr);

    /// The process's own, by the environment; null: it is switched off. Throws RunError (exit 2)
    /// for a value of DTNN_CODEGEN that is none.
    static GeneratedCode* of_process();

    /// For the problem's expression; null: it is interpreted. Lives as long as this object. May be
    /// called by several threads.
    kernels::LoopFunction loop_for(const kernels::Problem& problem);

    CodeFigures figures() const;

  private:
    const kernels::MachineCode* code_of(const kernels::Loop& loop, const std::string& key);
    mutable std::mutex mutex_;
    CodeCache cache_;
    const kernels::Generator* generator_;
    CodeFigures figures_;
    /// By text_of(Loop); nothing: it could not be made.
    std::map<std::string, std::optional<kernels::MachineCode>> loops_;
};

}  // namespace dtnn::runtime
