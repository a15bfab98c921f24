/// Any bytes at all as a spec file: the front end says what is wrong with them, or builds their
/// graph, and neither crashes, hangs nor takes unbounded memory.
///
/// The first byte chooses what is done with the rest: check, resolve again what was resolved, or
/// take the first line as a setting. What a spec extends or names is looked for in specs/.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "compiler/frontend/specs.hpp"
#include "compiler/ir/graph.hpp"
#include "compiler/support/diagnostics.hpp"

namespace {

using namespace dtnn::compiler;

/// Larger models take seconds for every input; that they are bounded is a test of its own.
constexpr std::size_t kBuiltLayers = 2000;

const char* const kFile = "fuzz.yaml";

[[noreturn]] void fail(const std::string& why, const std::string& text) {
    std::fprintf(stderr, "%s:\n%s\n", why.c_str(), text.c_str());
    std::abort();
}

/// Diagnostics point into the text, are shown without trouble, and say something.
void inspect(const Diagnostics& diagnostics) {
    (void)diagnostics.render(false);
    (void)diagnostics.render_json();
    for (const Diagnostic& diagnostic : diagnostics.all())
        if (diagnostic.text.empty() || diagnostic.span.width < 1)
            fail("a diagnostic without text or width", diagnostics.render(false));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    LoadOptions options;
    options.spec_path = {"specs"};
    if (data[0] == 's') {
        const std::size_t line = text.find('\n');
        options.settings = {text.substr(0, line)};
        text = line == std::string::npos ? std::string() : text.substr(line + 1);
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
    if (loaded.has_errors() || data[0] != 'r') return 0;

    // What was resolved is a spec, and resolves to itself.
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
