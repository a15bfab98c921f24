#include "tools/dtnnc/runtime_library.hpp"

#include <fmt/format.h>

#include "base/plugin.hpp"
#include "tools/dtnnc/standard_input.hpp"

namespace dtnn::tools {
namespace {

constexpr const char* kLibrary = "libdtnn_runtime.so";

const RuntimeLibrary* open_runtime_library() {
    const Plugin plugin = open_plugin(kLibrary);
    const auto entry = [&](const char* name) {
        if (void* found = find_in_plugin(plugin, name)) return found;
        const PluginMismatch mismatch = lacks_entry(plugin, name);
        throw NoRuntimeLibrary(mismatch.fact, mismatch.help);
    };
    if (plugin.handle == nullptr && !plugin.refused.empty())
        throw NoRuntimeLibrary(plugin.refused,
                               "install what it needs (tools/packages.txt), or run this where "
                               "dtnn is installed");
    if (plugin.handle == nullptr)
        throw NoRuntimeLibrary(
            fmt::format("what reads data, compares runs, generates code and measures is {}, which "
                        "is in none of {}",
                        kLibrary, plugin.looked),
            "copy it from where dtnn is installed, beside dtnnc, or run this there");
    const int version = reinterpret_cast<int (*)()>(entry(kRuntimeVersionEntry))();
    if (version != kRuntimeVersion) {
        const PluginMismatch mismatch = other_version(plugin, version, kRuntimeVersion);
        throw NoRuntimeLibrary(mismatch.fact, mismatch.help);
    }
    const auto open =
        reinterpret_cast<const RuntimeLibrary* (*)(const std::string*)>(entry(kRuntimeOpenEntry));
    return open(standard_input_read());
}

}  // namespace

const RuntimeLibrary& runtime_library() {
    static const RuntimeLibrary* const library = open_runtime_library();
    return *library;
}

}  // namespace dtnn::tools
