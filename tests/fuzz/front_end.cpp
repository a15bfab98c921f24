/// Any bytes at all as a spec file: the front end says what is wrong with them, or builds their
/// graph, and neither crashes, hangs nor takes unbounded memory.
///
/// The first byte chooses what is done with the rest: with `s` its first lines that begin with `-`
/// are settings. What was built is resolved again, which gives the same document. What a spec
/// extends or names is looked for in specs/.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>

#include "compiler/frontend/specs.hpp"
#include "compiler/ir/graph.hpp"
#include "compiler/support/diagnostics.hpp"

namespace {

using namespace dtnn::compiler;

/// Larger models take seconds for every input; that they are bounded is a test of its own.
constexpr std::size_t kBuiltLayers = 2000;

/// Documents that are resolved a second time.
constexpr std::size_t kResolvedLayers = 100;
constexpr std::size_t kSettings = 4;

const char* const kFile = "fuzz.yaml";

[[noreturn]] void fail(const std::string& why, const std::string& text) {
    std::fprintf(stderr, "%s:\n%s\n", why.c_str(), text.c_str());
    std::abort();
}

/// Diagnostics point into the text, are shown without trouble, say something, and each once.
void inspect(const Diagnostics& diagnostics) {
    (void)diagnostics.render(false, 20);
    (void)diagnostics.render_json();
    std::set<std::tuple<int, std::string, int, int, std::string>> said;
    for (const Diagnostic& diagnostic : diagnostics.all()) {
        if (diagnostic.text.empty() || diagnostic.span.width < 1)
            fail("a diagnostic without text or width", diagnostics.render(false));
        const Place& place = diagnostic.span.place;
        if (!said.emplace(int(diagnostic.code), place.file, place.line, place.column,
                          diagnostic.text)
                 .second)
            fail("a diagnostic twice", diagnostics.render(false));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    LoadOptions options;
    options.spec_path = {"specs"};
    while (data[0] == 's' && options.settings.size() < kSettings && text.starts_with('-')) {
        const std::size_t line = std::min(text.find('\n'), text.size());
        options.settings.push_back(text.substr(1, line - 1));
        text.erase(0, line + 1);
    }
    options.texts[kFile] = text;

    Diagnostics checked;
    check_spec(kFile, options, checked);
    inspect(checked);

    Diagnostics loaded;
    const JobSpec job = load_job(kFile, options, loaded);
    inspect(loaded);
    if (loaded.has_errors() || job.model.layers.size() > kBuiltLayers) return 0;
    (void)build_graph(job, 2, loaded);
    inspect(loaded);
    if (loaded.has_errors() || job.model.layers.size() > kResolvedLayers) return 0;

    // The resolved text is a spec, and resolves to itself.
    options.texts[kFile] = job.resolved_text;
    options.settings.clear();
    Diagnostics again;
    const JobSpec resolved = load_job(kFile, options, again);
    if (again.has_errors())
        fail("the resolved document has errors", again.render(false) + job.resolved_text);
    if (resolved.resolved_text != job.resolved_text)
        fail("resolving twice differs", job.resolved_text + "---\n" + resolved.resolved_text);
    return 0;
}
