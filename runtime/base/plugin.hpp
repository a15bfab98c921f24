#pragma once
/// The entries of libraries that a run opens (base/plugin.hpp), with errors of a run.

#include "base/plugin.hpp"

namespace dtnn::runtime {

/// Throws RunError (exit 1) where there is none: program and library are of different builds.
void* plugin_entry(const Plugin& plugin, const char* entry);
/// The entry `version_entry`, int(), gives this version, or the same RunError is thrown.
void check_plugin(const Plugin& plugin, const char* version_entry, int version);

template <typename Function>
Function* plugin_function(const Plugin& plugin, const char* entry) {
    return reinterpret_cast<Function*>(plugin_entry(plugin, entry));
}

}  // namespace dtnn::runtime
