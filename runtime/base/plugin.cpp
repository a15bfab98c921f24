#include "runtime/base/plugin.hpp"

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

void* plugin_entry(const Plugin& plugin, const char* entry) {
    if (void* found = find_in_plugin(plugin, entry)) return found;
    const PluginMismatch mismatch = lacks_entry(plugin, entry);
    throw RunError(Exit::failed, mismatch.fact, mismatch.help);
}

void check_plugin(const Plugin& plugin, const char* version_entry, int version) {
    const int found = plugin_function<int()>(plugin, version_entry)();
    if (found == version) return;
    const PluginMismatch mismatch = other_version(plugin, found, version);
    throw RunError(Exit::failed, mismatch.fact, mismatch.help);
}

}  // namespace dtnn::runtime
