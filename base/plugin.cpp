#include "base/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "base/own_folder.hpp"

// The build says where an installation has these libraries; who compiles this source alone does
// not.
#ifndef DTNN_PLUGIN_FOLDER
#define DTNN_PLUGIN_FOLDER "lib/dtnn"
#endif

namespace dtnn {
namespace {

constexpr const char* kTogether =
    "program and library are of different builds: install them together";

}  // namespace

Plugin find_plugin(const std::string& name) {
    std::error_code ignored;
    const std::filesystem::path own = own_folder();
    Plugin plugin;
    plugin.name = name;
    for (const char* folder : {".", "dtnn", "../" DTNN_PLUGIN_FOLDER}) {
        const std::filesystem::path path = (own / folder / name).lexically_normal();
        if (std::filesystem::exists(path, ignored)) {
            plugin.path = path.string();
            break;
        }
        plugin.looked += (plugin.looked.empty() ? "" : ", ") + path.parent_path().string();
    }
    return plugin;
}

Plugin open_plugin(const std::string& name) {
    Plugin plugin = find_plugin(name);
    if (plugin.path.empty()) return plugin;
    plugin.handle = dlopen(plugin.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (plugin.handle == nullptr)
        plugin.refused = fmt::format("cannot load {}: {}", plugin.path, dlerror());
    return plugin;
}

void* find_in_plugin(const Plugin& plugin, const char* entry) {
    return dlsym(plugin.handle, entry);
}

PluginMismatch lacks_entry(const Plugin& plugin, const char* entry) {
    return {fmt::format("{} has no {}", plugin.name, entry), kTogether};
}

PluginMismatch other_version(const Plugin& plugin, int found, int wanted) {
    return {fmt::format("{} has version {} of the interface, this program {}", plugin.name, found,
                        wanted),
            kTogether};
}

}  // namespace dtnn
