#include "runtime/base/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

constexpr const char* kTogether =
    "program and library are of different builds: install them together";

}  // namespace

Plugin open_plugin(const std::string& name) {
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    Plugin plugin;
    plugin.name = name;
    for (const char* folder : {".", "../lib", "../" DTNN_LIBRARY_FOLDER}) {
        const std::filesystem::path path = (program / folder / name).lexically_normal();
        if (!std::filesystem::exists(path, ignored)) {
            plugin.looked += (plugin.looked.empty() ? "" : ", ") + path.parent_path().string();
            continue;
        }
        plugin.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (plugin.handle == nullptr)
            plugin.refused = fmt::format("cannot load {}: {}", path.string(), dlerror());
        break;
    }
    return plugin;
}

void* plugin_entry(const Plugin& plugin, const char* entry) {
    if (void* found = dlsym(plugin.handle, entry)) return found;
    throw RunError(Exit::failed, fmt::format("{} has no {}", plugin.name, entry), kTogether);
}

void check_plugin(const Plugin& plugin, const char* version_entry, int version) {
    const int found = plugin_function<int()>(plugin, version_entry)();
    if (found == version) return;
    throw RunError(Exit::failed,
                   fmt::format("{} has version {} of the interface, this program {}", plugin.name,
                               found, version),
                   kTogether);
}

}  // namespace dtnn::runtime
